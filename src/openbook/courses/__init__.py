"""Which courses a library holds, and which of them a name means."""
