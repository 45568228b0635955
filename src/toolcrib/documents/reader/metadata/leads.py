"""How a page begins: the first paragraph of the part of it that has the most to say."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.documents.reader.metadata.phrases import line, text_of
from toolcrib.documents.reader.metadata.places import Places, is_hidden

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

MAX_LEAD = 2_000
_MAX_PARAGRAPHS = 1_500
_MAX_COUNTED = 1_000
"""Characters of a paragraph that are weighed."""
_MAX_CHARS = 200_000
"""Characters of paragraphs after which no more of them are weighed."""
_LEAST, _SENTENCE = 25, 80
_TOO_LITTLE = 500
_LEVELS = 4
_MAX_NAME = 1_000
_MOST = 0.6
_TAG_WEIGHTS = {"div": 5.0, "blockquote": 3.0, "td": 3.0, "form": -3.0, "li": -3.0}
_GOOD = re.compile(r"article|body|content|entry|hentry|h-entry|main|page|post|text|blog|story")
_BAD = re.compile(
    r"-ad-|hidden|banner|combx|comment|com-|contact|foot|gdpr|masthead|media|meta|outbrain|promo"
    r"|related|scroll|share|shoutbox|sidebar|skyscraper|sponsor|shopping|tags|widget"
)
_COMMAS = ",\u060c\ufe50\ufe10\ufe11\u2e41\u2e34\u2e32\uff0c"
_COMMA = re.compile(f"[{_COMMAS}]")


def lead_of(tree: Tree, places: Places) -> str:
    """The first paragraph of the part of the page that has the most and longest of them."""
    paragraphs = _paragraphs(tree, places.is_shown)
    if sum(paragraph.size for paragraph in paragraphs) < _TOO_LITTLE:
        # Then the words in the names of its parts mislead, as in "layout-with-sidebar".
        paragraphs = _paragraphs(tree, lambda element: not is_hidden(element)) or paragraphs
    nearest = _nearest(paragraphs)
    if nearest is None:
        return _text(paragraphs[0]) if paragraphs else ""
    whole = _most_of(paragraphs, nearest)
    for paragraph in paragraphs:
        chain = paragraph.chain
        # Outside of the nearest part stand small prints too.
        if nearest in chain or (whole in chain and paragraph.size > _SENTENCE):
            text = _text(paragraph)
            if text:
                return text
    return ""


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A paragraph that is shown: what it counts, and the elements around it, inner first."""

    element: Element
    size: int
    weight: int
    chain: list[Any]


def _paragraphs(tree: Tree, is_seen: Callable[[Element], bool]) -> list[_Paragraph]:
    found: list[_Paragraph] = []
    left = _MAX_CHARS
    for element in tree.find_all("p")[:_MAX_PARAGRAPHS]:
        text = element.text
        left -= len(text)
        size = len(text.strip())
        if size and is_seen(element):
            commas = len(_COMMA.findall(text[:_MAX_COUNTED])) if size >= _LEAST else 0
            weight = 2 + commas + min(size // 100, 3) if size >= _LEAST else 0
            found.append(_Paragraph(element, size, weight, _chain(element)))
        if left < 0:
            break
    return found


def _chain(element: Element) -> list[Any]:
    above: Any = element.parent
    chain = []
    while getattr(above, "tag", "html") != "html":
        chain.append(above)
        above = above.parent
    return chain


def _nearest(paragraphs: list[_Paragraph]) -> Any:
    """The element whose paragraphs weigh most; the nearer it is to them, the more they count."""
    weights: dict[Any, float] = {}
    for paragraph in paragraphs:
        if not paragraph.weight:
            continue
        for level, above in enumerate(paragraph.chain[:_LEVELS]):
            if above not in weights:
                weights[above] = _start(above)
            weights[above] += paragraph.weight / (1, 2, 6, 9)[level]
    return max(weights, key=weights.__getitem__, default=None)


def _most_of(paragraphs: list[_Paragraph], nearest: Any) -> Any:
    """The first element around `nearest` that holds most of what the page has to say.

    The paragraphs of long texts are in several sections.
    """
    total = sum(paragraph.weight for paragraph in paragraphs)
    above = nearest
    while getattr(above, "tag", "body") != "body":
        held = sum(paragraph.weight for paragraph in paragraphs if above in paragraph.chain)
        if held >= _MOST * total:
            return above
        above = above.parent
    return above


def _start(element: Element) -> float:
    """What an element weighs by its tag and its names."""
    start = _TAG_WEIGHTS.get(element.tag, 0.0)
    for name in (element.attr("class"), element.attr("id")):
        if name:
            low = name[:_MAX_NAME].lower()
            start += 25 * (bool(_GOOD.search(low)) - bool(_BAD.search(low)))
    return start


def _text(paragraph: _Paragraph) -> str:
    return line(text_of(paragraph.element, 2 * MAX_LEAD), MAX_LEAD)
