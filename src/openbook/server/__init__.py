"""The HTTP server and its page: requests to calls, results to replies. Needs the extra `server`."""
