"""MathML as TeX, for pages that give nothing better."""
# ruff: noqa: RUF001 - the signs of formulas look alike

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MAX_DEPTH = 60
"""Elements inside each other that are read; what lies deeper gives its bare text."""

_SIGNS = {
    "×": r"\times", "⋅": r"\cdot", "·": r"\cdot", "÷": r"\div", "±": r"\pm", "∓": r"\mp",
    "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim",
    "∝": r"\propto", "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla", "∈": r"\in",
    "∉": r"\notin", "⊂": r"\subset", "⊆": r"\subseteq", "∪": r"\cup", "∩": r"\cap",
    "∅": r"\emptyset", "∀": r"\forall", "∃": r"\exists", "¬": r"\neg", "∧": r"\land",
    "∨": r"\lor", "→": r"\to", "←": r"\leftarrow", "↔": r"\leftrightarrow",
    "⇒": r"\Rightarrow", "⇐": r"\Leftarrow", "⇔": r"\Leftrightarrow", "↦": r"\mapsto",
    "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∮": r"\oint",
    "⟨": r"\langle", "⟩": r"\rangle", "…": r"\ldots", "⋯": r"\cdots", "−": "-",
    "∘": r"\circ", "∗": "*", "⊕": r"\oplus", "⊗": r"\otimes", "⊥": r"\perp", "∥": r"\parallel",
    "‖": r"\|", "′": "'", "ℝ": r"\mathbb{R}", "ℕ": r"\mathbb{N}", "ℤ": r"\mathbb{Z}",
    "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "ℏ": r"\hbar", "ℓ": r"\ell",
    "{": r"\{", "}": r"\}", "%": r"\%", "$": r"\$", "#": r"\#", "&": r"\&", "_": r"\_",
    "\u2061": "", "\u2062": "", "\u2063": "", "\u2064": "", "\xa0": " ",
}  # fmt: skip
_SMALL = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho"
_GREEK = [*_SMALL.split(), "varsigma", *["sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"]]
_SIGNS |= {chr(0x3B1 + place): f"\\{name}" for place, name in enumerate(_GREEK)}
_SIGNS |= {
    letter: f"\\{name}"
    for letter, name in zip(
        "ΓΔΘΛΞΠΣΥΦΨΩ",
        [
            "Gamma",
            "Delta",
            "Theta",
            "Lambda",
            "Xi",
            "Pi",
            "Sigma",
            "Upsilon",
            "Phi",
            "Psi",
            "Omega",
        ],
        strict=True,
    )
}
_ACCENTS = {
    "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "¯": "bar", "‾": "overline",
    "→": "vec", "⃗": "vec", "˙": "dot", ".": "dot", "¨": "ddot", "⏞": "overbrace",
}  # fmt: skip
_FUNCTIONS = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "log",
        "ln",
        "lg",
        "exp",
        "lim",
        "max",
        "min",
        "sup",
        "inf",
        "det",
        "dim",
        "ker",
        "gcd",
        "arg",
        "deg",
        "hom",
        "Pr",
        "limsup",
        "liminf",
    ]
)
_LARGE = (r"\sum", r"\prod", r"\lim", r"\max", r"\min", r"\sup", r"\inf", r"\int", r"\bigcup")


def tex_of(node: Any, depth: int = 0) -> str:
    """The TeX of a MathML element: fractions, roots, scripts, tables and signs.

    What is not known is written as its children.
    """
    from turbohtml import Element

    if depth > MAX_DEPTH:
        return _signs(" ".join(str(node.text).split()))
    tag = node.tag
    if tag in _LEAVES:
        return _LEAVES[tag](" ".join(str(node.text).split()))
    parts = [tex_of(child, depth + 1) for child in node if type(child) is Element]
    if tag in _SHAPES and len(parts) >= _SHAPES[tag][0]:
        return _SHAPES[tag][1](parts)
    if tag == "mfenced":
        marks = (node.attr("separators") or ",")[:1]
        opening, closing = node.attr("open") or "(", node.attr("close") or ")"
        return f"{_signs(opening)}{marks.join(parts)}{_signs(closing)}"
    if tag == "mtable":
        rows = r" \\ ".join(parts)
        return rf"\begin{{matrix}} {rows} \end{{matrix}}"
    if tag in ("mtr", "mlabeledtr"):
        return " & ".join(parts)
    if tag in ("annotation", "annotation-xml", "mspace", "mphantom"):
        return " " if tag == "mspace" else ""
    if tag == "semantics":
        return parts[0] if parts else ""
    return joined(parts)


def joined(parts: list[str]) -> str:
    """Pieces of TeX in a row: a command and a letter after it stay apart."""
    text = ""
    for part in parts:
        command = text.rpartition("\\")[2] if "\\" in text else ""
        if part[:1].isalpha() and command.isalpha():
            text += " "
        text += part
    return text


def _signs(text: str) -> str:
    return joined([_SIGNS.get(sign, sign) for sign in text])


def _name(text: str) -> str:
    if text in _FUNCTIONS:
        return f"\\{text}"
    known = _signs(text)
    return f"\\mathrm{{{known}}}" if len(text) > 1 and text.isalpha() else known


def _operator(text: str) -> str:
    if text in _FUNCTIONS:
        return f"\\{text}"
    known = _signs(text)
    return f" {known} " if text in "=<>≤≥≠≈≡∈→⇒⇔+−-±×∼" and text else known


def _words(text: str) -> str:
    return f"\\text{{{text}}}" if text else ""


def _group(text: str) -> str:
    text = text.strip()
    return text if len(text) == 1 else f"{{{text}}}"


def _base(text: str) -> str:
    text = text.strip()
    simple = len(text) <= 1 or (text[0] == "\\" and text[1:].isalpha()) or text.isdigit()
    return text if simple else f"{{{text}}}"


def _over(parts: list[str]) -> str:
    mark = parts[1].strip()
    accent = _ACCENTS.get(mark) or ("vec" if mark == r"\to" else "")
    if accent:
        return f"\\{accent}{{{parts[0].strip()}}}"
    if parts[0].strip().startswith(_LARGE):
        return f"{_base(parts[0])}^{_group(parts[1])}"
    return f"\\overset{{{mark}}}{{{parts[0].strip()}}}"


def _under(parts: list[str]) -> str:
    if parts[0].strip().startswith(_LARGE):
        return f"{_base(parts[0])}_{_group(parts[1])}"
    return f"\\underset{{{parts[1].strip()}}}{{{parts[0].strip()}}}"


_LEAVES: dict[str, Callable[[str], str]] = {
    "mi": _name,
    "mn": _signs,
    "mo": _operator,
    "mtext": _words,
    "ms": _words,
}
_SHAPES: dict[str, tuple[int, Callable[[list[str]], str]]] = {
    "mfrac": (2, lambda p: f"\\frac{{{p[0].strip()}}}{{{p[1].strip()}}}"),
    "msup": (2, lambda p: f"{_base(p[0])}^{_group(p[1])}"),
    "msub": (2, lambda p: f"{_base(p[0])}_{_group(p[1])}"),
    "msubsup": (3, lambda p: f"{_base(p[0])}_{_group(p[1])}^{_group(p[2])}"),
    "munderover": (3, lambda p: f"{_base(p[0])}_{_group(p[1])}^{_group(p[2])}"),
    "msqrt": (1, lambda p: f"\\sqrt{{{joined(p).strip()}}}"),
    "mroot": (2, lambda p: f"\\sqrt[{p[1].strip()}]{{{p[0].strip()}}}"),
    "mover": (2, _over),
    "munder": (2, _under),
}
