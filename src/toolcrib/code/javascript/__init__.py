"""JavaScript and TypeScript: scopes, references and refactorings; see `code.places`."""
