"""Measures quality and speed. Not shipped; `docs/benchmarks*.md` have the results."""
