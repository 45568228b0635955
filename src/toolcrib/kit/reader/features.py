"""What the scorer looks at: a row of numbers for each block of a page."""

from __future__ import annotations

from math import log

from toolcrib.kit.reader import tags
from toolcrib.kit.reader.chains import Chains, block_sums
from toolcrib.kit.reader.lexicon import Lexicon
from toolcrib.kit.reader.tree import Block, Page

_ENDS = (".", "!", "?", "\u2026", "\u3002", "\uff01", "\uff1f", '."', ".\u201d", ".)")
LOGS = [log(1 + number) for number in range(4096)]


def log1(value: float) -> float:
    """log(1 + value), by table for small whole numbers."""
    return LOGS[int(value)] if value < 4096 else log(1 + value)


TEXT_NAMES = (
    "words", "chars", "link_density", "ends", "commas", "money", "lines", "question", "txt_mean",
    "txt_min", "dup",
)  # fmt: skip
_MONEY_AT, _QUESTION_AT, _MEAN_AT = 5, 7, 8


def text_row(block: Block, lexicon: Lexicon, copies: int) -> list[float]:
    """What the text of a block is like, named by TEXT_NAMES."""
    text, words = block.text, block.words
    size = len(text)
    head = text[:400]
    mean, least, _ = lexicon.text(head, words)
    return [
        log1(words),
        log1(size),
        min(block.link_chars / size, 1.0),
        float(text.endswith(_ENDS)),
        log1(text.count(",")),
        float("$" in head or "€" in head or "£" in head or "¥" in head),
        float(text.count("\n")),
        float("?" in head),
        mean,
        least,
        log1(copies),
    ]


def is_plain_menu(block: Block, flags: int) -> bool:
    """Whether a block is nothing but a short link of a menu or footer: no need to look closer."""
    return (
        block.words <= _MENU_WORDS
        and bool(flags & (tags.NAV | tags.FOOTER))
        and block.link_chars > 0.9 * len(block.text)
    )


FLAGS = (
    tags.NAV, tags.HEADER, tags.FOOTER, tags.ASIDE, tags.MAIN, tags.ARTICLE, tags.FORM,
    tags.DIALOG, tags.HIDDEN, tags.FIGURE, tags.NOSCRIPT,
)  # fmt: skip

PLACE_NAMES = (
    "tag", "level", "depth", "siblings", "own_sum", "own_min", "inline_sum", "parent_sum",
    "path_sum", "path_min", "path_max", "path_low_far", "rep", "path_rep", "path_rep_words",
    "path_rep_level", "same", "same_words", "same_link", "f_nav", "f_header", "f_footer",
    "f_aside", "f_main", "f_article", "f_form", "f_dialog", "f_hidden", "f_figure", "f_noscript",
    "index", "words_before", "from_h1", "title", "from_title", "from_end", "top_in",
    "top_depth",
)  # fmt: skip

AROUND_NAMES = (
    "words_m1", "words_q1", "level_m1", "level_q1", "long10", "link3", "link10", "path5",
     "txt5", "since_head", "till_head",
)  # fmt: skip

CHAIN_NAMES = tuple(
    f"c{step}_{what}"
    for step in range(4)
    for what in ("link", "long", "mean", "share", "heads", "name", "ends")
)

PAGE_NAMES = (
    "g_blocks", "g_words", "g_link", "g_long", "g_p", "g_li", "g_td", "g_heads", "g_articles",
    "g_rep", "g_rep_words", "g_forms", "g_images", "g_main", "g_hidden", "g_money", "g_pre",
    "g_question", "g_top", "g_buttons",
)  # fmt: skip

_MENU_WORDS = 8

LEVELS = {
    "h1": 6, "h2": 5, "h3": 4, "h4": 3, "h5": 2, "h6": 2, "p": -1, "li": -2, "td": -3, "th": -3,
    "dt": -4, "dd": -4, "pre": -5, "button": -6, "figcaption": -7, "summary": 1, "caption": -7,
}  # fmt: skip


_INLINE_AT = 6


class Sheet:
    """All rows of one page, and the page's own row."""

    def __init__(self, page: Page, title: str, lexicon: Lexicon) -> None:
        self.page = page
        self.title = frozenset(title.lower().split())
        self.lexicon = lexicon
        self.copies: dict[str, int] = {}
        for block in page.blocks:
            self.copies[block.text] = self.copies.get(block.text, 0) + 1
        self.texts = [text_row(block, lexicon, self.copies[block.text]) for block in page.blocks]
        self.open = [
            number
            for number, block in enumerate(page.blocks)
            if not is_plain_menu(block, page.elements[block.element].flags)
        ]
        """The blocks that are scored; the rest are links of menus."""
        self.sums = block_sums(page.blocks, page.elements, self.texts)
        self.chains = Chains(page, self.sums, lexicon)
        self.levels = [LEVELS.get(page.elements[b.element].tag, 0) for b in page.blocks]

    def rows(self) -> list[list[float]]:
        """A row for each open block, named by NAMES."""
        places = self._places()
        around = self._around()
        chains, blocks = self.chains, self.page.blocks
        return [
            self.texts[number] + place + near + chains.row(blocks[number].element)
            for number, place, near in zip(self.open, places, around, strict=True)
        ]

    def _places(self) -> list[list[float]]:
        page, chains = self.page, self.chains
        elements = page.elements
        total = len(page.blocks)
        words = self.sums.words
        words_total = max(1, words[-1])
        first_h1, title_at, title_fit = self._title_places()
        top = elements[chains.top]
        rows = []
        of_element: dict[int, list[float]] = {}
        for number in self.open:
            block = page.blocks[number]
            index = block.element
            fixed = of_element.get(index)
            if fixed is None:
                fixed = of_element[index] = self._element_row(index)
            row = fixed.copy()
            row[1] = float(self.levels[number])
            if block.inline_name:
                row[_INLINE_AT] = self.lexicon.name(block.inline_name)[0]
            row += (
                number / total,
                words[number] / words_total,
                float(number - first_h1),
                title_fit[number],
                float(number - title_at),
                log1(total - number),
                float(top.start <= number < top.end),
                float(chains.top_depth(index)),
            )
            rows.append(row)
        return rows

    def _element_row(self, index: int) -> list[float]:
        chains = self.chains
        element = self.page.elements[index]
        parent = element.parent
        own_sum, own_min, _ = chains.names[index]
        group = chains.groups[chains.keys[index]]
        flags = element.flags
        return [
            float(tags.TAG_IDS.get(element.tag, 0)),
            0.0,
            float(element.depth),
            log1(self.page.elements[parent].children) if parent >= 0 else 0.0,
            own_sum,
            own_min,
            0.0,
            chains.names[parent][0] if parent >= 0 else 0.0,
            *chains.paths[index],
            *chains.repeats[index],
            log1(group[0]),
            log1(group[1] / group[0]),
            group[2] / max(1, group[3]),
            *[float(flags & flag > 0) for flag in FLAGS],
        ]

    def _title_places(self) -> tuple[int, int, list[float]]:
        """The block of the first h1, that most like the title, and how alike each is."""
        blocks, elements, title = self.page.blocks, self.page.elements, self.title
        first = -1
        best, best_fit = -1, 0.3
        fits = []
        for number, block in enumerate(blocks):
            fit = 0.0
            if title and block.words <= 30:
                own = frozenset(block.text.lower().split())
                fit = len(own & title) / len(own | title)
                if elements[block.element].tag == "h1":
                    fit += 0.3
            if first < 0 and elements[block.element].tag == "h1":
                first = number
            if fit > best_fit:
                best, best_fit = number, fit
            fits.append(fit)
        return max(first, 0), max(best, 0), fits

    def _around(self) -> list[list[float]]:
        texts, levels, sums = self.texts, self.levels, self.sums
        count = len(texts)
        since, till = self._heads()
        paths, means = [0.0], [0.0]
        for block, text in zip(self.page.blocks, texts, strict=True):
            paths.append(paths[-1] + self.chains.paths[block.element][0])
            means.append(means[-1] + text[_MEAN_AT])
        rows = []
        long, words, links = sums.long, sums.words, sums.links
        for number in self.open:
            low3, high3 = max(0, number - 3), min(count, number + 4)
            low10, high10 = max(0, number - 10), min(count, number + 11)
            low5, high5 = max(0, number - 5), min(count, number + 6)
            rows.append([
                texts[number - 1][0] if number else -1.0,
                texts[number + 1][0] if number + 1 < count else -1.0,
                float(levels[number - 1]) if number else -9.0,
                float(levels[number + 1]) if number + 1 < count else -9.0,
                log1(long[high10] - long[low10]),
                (links[high3] - links[low3]) / max(1, words[high3] - words[low3]),
                (links[high10] - links[low10]) / max(1, words[high10] - words[low10]),
                (paths[high5] - paths[low5]) / (high5 - low5),
                (means[high5] - means[low5]) / (high5 - low5),
                since[number],
                till[number],
            ])  # fmt: skip
        return rows

    def _heads(self) -> tuple[list[float], list[float]]:
        """How many blocks since the last heading and until the next."""
        count = len(self.levels)
        since, till = [0.0] * count, [0.0] * count
        last = -20
        for number, level in enumerate(self.levels):
            if level > 1:
                last = number
            since[number] = float(min(20, number - last))
        following = count + 20
        for number in range(count - 1, -1, -1):
            till[number] = float(min(20, following - number))
            if self.levels[number] > 1:
                following = number
        return since, till

    def page_row(self) -> list[float]:
        """The figures of the whole page."""
        page, sums, levels = self.page, self.sums, self.levels
        count = max(1, len(page.blocks))
        words = max(1, sums.words[-1])
        by_tag: dict[str, int] = {}
        images = inputs = 0
        flags = 0
        hidden = 0
        for element in page.elements:
            by_tag[element.tag] = by_tag.get(element.tag, 0) + 1
            images += element.images
            inputs += element.inputs
            flags |= element.flags
        for block in page.blocks:
            if page.elements[block.element].flags & tags.HIDDEN:
                hidden += block.words
        paragraphs = sum(
            b.words for b, level in zip(page.blocks, levels, strict=True) if level == -1
        )
        items = sum(b.words for b, level in zip(page.blocks, levels, strict=True) if level == -2)
        cells = sum(b.words for b, level in zip(page.blocks, levels, strict=True) if level == -3)
        top = page.elements[self.chains.top]
        return [
            log1(count),
            log1(words),
            sums.links[-1] / words,
            sums.long[-1] / words,
            paragraphs / words,
            items / words,
            cells / words,
            sums.heads[-1] / count,
            log1(by_tag.get("article", 0)),
            log1(self.chains.most_repeated[0]),
            log1(self.chains.most_repeated[1]),
            log1(inputs),
            log1(images),
            float(bool(flags & tags.MAIN)),
            hidden / words,
            sum(row[_MONEY_AT] for row in self.texts) / count,
            sum(1 for level in levels if level == -5) / count,
            sum(row[_QUESTION_AT] for row in self.texts) / count,
            (sums.words[top.end] - sums.words[top.start]) / words,
            sum(1 for level in levels if level == -6) / count,
        ]


NAMES = (*TEXT_NAMES, *PLACE_NAMES, *AROUND_NAMES, *CHAIN_NAMES)
"""The columns of a block's row."""
