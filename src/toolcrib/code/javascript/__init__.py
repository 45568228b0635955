"""References of JavaScript and TypeScript, by scopes and modules; see `code.places`."""
