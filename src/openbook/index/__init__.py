"""The index: stores and finds chunks. One protocol, one contract suite, several engines."""
