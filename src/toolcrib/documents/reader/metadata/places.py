"""Where on a page an element stands: in what reader modes drop, in what nobody sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbohtml import Element

_MAX_CLIMB = 600
_MAX_NAME = 1_000
_ASIDE = re.compile(
    r"-ad-|ad-break|agegate|ai2html|banner|breadcrumbs|combx|comment|community|cover-wrap|disqus"
    r"|extra|footer|gdpr|header|legends|menu|pager|pagination|popup|related|remark|replies|rss"
    r"|shoutbox|sidebar|skyscraper|social|sponsor|supplemental|yom-remote"
)
_MAYBE = re.compile(r"and|article|body|column|content|main|mathjax|shadow")
_FOREIGN = re.compile(
    r"comment|disqus|repl(?:y|ies)|related|sidebar|footer|recommend|trending|popular|read-?(?:more|next)"
    r"|widget|breadcrumb|teaser|promo|newsletter|cookie|modal|-card|card-"
)
_ASIDE_ROLES = frozenset({
    "alert", "alertdialog", "complementary", "dialog", "menu", "menubar", "navigation",
})  # fmt: skip
_OWN_TAGS = frozenset({"main", "article", "head"})
_FOREIGN_TAGS = frozenset({"aside", "footer", "nav", "dialog", "form"})
_SILENT = frozenset({"script", "style", "noscript", "template", "head", "svg"})
_MAX_NAMES = 150
"""A longer class attribute is a list of styles; words in it say nothing of the place."""
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")


def name_of(node: Element) -> str:
    """The class and the id of an element, in lower case: patterns without case are faster."""
    name = f"{(node.attr('class') or '')[:_MAX_NAME]} {(node.attr('id') or '')[:_MAX_NAME]}"
    return name.lower()


def is_hidden(node: Element) -> bool:
    """Whether the element itself is marked as invisible."""
    if node.attr("hidden") is not None:
        return True
    style = node.attr("style")
    if style and _INVISIBLE.search(style[:_MAX_NAME].lower()):
        return True
    return node.attr("aria-hidden") == "true" and "fallback-image" not in name_of(node)


class Places:
    """What is known about the places of a page's elements, each looked at once."""

    def __init__(self) -> None:
        self._aside: dict[Any, bool] = {}
        self._foreign: dict[Any, bool] = {}

    def is_shown(self, node: Element) -> bool:
        """Whether reader modes get to see it: neither hidden nor in what they drop at once."""
        return not is_hidden(node) and not self._climb(node, self._aside, _is_aside)

    def is_own(self, node: Element) -> bool:
        """Whether it belongs to the page's own text rather than to comments or other pages."""
        return not is_hidden(node) and not self._climb(node, self._foreign, _is_foreign)

    @staticmethod
    def _climb(node: Element, known: dict[Any, bool], test: Any) -> bool:
        """Whether something above the element passes the test."""
        passed: list[Any] = []
        verdict = False
        above: Any = node.parent
        for _ in range(_MAX_CLIMB):
            tag = getattr(above, "tag", "")
            if not tag or tag in ("body", "html"):
                verdict = not tag and _is_fragment(above)
                break
            if above in known:
                verdict = known[above]
                break
            passed.append(above)
            if test(above):
                verdict = True
                break
            above = above.parent
        known.update(dict.fromkeys(passed, verdict))
        return verdict


def _is_fragment(node: Any) -> bool:
    """Whether it is what a template holds."""
    from turbohtml import DocumentFragment

    return isinstance(node, DocumentFragment)


def _is_aside(node: Element) -> bool:
    if node.tag in _SILENT or is_hidden(node):
        return True
    role = node.attr("role")
    if role and (role in _ASIDE_ROLES):
        return True
    name = name_of(node)
    if name == " " or node.tag == "a" or not _ASIDE.search(name) or _MAYBE.search(name):
        return False
    return not _in_table(node)


def _in_table(node: Element) -> bool:
    """Whether it stands in a table or in code, four steps up at most."""
    above: Any = node.parent
    for _ in range(4):
        if above is None:
            return False
        if getattr(above, "tag", "") in ("table", "code"):
            return True
        above = above.parent
    return False


def _is_foreign(node: Element) -> bool:
    if node.tag in _FOREIGN_TAGS or is_hidden(node) or node.attr("role") in _ASIDE_ROLES:
        return True
    name = name_of(node)
    return node.tag not in _OWN_TAGS and len(name) <= _MAX_NAMES and bool(_FOREIGN.search(name))
