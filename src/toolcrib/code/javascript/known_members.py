"""Names of members that JavaScript itself, its library or a framework knows."""

from __future__ import annotations

import re

SPECIAL = frozenset(
    [
        "constructor",
        "toString",
        "valueOf",
        "toJSON",
        "then",
        "next",
        "return",
        "throw",
        "name",
        "length",
        "prototype",
        "call",
        "apply",
        "bind",
        "connectedCallback",
        "disconnectedCallback",
        "attributeChangedCallback",
        "render",
    ]
)
"""Members that the language or a usual framework calls."""
OF_ERROR = frozenset(["message", "name", "stack", "cause", "toString"])
LISTING = re.compile(
    r"\b(?:JSON\.stringify|Object\.(?:keys|values|entries|assign|getOwnPropertyNames)"
    r"|structuredClone|Reflect\.\w+)\s*\(|\bfor\s*\([^;()]*\bin\b|\.\.\.this\b"
)
LITERALS = frozenset(
    ["string", "template_string", "number", "array", "regex", "true", "false", "null", "object"]
)
KNOWN = frozenset(
    [
        "console",
        "Math",
        "JSON",
        "Object",
        "Array",
        "Promise",
        "Number",
        "String",
        "Symbol",
        "Reflect",
        "process",
        "document",
        "Date",
        "Intl",
        "Atomics",
        "Buffer",
        "URL",
        "performance",
    ]
)
