"""What the elements around a block are like: sums of their text, names, repetition."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolcrib.kit.reader.lexicon import Lexicon
from toolcrib.kit.reader.tree import Block, Element, Page

LONG = 12
"""Words from which a block counts as running text."""
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Sums:
    """Running totals over the blocks, each one longer than the list of blocks."""

    words: list[int]
    links: list[float]
    long: list[int]
    heads: list[int]
    ends: list[int]


def block_sums(blocks: list[Block], elements: list[Element], texts: list[list[float]]) -> Sums:
    """The totals of a page, from which those of any element follow."""
    sums = Sums([0], [0.0], [0], [0], [0])
    words = heads = long = ends = 0
    links = 0.0
    for block, row in zip(blocks, texts, strict=True):
        words += block.words
        links += block.words * row[2]
        tag = elements[block.element].tag
        heads += len(tag) == 2 and tag[0] == "h" and tag != "hr"
        if block.words >= LONG and row[2] < 0.5:
            long += block.words
            ends += row[3] > 0
        sums.words.append(words)
        sums.links.append(links)
        sums.long.append(long)
        sums.heads.append(heads)
        sums.ends.append(ends)
    return sums


class Chains:
    """For each element its names, path, repetition and group; for each block its ancestors.

    Attributes:
        names: log-odds of the element's own names: sum, least, greatest.
        paths: the same over all ancestors, and how far away the least is.
        repeats: siblings like it; the most along the path, with their words and distance.
        keys, groups: elements of one kind, and [blocks, words, link words, words] of each.
        top: the element that holds the running text.
    """

    def __init__(self, page: Page, sums: Sums, lexicon: Lexicon) -> None:
        self.page = page
        self.sums = sums
        self.total = max(1, sums.words[-1])
        elements = page.elements
        self.names = [lexicon.name(element.name) for element in elements]
        self.wider = [0] * len(elements)
        known: dict[str, str] = {}
        self.kinds = [self._kind(element, known) for element in elements]
        self._walk_paths()
        self._walk_repeats()
        self._group()
        self.top = self._find_top()
        self._rows: dict[int, list[float]] = {}
        self._chains: dict[int, list[float]] = {}

    @staticmethod
    def _kind(element: Element, known: dict[str, str]) -> str:
        """Its tag and names without numbers: what items of one list have in common."""
        if not element.name:
            return element.tag
        name = known.get(element.name)
        if name is None:
            name = known[element.name] = _DIGITS.sub("", element.name)[:60]
        return f"{element.tag}.{name}"

    def _walk_paths(self) -> None:
        elements = self.page.elements
        self.paths: list[tuple[float, float, float, float]] = []
        for index, element in enumerate(elements):
            total, least, most = names = self.names[index]
            parent = element.parent
            if element.start == element.end:
                self.paths.append((*names, 0.0))
                continue
            if parent < 0:
                self.paths.append((total, least, most, 0.0))
                continue
            before = self.paths[parent]
            far = before[3] + 1 if before[1] <= least else 0.0
            self.paths.append(
                (
                    before[0] * 0.8 + total,
                    min(before[1], least),
                    max(before[2], most),
                    far,
                )
            )
            above = elements[parent]
            same = above.start == element.start and above.end == element.end
            self.wider[index] = self.wider[parent] if same else parent

    def _walk_repeats(self) -> None:
        elements, words = self.page.elements, self.sums.words
        counts: dict[tuple[int, str], list[int]] = {}
        entries = []
        for kind, element in zip(self.kinds, elements, strict=True):
            key = (element.parent, kind)
            entry = counts.get(key)
            if entry is None:
                entry = counts[key] = [0, 0]
            entry[0] += 1
            entry[1] += words[element.end] - words[element.start]
            entries.append(entry)
        self.repeats: list[tuple[float, float, float, float]] = []
        best = (1, 0.0)
        for number, inside in counts.values():
            mean = inside / number
            if number >= 3 and number * min(mean, 50) > best[0] * min(best[1], 50):
                best = (number, mean)
        nothing = (1.0, 1.0, 0.0, 0.0)
        for (number, inside), element in zip(entries, elements, strict=True):
            if element.start == element.end:
                self.repeats.append(nothing)
                continue
            before = self.repeats[element.parent] if element.parent >= 0 else nothing
            own = float(number)
            if own >= before[1] and own > 2 and element.tag != "p":
                self.repeats.append((own, own, inside / number, 0.0))
            else:
                self.repeats.append((own, before[1], before[2], before[3] + 1))
        self.most_repeated = best

    def _group(self) -> None:
        elements = self.page.elements
        self.keys = []
        for index, element in enumerate(elements):
            parent = element.parent
            if element.start == element.end:
                self.keys.append("")
                continue
            above = self.kinds[parent] if parent >= 0 else ""
            beyond = self.kinds[elements[parent].parent] if parent > 0 else ""
            self.keys.append(f"{beyond}>{above}>{self.kinds[index]}")
        self.groups: dict[str, list[float]] = {}
        links = self.sums.links
        for number, block in enumerate(self.page.blocks):
            entry = self.groups.setdefault(self.keys[block.element], [0, 0, 0.0, 0])
            entry[0] += 1
            entry[1] += block.words
            entry[2] += links[number + 1] - links[number]
            entry[3] += block.words

    def _find_top(self) -> int:
        """The element with the most running text near it, as reader modes look for it."""
        elements = self.page.elements
        scores: dict[int, float] = {}
        long = self.sums.long
        for number, block in enumerate(self.page.blocks):
            gain = float(long[number + 1] - long[number])
            if not gain:
                continue
            gain = 1 + min(gain, 100) / 20
            index = elements[block.element].parent
            for share in (1.0, 0.6, 0.3, 0.15):
                if index < 0:
                    break
                scores[index] = scores.get(index, 0.0) + gain * share
                index = elements[index].parent
        return max(scores, key=scores.__getitem__, default=0)

    def top_depth(self, index: int) -> int:
        """How far above an element its path meets the top element."""
        elements = self.page.elements
        top = elements[self.top]
        steps = 0
        while index >= 0 and steps < 12:
            element = elements[index]
            if element.start <= top.start and element.end >= top.end:
                break
            index = element.parent
            steps += 1
        return steps

    def row(self, index: int) -> list[float]:
        """The figures of the next four wider and wider elements from an element on."""
        element = self.page.elements[index]
        if element.end - element.start < 2:
            index = self.wider[index]
        known = self._chains.get(index)
        if known is not None:
            return known
        start = index
        row: list[float] = []
        for _ in range(4):
            figures = self._rows.get(index)
            if figures is None:
                figures = self._rows[index] = self._figures(index)
            row += figures
            index = self.wider[index]
        self._chains[start] = row
        return row

    def _figures(self, index: int) -> list[float]:
        element, sums = self.page.elements[index], self.sums
        start, end = element.start, element.end
        blocks = max(1, end - start)
        words = sums.words[end] - sums.words[start]
        some = max(1, words)
        return [
            (sums.links[end] - sums.links[start]) / some,
            (sums.long[end] - sums.long[start]) / some,
            words / blocks,
            words / self.total,
            (sums.heads[end] - sums.heads[start]) / blocks,
            self.names[index][0],
            (sums.ends[end] - sums.ends[start]) / blocks,
        ]
