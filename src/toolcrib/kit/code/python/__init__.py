"""Python: scopes, modules and references, and what can be done with them."""

from toolcrib.kit.code.python.references import conflicts, references

__all__ = ["conflicts", "references"]
