"""The words that a model is given when it checks claims: one file each, with holes such as {claims}."""
