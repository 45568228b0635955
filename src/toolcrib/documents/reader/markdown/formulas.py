"""Formulas of a page as TeX between dollar signs, each once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolcrib.documents.reader.markdown.mathml import tex_of
from toolcrib.documents.reader.markdown.slots import Slots

if TYPE_CHECKING:
    from turbohtml import Element

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
