"""Language models: messages and events, clients of two APIs, and wrappers such as retries and caches."""
