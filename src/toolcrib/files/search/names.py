"""Finding paths by name: globs, parts of names, and names with typos."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from heapq import nlargest
from importlib.util import find_spec

from toolcrib.files.search.catalog import Catalog
from toolcrib.files.search.globs import Globs

MAX_QUERY = 200
LIKE = 0.6
THREADS = 2
SHORT = 4
"""Letters of a word in which no typo is forgiven."""


def by_glob(catalog: Catalog, glob: str) -> list[str]:
    """The paths that fit, in the order of the list."""
    globs = Globs([glob.rstrip("/")])
    if not globs.wanted:
        return []
    bare = (path.rstrip("/") for path in catalog.paths)
    if glob.endswith("/"):
        bare = (prefix.rstrip("/") for prefix in catalog.folders if prefix)
    raw = "\n".join(bare).encode("utf-8", "surrogateescape")
    found = (path.decode("utf-8", "surrogateescape") for path in globs.among(raw))
    return [f"{path}/" if f"{path}/" in catalog.folders else path for path in found]


def by_part(catalog: Catalog, query: str) -> list[str]:
    """The paths with all words of a query in them, best first."""
    lower = query.lower()
    found = _holding(catalog, lower.split())
    return sorted(found, key=lambda path: _rank(path, lower))


def _holding(catalog: Catalog, words: list[str]) -> list[str]:
    joined, folded = catalog.joined, catalog.folded
    if not folded or not words:
        return [p for p in catalog.paths if words and all(w in p.lower() for w in words)]
    longest = max(words, key=len)
    found, at = [], folded.find(longest)
    while at >= 0:
        start, end = folded.rfind("\n", 0, at) + 1, folded.find("\n", at)
        end = len(folded) if end < 0 else end
        if all(word in folded[start:end] for word in words):
            found.append(joined[start:end])
        at = folded.find(longest, end)
    return found


def _rank(path: str, query: str) -> tuple[int, int, str]:
    """Equal names first, then equal stems, beginnings, parts of the name, parts of the path."""
    name = path.rstrip("/").rpartition("/")[2].casefold()
    if name == query:
        order = 0
    elif name.rpartition(".")[0] == query:
        order = 1
    elif name.startswith(query):
        order = 2
    else:
        order = 3 if query in name else 4
    return order, len(path), path


def by_likeness(catalog: Catalog, query: str, most: int) -> list[str]:
    """The paths most like a query, best first: its letters in order, some of them wrong."""
    words = query.split()
    if not words:
        return []
    if find_spec("frizbee") is not None:
        found = _by_frizbee(catalog, words, most)
    else:
        found = _by_python(catalog.paths, query, most)
    return found[:most]


def _by_frizbee(catalog: Catalog, words: list[str], most: int) -> list[str]:
    import frizbee

    if catalog.index is None:
        catalog.index = frizbee.Haystacks(_encodable(catalog.paths))
    longest = frizbee.max_needle_len()
    patterns = [
        frizbee.Pattern(word[:longest], matching="fuzzy", max_typos=_typos(word), casing="ignore")
        for word in words
    ]
    matcher = frizbee.Matcher.from_patterns(patterns, max_typos=2, max_items=most, casing="ignore")
    found = matcher.match_list_parallel(catalog.index, THREADS)
    paths = [(catalog.paths[match.index], match.score) for match in found]
    query = " ".join(words).casefold()
    return [path for path, _ in sorted(paths, key=lambda item: _merit(item[0], item[1], query))]


def _encodable(paths: Sequence[str]) -> list[str]:
    """Names that are not text are compared by what of them is."""
    try:
        "\n".join(paths).encode()
    except UnicodeEncodeError:
        return [path.encode("utf-8", "replace").decode() for path in paths]
    return list(paths)


def _typos(word: str) -> int:
    return 0 if len(word) < SHORT else 1 if len(word) < 2 * SHORT else 2


def _merit(path: str, score: int, query: str) -> tuple[float, int, str]:
    """By score, where letters in the name itself count more than those in its folders."""
    name = path.rstrip("/").rpartition("/")[2].casefold()
    stem = name.rpartition(".")[0] or name
    likeness = _ratio(name if "." in query else stem, query)
    return -(score * (1.0 + likeness)), len(path), path


def _ratio(name: str, query: str) -> float:
    matcher = SequenceMatcher(None, name, query, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() > LIKE else 0.0


def _by_python(paths: Sequence[str], query: str, most: int) -> list[str]:
    """Without the package: by the letters that names share."""
    wanted = query.casefold()
    pairs = {wanted[i : i + 2] for i in range(len(wanted) - 1)} or {wanted}
    rough = nlargest(20 * most, paths, key=lambda path: _shared(pairs, path))
    scored = [(_closeness(path, wanted), path) for path in rough]
    scored = [(score, path) for score, path in scored if score >= LIKE]
    return [path for _, path in sorted(scored, key=lambda item: (-item[0], len(item[1]), item[1]))]


def _shared(pairs: set[str], path: str) -> float:
    name = path.rstrip("/").rpartition("/")[2].casefold()
    return sum(pair in name for pair in pairs) - len(name) / 1000


def _closeness(path: str, wanted: str) -> float:
    lower = path.rstrip("/").casefold()
    name = lower.rpartition("/")[2]
    return max(_ratio(part, wanted) for part in (lower, name, name.rpartition(".")[0] or name))


_WORD = re.compile(r"[\w.-]+")


def names_in(query: str) -> list[str]:
    """The plain names in a query, for folders that are skipped unless they are named."""
    return _WORD.findall(query.replace("/", " "))
