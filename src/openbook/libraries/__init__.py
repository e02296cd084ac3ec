"""Libraries by name: where they are kept, what sources they have, and where those come from."""
