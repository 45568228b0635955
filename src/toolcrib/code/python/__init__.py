"""Python: scopes, types, references and refactorings."""
