"""One request to a service, and its answer."""
