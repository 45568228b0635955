"""References of JavaScript and TypeScript, by scopes and modules; see `kit.code.places`."""

from toolcrib.kit.code.script.references import examined, references

__all__ = ["examined", "references"]
