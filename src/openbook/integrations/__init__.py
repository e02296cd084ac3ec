"""Built-in plugins for LanceDB, Ray and Redis. They are found by entry points, and never imported directly."""
