"""HTML pages that load nothing: their frame, their policy, and components of a few fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; font-src data:; form-action 'none'; base-uri 'none'"
)
"""What a page may load: nothing. Its own styles and scripts are in it."""
STYLE = (
    "body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "line-height:1.5;color:#1a1a1a;background:#fff}"
    "button{font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.4rem;background:#1a56b0;"
    "color:#fff;cursor:pointer}button:focus-visible,input:focus-visible{outline:3px solid #f0a020}"
    "label{display:block;margin:.8rem 0 .2rem}input{font:inherit;padding:.4rem;width:100%;"
    "max-width:30rem;border:1px solid #767676;border-radius:.3rem}form button{margin-top:1rem}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(14rem,1fr));gap:1rem}"
    "section{border:1px solid #c8c8c8;border-radius:.5rem;padding:1rem}"
    "table{border-collapse:collapse}th,td{border:1px solid #999;padding:.3rem .6rem;"
    "text-align:left}svg{max-width:100%;height:auto}"
)
_HEAD = re.compile(r"<head\b[^>]*>", re.IGNORECASE)
_START = re.compile(r"\s*(?:<!doctype[^>]*>)?\s*(?:<html\b[^>]*>)?", re.IGNORECASE)
_WHOLE = re.compile(r"\s*(?:<!--.*?-->\s*)?<(?:!doctype|html)\b", re.IGNORECASE | re.DOTALL)
_NOT_NAME = re.compile(r"\W+")
FIELD_TYPES = {
    "password": "password",
    "email": "email",
    "mail": "email",
    "phone": "tel",
    "date": "date",
    "birthday": "date",
    "number": "number",
    "amount": "number",
    "url": "url",
}
"""The type of an input by a word of its name."""
INPUT_TYPES = frozenset(
    (
        *("text", "password", "email", "tel", "date", "number", "url", "search", "time", "color"),
        *("datetime-local", "month", "week", "range", "checkbox", "file"),
    )
)
_TYPED = re.compile(r"(.*\S)\s*:\s*([a-z-]+)\s*")
_WORD = re.compile(r"[^\W\d_]+")


def whole_page(body: str, title: str) -> str:
    """A page around a body of HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{body}\n</body>\n</html>\n"
    )


def guarded_page(html: str, title: str) -> str:
    """HTML as a page that can load nothing, whatever stands in it."""
    if not _WHOLE.match(html):
        return whole_page(html, title)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    head = _HEAD.search(html)
    start = _START.match(html)
    # Before anything that could load: a head that stands late may be a word in a script.
    end = start.end() if start is not None else 0
    if head is not None and not html[end : head.start()].strip():
        return f"{html[: head.end()]}{meta}{html[head.end() :]}"
    return f"{html[:end]}<head>{meta}</head>{html[end:]}"


def button(label: str) -> str:
    """A button that says so when it was pressed."""
    return (
        f'<button type="button" onclick="document.getElementById(\'said\').textContent='
        f"'Pressed.'\">{escape(label)}</button>\n"
        '<p id="said" role="status" aria-live="polite"></p>'
    )


def form(label: str, fields: Sequence[str]) -> str:
    """A form: a labelled input for each field, of the type it names, else by its words."""
    parts = [f"<h1>{escape(label)}</h1>", "<form>"]
    for number, field in enumerate(fields, 1):
        text, kind = _named_type(field.strip())
        name = _NOT_NAME.sub("-", text.lower()).strip("-") or f"field-{number}"
        # To tick a box or to move a slider is an answer in itself.
        needed = "" if kind in ("checkbox", "range", "color") else " required"
        parts.append(
            f'<label for="{name}-{number}">{escape(text)}</label>\n'
            f'<input id="{name}-{number}" name="{name}" type="{kind}"{needed}>'
        )
    return "\n".join([*parts, '<button type="submit">Send</button>', "</form>"])


def _named_type(field: str) -> tuple[str, str]:
    """The label and the type of a field: `Age: number`, or a word that tells."""
    found = _TYPED.fullmatch(field)
    if found is not None and found[2] in INPUT_TYPES:
        return found[1], found[2]
    words = {word.lower() for word in _WORD.findall(field)}
    return field, next((kind for word, kind in FIELD_TYPES.items() if word in words), "text")


def dashboard(label: str, titles: Sequence[str]) -> str:
    """A page of cards, one a title; `Sales: 4,200` has what it shows with it."""
    parts = [title.partition(": ") for title in titles]
    cards = "\n".join(
        f'<section aria-labelledby="card-{n}"><h2 id="card-{n}">{escape(title)}</h2>'
        f"<p>{escape(value.strip()) or 'No data yet.'}</p></section>"
        for n, (title, _, value) in enumerate(parts, 1)
    )
    return f'<h1>{escape(label)}</h1>\n<main class="cards">\n{cards}\n</main>'


def chart(label: str, drawing: str, rows: Sequence[tuple[str, str]]) -> str:
    """A drawing with its numbers as a table, which a screen reader reads."""
    lines = "\n".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in rows)
    return (
        f'<h1>{escape(label)}</h1>\n<figure role="img" aria-label="{escape(label)}">{drawing}'
        f"</figure>\n<table>\n<tr><th>Label</th><th>Value</th></tr>\n{lines}\n</table>"
    )
