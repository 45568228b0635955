"""Formulas of a page as TeX between dollar signs, each once; MathML as TeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolcrib.core.package_data import package_table

if TYPE_CHECKING:
    from turbohtml import Element


# ruff: noqa: RUF001 - the signs of formulas look alike

OPEN, CLOSE = "\ue000", "\ue001"
"""Private characters around the number of a slot; texts of a page never keep them."""
_SLOT = re.compile(f"{OPEN}(\\d+){CLOSE}")


class Slots:
    """Ready-made Markdown that the converter must not touch: a short mark stands for each piece."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def put(self, markdown: str) -> str:
        """The mark that stands for a piece until `fill`."""
        self._pieces.append(markdown)
        return f"{OPEN}{len(self._pieces) - 1}{CLOSE}"

    def fill(self, text: str) -> str:
        """The text with every mark replaced by what it stands for."""
        if OPEN not in text:
            return text
        if not self._pieces:
            return _SLOT.sub("", text).replace(OPEN, "").replace(CLOSE, "")
        return _SLOT.sub(self._piece, text).replace(OPEN, "").replace(CLOSE, "")

    def _piece(self, match: re.Match[str]) -> str:
        number = int(match[1]) if len(match[1]) < 10 else len(self._pieces)
        return self._pieces[number] if number < len(self._pieces) else ""


MAX_DEPTH = 60
"""Elements inside each other that are read; what lies deeper gives its bare text."""

_TEX_NAMES = package_table("documents/reader/markdown/formulas.toml")
_SIGNS: dict[str, str] = _TEX_NAMES["signs"]
_ACCENTS: dict[str, str] = _TEX_NAMES["accents"]
_FUNCTIONS = frozenset(_TEX_NAMES["functions"])
_LARGE = tuple(_TEX_NAMES["large"])


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


MAX_FORMULAS = 5_000
"""Formulas of one text that are marked."""
HINTS = frozenset({"math", "mjx-container", "annotation", "script"})
"""Tags without which a page has no formulas of a formatter."""

_SCRIPTS = 'script[type^="math/tex"], script[type^="math/mml"]'
_FORMATTED = (
    ".katex-display, .katex, mjx-container, .MathJax_Display, .MathJax, .MathJax_CHTML,"
    " .MathJax_SVG, .mwe-math-element"
)
_TEX = 'annotation[encoding="application/x-tex" i], annotation[encoding="TeX" i]'
_SHADOWS = (
    ".MathJax_Preview, .MathJax_Display, .MathJax, .MathJax_SVG_Display, .MathJax_SVG,"
    " .MJXc-display, .mjx-chtml, .MathJax_CHTML"
)
_IMAGES = "img.latex, img.tex, img.math, img[class*=mwe-math-fallback], img[src*='latex.php']"
_COMMENT = re.compile(r"(?<!\\)%[^\n]*\n?")
_STYLED = re.compile(r"\A\{\\(?:displaystyle|textstyle)\s*(.*)\}\Z", re.DOTALL)
_WRAPPED = re.compile(r"\A(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$([^$]*)\$)\Z", re.DOTALL)
_IN_TEXT = re.compile(
    r"\\\(((?:(?!\\[()]).){1,2000})\\\)|\\\[((?:(?!\\[\[\]]).){1,4000})\\\]|\$\$([^$]{1,4000})\$\$",
    re.DOTALL,
)


def write_formulas(root: Element, slots: Slots) -> None:
    """Put `$…$` or `$$…$$` in the place of each formula, however the page shows it.

    KaTeX, MathJax 2 and 3, MathML with or without TeX beside it.
    """
    for script in root.select(_SCRIPTS):
        _from_script(script, slots)
    for shell in root.select(_FORMATTED):
        annotation = shell.select_one(_TEX)
        formula = shell.find("math")
        tex = _given(shell)
        if annotation is not None:
            tex = annotation.text
        elif formula is not None:
            tex = _of_math(formula)
        elif source := shell.attr("data-mathml"):
            tex = _parsed(source)
        outer = shell.closest(".katex-display, .MathJax_Display") or shell
        if tex.strip() and outer.parent is not None and shell.parent is not None:
            _place(outer, tex, slots, display=_is_display(outer, formula))
    inner: set[Element] = set()
    for formula in root.find_all("math"):
        if formula not in inner and formula.closest(_FORMATTED) is None:
            inner.update(formula.find_all("math"))
            _place(formula, _of_math(formula), slots, display=formula.attr("display") == "block")


def write_pictured(root: Element, slots: Slots) -> None:
    """Put TeX in the place of pictures of formulas that carry it."""
    for image in root.select(_IMAGES):
        tex = image.attr("alt") or ""
        if tex.strip():
            _place(image, tex, slots, display=False)


def formulas_in(text: str, slots: Slots) -> str:
    r"""Text with `\(…\)`, `\[…\]` and `$$…$$`, which a script would format, as slots."""

    def replaced(match: re.Match[str]) -> str:
        inline = match[1] is not None
        tex = match[1] or match[2] or match[3]
        return slots.put(_dollars(_clean(tex), display=not inline))

    return _IN_TEXT.sub(replaced, text, count=MAX_FORMULAS)


def _from_script(script: Element, slots: Slots) -> None:
    kind = (script.attr("type") or "").lower()
    tex = script.text
    if "mml" in kind:
        tex = _parsed(tex)
    for shadow in _shadows(script):
        shadow.extract()
    _place(script, tex, slots, display="mode=display" in kind.replace(" ", ""))


def _shadows(script: Element) -> list[Element]:
    """What a formatter put before its script, which shows the same formula."""
    from turbohtml import Element

    found = []
    node = script.previous_sibling
    while node is not None:
        if isinstance(node, Element):
            if not node.matches(_SHADOWS):
                break
            found.append(node)
        elif node.text.strip():
            break
        node = node.previous_sibling
    return found


def _given(shell: Element) -> str:
    return shell.attr("data-tex") or shell.attr("data-latex") or ""


def _parsed(source: str) -> str:
    from turbohtml import parse_fragment

    formula = parse_fragment(source).find("math")
    return _of_math(formula) if formula is not None else ""


def _of_math(formula: Element) -> str:
    source = formula.select_one(_TEX)
    if source is not None:
        return source.text
    return formula.attr("alttext") or tex_of(formula)


def _is_display(shell: Element, formula: Element | None) -> bool:
    if "display" in (shell.attr("class") or "").lower() or shell.attr("display") == "true":
        return True
    return formula is not None and formula.attr("display") == "block"


def _place(node: Element, tex: str, slots: Slots, *, display: bool) -> None:
    from turbohtml import Element, Text

    tex = _clean(tex)
    if not tex:
        node.extract()
        return
    cell = node.closest("td, th")
    if cell is not None:
        tex = tex.replace(r"\|", r"\Vert ").replace("|", r"\vert ").strip()
        display = False
    mark = Text(slots.put(_dollars(tex, display=display)))
    node.replace_with(Element("div", {}, [mark]) if display else mark)


def _dollars(tex: str, *, display: bool) -> str:
    return f"$${tex}$$" if display else f"${tex}$"


def _clean(tex: str) -> str:
    tex = _COMMENT.sub("", tex) if "%" in tex else tex
    tex = " ".join(tex.split())
    for shape in (_WRAPPED, _STYLED):
        match = shape.match(tex)
        if match:
            tex = next(group for group in match.groups() if group is not None).strip()
    return tex
