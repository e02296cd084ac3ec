"""Ingest: brings an index in line with its sources."""
