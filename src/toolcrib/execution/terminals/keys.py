"""Keys of a terminal: text as it is typed, and keys by name in angle brackets, as bytes."""

from __future__ import annotations

import re

from toolcrib.core.errors import BadInput

_NAMED = re.compile(r"<([A-Za-z][A-Za-z0-9+_\- ]{0,24}|[A-Za-z]+[-+].)>")
_ARROWS = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_PLAIN = {
    **dict.fromkeys(("enter", "return", "cr"), "\r"),
    **dict.fromkeys(("esc", "escape"), "\x1b"),
    **dict.fromkeys(("backspace", "bs"), "\x7f"),
    **dict.fromkeys(("delete", "del"), "\x1b[3~"),
    **dict.fromkeys(("pageup", "pgup"), "\x1b[5~"),
    **dict.fromkeys(("pagedown", "pgdn"), "\x1b[6~"),
    "tab": "\t",
    "space": " ",
    "insert": "\x1b[2~",
    "backtab": "\x1b[Z",
    "lt": "<",
    **{f"f{number}": f"\x1bO{letter}" for number, letter in enumerate("PQRS", 1)},
    **{
        f"f{number}": f"\x1b[{code}~"
        for number, code in zip(range(5, 13), (15, 17, 18, 19, 20, 21, 23, 24), strict=True)
    },
}
_MODIFIERS = {
    **dict.fromkeys(("s", "shift"), 1),
    **dict.fromkeys(("a", "m", "alt", "meta", "option"), 2),
    **dict.fromkeys(("c", "ctrl", "control"), 4),
}
_CONTROLS = dict(zip(" @[\\]^_-?/", (0, 0, 27, 28, 29, 30, 31, 31, 127, 31), strict=True))


def encode(keys: str, *, application: bool = False) -> bytes:
    """The bytes that a terminal sends for some keys.

    Args:
        keys: text as it is typed; `<Enter>`, `<Ctrl+C>`, `<Up>`, `<F5>`, `<Alt+x>` are
            keys, in these and the usual other spellings, and a line break is Enter. What
            looks like one and is none, such as `<div>`, is text; `<lt>` is the sign itself.
        application: whether the program asked for the other form of the arrows.

    Raises:
        BadInput: a combination of keys that terminals cannot send.
    """
    out: list[str] = []
    at = 0
    for found in _NAMED.finditer(keys):
        key = _key(found[1], application=application)
        if key is None:
            continue
        out += [_typed(keys[at : found.start()]), key]
        at = found.end()
    out.append(_typed(keys[at:]))
    return "".join(out).encode("utf-8", "replace")


def _typed(text: str) -> str:
    return text.replace("\r\n", "\r").replace("\n", "\r")


def _key(name: str, *, application: bool) -> str | None:
    """One key by its name; None if it is no name of a key."""
    *modifier_names, last = re.split(r"[-+ ]", name) if len(name) > 1 else [name]
    if name[-1] in "-+" and len(name) > 2:
        modifier_names, last = re.split(r"[-+ ]", name[:-2]), name[-1]
    modifiers = 0
    for word in modifier_names:
        bit = _MODIFIERS.get(word.lower())
        if bit is None:
            return (
                _key(name.replace(" ", "").replace("_", ""), application=application)
                if (" " in name or "_" in name)
                else None
            )
        modifiers |= bit
    key = last.lower().replace("_", "")
    if key in _ARROWS:
        return _arrow(_ARROWS[key], modifiers, application=application)
    if key in _PLAIN:
        return _special(_PLAIN[key], key, modifiers)
    if modifier_names and len(last) == 1:
        return _character(last, modifiers, name)
    return None


def _arrow(letter: str, modifiers: int, *, application: bool) -> str:
    if modifiers:
        return f"\x1b[1;{modifiers + 1}{letter}"
    return f"\x1b{'O' if application else '['}{letter}"


def _special(plain: str, key: str, modifiers: int) -> str:
    if not modifiers:
        return plain
    if key == "tab" and modifiers == 1:
        return "\x1b[Z"
    if key in ("space", "lt") or len(plain) == 1:
        control = "\x00" if key == "space" and modifiers & 4 else plain
        return ("\x1b" if modifiers & 2 else "") + control
    if plain.startswith("\x1bO"):
        return f"\x1b[1;{modifiers + 1}{plain[-1]}"
    return f"{plain[:-1]};{modifiers + 1}~"


def _character(char: str, modifiers: int, name: str) -> str:
    if modifiers & 4:
        code = _CONTROLS.get(char)
        if code is None and char.isascii() and char.isalpha():
            code = ord(char.upper()) - 64
        if code is None:
            raise BadInput(
                f"<{name}> is no key that a terminal can send.",
                hint="Ctrl goes with a letter; write <lt> for the sign itself.",
            )
        char = chr(code)
    elif modifiers & 1:
        char = char.upper()
    return ("\x1b" if modifiers & 2 else "") + char
