"""The courses of a library, and the resolution of their names."""
