"""The routes, by topic. Each parses a request, calls one service, and builds the response."""
