"""A plugin of each kind for Openbook: docs/extending.md explains them."""
