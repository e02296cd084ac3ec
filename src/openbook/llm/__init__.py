"""Language models: messages and events, the clients of two APIs, and wrappers such as retries and caches."""
