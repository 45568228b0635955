"""Images that a script would load, and the frames of videos, before Markdown is made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbohtml import Element

_LAZY = (
    "data-src", "data-lazy-src", "data-original", "data-lazy", "data-original-src",
    "data-actualsrc",
    "data-img-src", "data-image", "data-url", "data-hi-res-src", "data-full-src", "data-echo",
    "data-orig-file", "data-src-large", "data-runner-src", "data-image-src", "nitro-lazy-src",
)  # fmt: skip
MAX_SET = 20_000
"""Characters of a `srcset` that are looked at."""
_SOURCES = 40
"""Children of a `picture` that are looked at."""
_LAZY_NAMES = frozenset(_LAZY)
_SETS = ("srcset", "data-srcset", "data-lazy-srcset", "data-original-set", "nitro-lazy-srcset")
_PLACEHOLDER = re.compile(
    r"\A(?:data:|about:|#|$)|placeholder|(?:^|[/_-])(?:blank|spacer|pixel|transparent|1x1|lazy|loading"
    r"|loader|grey|gray|empty|dummy)[\w-]*\.(?:gif|png|svg|jpe?g|webp)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\A(?![{<\[]|data:|about:|javascript:)\S*[./]\S*\Z", re.IGNORECASE)
_VIDEO = re.compile(
    r"(?:youtube(?:-nocookie)?\.com/embed/|youtu\.be/|player\.vimeo\.com/video/|dailymotion\.com/embed"
    r"|player\.bilibili|fast\.wistia|loom\.com/embed|ted\.com|twitch\.tv|player\.|/video|/embed)",
    re.IGNORECASE,
)
_YOUTUBE = re.compile(r"//(?:www\.)?youtube(?:-nocookie)?\.com/embed/([\w-]{6,20})(?![\w-])")
_VIMEO = re.compile(r"//player\.vimeo\.com/video/(\d+)")


def load_pictures(tags: dict[str, list[Element]]) -> None:
    """Give each picture the address that a browser would end up with.

    The picture of a `noscript` takes the place of the placeholder before it. What has no address
    or counts visits is left out; of one inside a link the alternative text stays.
    """
    for fallback in tags.get("noscript", ()):
        _from_noscript(fallback)
    sets: dict[Any, str] = {}
    for image in tags.get("img", ()):
        _load(image, sets)


def link_frames(tags: dict[str, list[Element]]) -> None:
    """Put a link in the place of each embedded video or sound."""
    for tag in ("iframe", "video", "audio", "embed"):
        for frame in tags.get(tag, ()):
            _link(frame, tag)


def _load(image: Element, sets: dict[Any, str]) -> None:
    given = image.attrs.copy()
    source = (image.attr("src") or "").strip()
    found = _first(given) or (_of_sets(image, sets) if _PLACEHOLDER.search(source) else "")
    if found:
        image.attrs["src"] = source = found
    if len(image.attr("srcset") or "") > MAX_SET:
        del image.attrs["srcset"]  # to make each of its addresses absolute takes long
    if not source or source.startswith("data:") or _counts(image):
        named = not _counts(image) and image.closest("a") is not None
        _give_up(image, keep_words=named)
        return
    alternative = image.attr("alt") or image.attr("data-alt") or ""
    image.attrs["alt"] = " ".join(alternative.split())


def _first(given: dict[str, Any]) -> str:
    """The first address that a script would use."""
    if _LAZY_NAMES.isdisjoint(given):
        return ""
    for name in _LAZY:
        value = str(given.get(name) or "").strip()
        if value and _ADDRESS.match(value) and not _PLACEHOLDER.search(value):
            return value
    return ""


def _of_sets(image: Element, sets: dict[Any, str]) -> str:
    if found := _of_set(image):
        return found
    parent: Any = image.parent
    if getattr(parent, "tag", "") != "picture":
        return ""
    if parent not in sets:
        sets[parent] = _of_sources(parent)
    return sets[parent]


def _of_sources(parent: Any) -> str:
    """The address in the sources of a `picture`."""
    for number, source in enumerate(parent):
        if number > _SOURCES:
            break
        if getattr(source, "tag", "") == "source" and (found := _of_set(source)):
            return found
    return ""


def _of_set(node: Any) -> str:
    """The address in the first `srcset` of an element that has one."""
    return next(filter(None, (_largest(node.attr(name) or "") for name in _SETS)), "")


def _largest(value: str) -> str:
    """The address of a `srcset` with the highest width or density."""
    best, best_rank = "", -1.0
    for part in re.split(r",\s+|(?<=[wx]),", value[:MAX_SET].strip()):
        address, _, size = part.strip().partition(" ")
        number = size.strip().rstrip("wxh") or "1"
        rank = float(number) if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", number) else 0.0
        if rank > best_rank and _ADDRESS.match(address):
            best, best_rank = address, rank
    return best


def _counts(image: Element) -> bool:
    """Whether it is a picture of one pixel."""
    return image.attr("width") in ("0", "1") and image.attr("height") in ("0", "1")


def _give_up(image: Element, *, keep_words: bool) -> None:
    from turbohtml import Text

    words = " ".join((image.attr("alt") or "").split())
    if keep_words and words:
        image.replace_with(Text(words))
    else:
        image.extract()


def _from_noscript(fallback: Element) -> None:
    from turbohtml import parse_fragment

    real = fallback.find("img")
    if real is None and "<img" in fallback.text:
        real = parse_fragment(fallback.text).find("img")
    if real is None:
        return
    placeholder = _picture_before(fallback)
    if placeholder is None:
        if not _has_other_image(fallback, real):
            fallback.replace_with(real)
    elif not (placeholder.attr("src") or "") or _PLACEHOLDER.search(placeholder.attr("src") or ""):
        source = real.attr("src")
        if source:
            placeholder.attrs["src"] = source
        if not placeholder.attr("alt") and real.attr("alt"):
            placeholder.attrs["alt"] = real.attr("alt")


def _has_other_image(fallback: Element, real: Element) -> bool:
    parent: Any = fallback.parent
    others = parent.find_all("img", limit=3) if parent is not None else []
    return any(other is not real and fallback not in other.ancestors for other in others)


def _picture_before(node: Element) -> Element | None:
    """The picture that stands right before or after an element."""
    from turbohtml import Element

    for name in ("previous_sibling", "next_sibling"):
        near = getattr(node, name)
        while near is not None and not isinstance(near, Element) and not near.text.strip():
            near = getattr(near, name)
        if isinstance(near, Element):
            if near.tag == "img":
                return near
            inner = near.find_all("img", limit=2)
            if len(inner) == 1 and not near.text.strip():
                return inner[0]
    return None


def _link(frame: Element, tag: str) -> None:
    from turbohtml import Element, Text

    source = frame.attr("src") or frame.attr("data-src") or frame.attr("data-lazy-src") or ""
    if not source and tag in ("video", "audio"):
        inner = frame.find("source")
        source = (inner.attr("src") or "") if inner is not None else ""
    source = source.strip()
    if not source or source.startswith(("about:", "data:", "javascript:", "blob:")):
        return
    if tag in ("iframe", "embed") and not _VIDEO.search(source):
        return
    words = frame.attr("title") or frame.attr("aria-label") or ""
    words = " ".join(words.split()) or ("Audio" if tag == "audio" else "Video")
    link = Element("a", {"href": _watched(source)}, [Text(words)])
    frame.replace_with(Element("p", {}, [link]))


def _watched(source: str) -> str:
    """The page of a video, where the address of its frame names it."""
    if match := _YOUTUBE.search(source):
        if match[1] != "videoseries":
            return f"https://www.youtube.com/watch?v={match[1]}"
    elif match := _VIMEO.search(source):
        return f"https://vimeo.com/{match[1]}"
    return source
