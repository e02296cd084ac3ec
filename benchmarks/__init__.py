"""Measures quality and speed. Not shipped; `docs/benchmarks.md` has the results."""
