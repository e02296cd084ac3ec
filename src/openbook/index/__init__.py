"""Where chunks are kept and found: one protocol, one suite of tests, several engines."""
