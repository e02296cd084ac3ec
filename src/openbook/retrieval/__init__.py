"""Retrieval: ranks chunks for a question. Uses engines through the index protocol alone."""
