"""The MCP server: offers a library as tools for coding agents."""
