"""The routes, by topic. Each takes a request apart, calls one thing, and writes the reply."""
