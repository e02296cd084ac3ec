"""LanceDB, Ray and Redis: what joins by an entry point, as plugins of other packages do, and is imported by no one."""
