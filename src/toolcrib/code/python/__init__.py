"""Python: scopes, modules and references, and what can be done with them."""
