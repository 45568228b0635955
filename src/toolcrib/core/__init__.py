"""Core: the records of a call, the tool declaration, the registry, policy and errors."""
