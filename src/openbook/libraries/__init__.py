"""Libraries by name: their storage, their sources, and repositories."""
