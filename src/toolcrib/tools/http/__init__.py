"""Tools that talk to web services: any request, and the operations of an OpenAPI description."""
