"""Conversations, each of one owner: one protocol, one suite of tests, one SQLite file or a shared store."""
