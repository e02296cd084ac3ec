"""Conversations, each with one owner: the protocol, and its SQLite implementation."""
