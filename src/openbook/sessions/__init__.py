"""Conversations, each with one owner: the protocol, and its implementation in SQLite."""
