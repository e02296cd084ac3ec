"""The MCP server: a library as tools for coding agents. Translates, and decides nothing else."""
