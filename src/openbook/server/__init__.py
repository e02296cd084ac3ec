"""The HTTP server and its web page. Needs the extra `server`."""
