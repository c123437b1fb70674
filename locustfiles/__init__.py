"""Where Locust meets the core: THE locustfile, the user class, the HTTP transport, the load shape."""
