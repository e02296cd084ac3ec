"""A small language model on this machine: for tests, and to see Openbook talk to one without a key."""
