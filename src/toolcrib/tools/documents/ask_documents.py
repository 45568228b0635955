"""`ask_documents`: what the documents of the workspace say to a question, packed to be cited."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Offset, Param, tool
from toolcrib.documents.library import Library, SyncReport
from toolcrib.files.paths import SafePath, WorkspacePath
from toolcrib.retrieval.entries import EntryFilter, EntryInfo, FoundPassage
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted
from toolcrib.text.fence import escape_fence
from toolcrib.text.relevance import content_words
from toolcrib.text.tokens import estimate
from toolcrib.tools.documents.document_map import begin_map
from toolcrib.tools.documents.library_access import (
    answered_whole,
    sync_notes,
    up_to_date,
    with_kind,
)
from toolcrib.tools.documents.passages import Citation, citations, displayed, listed, merged
from toolcrib.tools.documents.search_documents import nothing_found, ranking_notes

PACKED = 40
"""Passages that are looked at for a packed answer; as many as fit are given."""
LEAST_CHARS_PER_TOKEN = 8
WHOLE_FILES = 20
"""Files whose whole text is given at most."""
LINE_CHARS = 200
STEM_CHARS = 6
"""Characters by which forms of one word are alike."""
# A sentence ends before a blank, so that 1,234.56 stays whole; so does "3. May" or "J. Smith".
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\b\d\.)(?<!\b\d\d\.)(?<!\b[A-Z]\.)\s+|(?<=[\u3002\uff01\uff1f])|\n+"
)
CITE = "Answer from these alone, and cite them as [1]."

# What asks for all files, and not for what one of them says, in the five languages.
_LISTING = re.compile(
    r"\bhow many\b|\blist (?:all|every|each|the)\b|\bcount\b|\bnumber of\b|"
    r"\b(?:which|what) (?:of the )?(?:files|documents|papers|reports|notes|contracts|invoices)\b|"
    r"\b(?:all|every|each) (?:the |of the )?(?:files?|documents?|papers?|reports?|notes?)\b|"
    r"\bwie viele\b|"
    r"\bwelche (?:der )?(?:dateien|dokumente|berichte|notizen|vertr\u00e4ge|rechnungen)\b|"
    r"\b(?:alle|jede[rs]?) (?:dateien|dokumente|berichte|notizen|datei|dokument)\b|\banzahl\b|"
    r"\bcu\u00e1nt[oa]s\b|\bqu\u00e9 (?:archivos|documentos|informes|notas|contratos|facturas)\b|"
    r"\btodos los (?:archivos|documentos|informes)\b|\benumera\b|"
    r"\u591a\u5c11|\u51e0[\u4e2a\u4efd\u7bc7]|\u5e7e[\u500b\u4efd\u7bc7]|\u54ea\u4e9b|\u5217\u51fa|\u6240\u6709",
    re.IGNORECASE,
)
# Words of such a question that say nothing of what the files are about.
_ABOUT_FILES = re.compile(
    r"\b(?:files?|documents?|papers?|reports?|notes?|list|count|number|mention(?:s|ed|ing)?|"
    r"contain(?:s|ed|ing)?|appears?|occurs?|all|every|each|"
    r"dateien?|dokumente?n?|berichte?|notizen|erw\u00e4hnen|enthalten|anzahl|viele|"
    r"vorkomm(?:t|en)|"
    r"archivos?|documentos?|informes?|notas?|mencionan?|contienen?|aparecen?|hablan|enumera|todos)\b|"
    r"\u6587\u6863|\u6587\u4ef6|\u6a94\u6848|\u63d0\u5230|\u5305\u542b|\u5217\u51fa|\u591a\u5c11|\u54ea\u4e9b|\u6240\u6709|\u51e0\u4e2a|\u5e7e\u500b|\u51e0\u4efd|\u51e0\u7bc7",
    re.IGNORECASE,
)
# What only says that a word follows: "contain the word TODO".
_NAMES_A_WORD = re.compile(
    r"\b(?:the|contains?|mentions?|das|el|la)\s+(?:exact\s+)?"
    r"(?:words?|terms?|phrases?|strings?|wort|begriff|palabra|frase)\b(?=\s+(?!of\b|de\b)\S)",
    re.IGNORECASE,
)
_HOW_OFTEN = re.compile(
    r"\bhow (?:many times|often)\b|\bwie (?:oft|viele male)\b|\bcu\u00e1ntas veces\b|"
    r"\u591a\u5c11\u6b21|\u51e0\u6b21|\u5e7e\u6b21",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|without|never|nicht|keine?[mnrs]?|ohne)\b|n['\u2019]t\b|"
    r"\u6ca1\u6709|\u6c92\u6709|\u4e0d\u662f",
    re.IGNORECASE,
)


@tool(
    group="documents",
    rights=READ,
    keywords=("question", "answer", "rag", "summarize", "cite", "folder", "knowledge"),
    aliases=("ask_files", "ask_folder", "question_documents"),
    argument_aliases={"query": "question", "folder": "path"},
)
async def ask_documents(
    question: str,
    path: WorkspacePath | None = None,
    kind: Annotated[str, Param("pdf, code...", plain=True)] = "",
    start: Annotated[Offset, Param("Files of a list to skip.", unlisted=True)] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Gather what files say on a question, with citations.

    You answer from what it gives: the whole text where that fits, else the best passages. Asked
    how many or which files, it lists every file that matches. For a few passages use
    search_documents.
    """
    if not question.strip():
        raise BadInput("The question is empty.", hint="Send a question.")
    return await answered_whole(lambda: _ask(question, path, kind, start, ctx), ctx)


async def _ask(question: str, path: SafePath | None, kind: str, start: int, ctx: Ctx) -> Result:
    report, entries = await up_to_date(path, "", ask_documents.name, ctx)
    entries = with_kind(entries, kind)
    library = ctx.use(Library)
    everything = await library.index.entries(entries)
    files = [entry for entry in everything if entry.chunks]
    if len(files) < len(everything):
        report.notes.append(f"{counted(len(everything) - len(files), 'file')} could not be read.")
    notes = sync_notes(report)
    if _LISTING.search(question):
        given = {"question": question, "path": path.display if path else "", "kind": kind}
        again = {name: value for name, value in given.items() if value}
        return await _matching_files(question, entries, len(files), report, (start, again), ctx)
    room = room_in(ctx.budget(ask_documents.name)) - sum(map(estimate, notes)) - 40
    if sum(entry.chars for entry in files) <= room * LEAST_CHARS_PER_TOKEN:
        whole = await _whole_text(files, room, ctx)
        if whole is not None:
            text, data = whole
            return Result("\n".join([*notes, text]), data)
    return await _packed(question, entries, len(files), report, room, ctx)


async def _whole_text(
    files: Sequence[EntryInfo], room: int, ctx: Ctx
) -> tuple[str, dict[str, Any]] | None:
    """All of some files; None where that does not fit."""
    if not files or len(files) > WHOLE_FILES:
        return None
    lines = [f"The whole text of {counted(len(files), 'file')}. {CITE}"]
    index, names = ctx.use(Library).index, []
    for number, entry in enumerate(files, 1):
        name = displayed(entry, ctx)
        if not name:
            continue
        names.append(name)
        lines += ["", f"[{number}] {name}", *_pages(await index.passages(entry.key))]
    text = "\n".join(lines)
    return (text, {"mode": "whole", "files": names}) if estimate(text) <= room else None


def _pages(passages: Sequence[FoundPassage]) -> list[str]:
    """The text of a file, each page under its number."""
    lines: list[str] = []
    page = 0
    for passage in merged(passages):
        chunk = passage.chunk
        if chunk.page and chunk.page != page:
            page = chunk.page
            lines.append(f"({passage.entry.facts.get('unit', 'page')} {page})")
        lines.append(escape_fence(chunk.text))
    return lines


async def _packed(
    question: str, entries: EntryFilter, files: int, report: SyncReport, room: int, ctx: Ctx
) -> Result:
    """The best passages that fit, those of one file together and in its order."""
    library, min_score = ctx.use(Library), ctx.config.documents.min_score
    ranking = await library.index.search(question, PACKED, entries, min_score)
    notes = [*sync_notes(report), *ranking_notes(ranking)]
    if not ranking.passages:
        raise nothing_found(ranking, min_score, files, notes, ("", report))
    chosen: list[Citation] = []
    for citation in citations(merged(ranking.passages), ctx):
        cost = estimate(citation.passage.chunk.text) + estimate(citation.label) + 20
        if cost > room and chosen:
            break
        room -= cost
        chosen.append(citation)
    order = {file: place for place, file in enumerate(dict.fromkeys(c.file for c in chosen))}
    chosen.sort(key=lambda c: (order[c.file], c.passage.chunk.start))
    head = f"{counted(len(chosen), 'passage')} of {counted(len(order), 'file')}. {CITE}"
    lines, _ = listed(chosen, ctx.budget(ask_documents.name))
    data = {
        "mode": "passages",
        "passages": [citation.to_json() for citation in chosen],
        "files": files,
        "best": ranking.best,
    }
    return Result("\n".join([head, *notes, "", *lines]), data)


def _telling_line(passage: FoundPassage) -> str:
    """The sentence of a passage that has the most words of the question."""
    words = [word.casefold()[:STEM_CHARS] for word in passage.words]
    sentences = [s for s in _SENTENCE.split(passage.chunk.text) if s.strip()]

    def rank(sentence: str) -> tuple[int, bool]:
        count = sum(word in sentence.casefold() for word in words)
        return count, not sentence.lstrip().startswith("#")  # a heading says less than a sentence

    best = max(sentences, key=rank, default="")
    return one_line(best, LINE_CHARS)


def _about(question: str) -> str:
    """What the files of a list have to say, without what is said of files in general."""
    plain = _HOW_OFTEN.sub(" ", _NAMES_A_WORD.sub(" ", question))
    return " ".join(_ABOUT_FILES.sub(" ", " ".join(content_words(plain))).split()) or question


def _counts(found: int, whole: int, total: int, about: str) -> str:
    """How many files match, and how many of them have all of the words."""
    words = content_words(about)
    files = counted(total, "file")
    if whole == found:
        return f"{found:,} of {files} match"
    if len(words) == 1:
        return (
            f"{whole:,} of {files} have the word {words[0]}; {found - whole:,} have words like it"
        )
    all_of = f"{whole:,} of {files} have all of the words: {', '.join(words)}"
    return f"{all_of}; {found - whole:,} {'more ' if whole else ''}have some of them"


def _what_words_miss(question: str) -> list[str]:
    """What of a question cannot be answered by counting words."""
    notes = []
    if _HOW_OFTEN.search(question):
        notes.append("Files are counted here, not how often a word stands in them.")
    if _NOT.search(question):
        notes.append("Words do not tell what is not so: read the files before you answer.")
    return notes


async def _matching_files(
    question: str,
    entries: EntryFilter,
    total: int,
    report: SyncReport,
    part: tuple[int, dict[str, Any]],
    ctx: Ctx,
) -> Result:
    """Every file that matches with its best passage, and how many were looked at."""
    start, again = part
    library, min_score = ctx.use(Library), ctx.config.documents.min_score
    about = _about(question)
    ranking = await library.index.best_of_each(about, entries, min_score)
    found = citations(ranking.passages, ctx)
    least = "" if ranking.complete and not report.left else "At least "
    found.sort(key=lambda c: c.passage.entry.key not in ranking.with_all)
    whole = sum(c.passage.entry.key in ranking.with_all for c in found)
    counts = _counts(len(found), whole, total, about)
    head = f"{least}{counts}. These are counted by their words: no model has read them."
    lines = [head, *_what_words_miss(question), *sync_notes(report), *ranking_notes(ranking)]
    job = ""
    if ctx.config.documents.model and found and not start:
        job = await begin_map(question, [c.passage.entry for c in found], ctx)
        lines.append(f"Job {job}: {ctx.config.documents.model} reads each of them and answers.")
    room = room_in(ctx.budget(ask_documents.name)) - sum(map(estimate, lines))
    rows: list[str] = []
    for number, citation in enumerate(found[start:], start + 1):
        passage = escape_fence(_telling_line(citation.passage))
        row = f"[{number}] {citation.label} ({citation.passage.score:.2f}): {passage}"
        room -= estimate(row) + 1
        if room < 0 and rows:
            break
        rows.append(row)
    end = start + len(rows)
    following = Next(ask_documents.name, {**again, "start": end}) if end < len(found) else None
    data = {
        "mode": "files",
        "looked_at": total,
        "matched": len(found),
        "have_all_words": whole,
        "complete": ranking.complete,
        "files": [
            {"path": c.file, "place": c.place, "score": c.passage.score} for c in found[start:end]
        ],
        "job": job,
    }
    return Result("\n".join([*lines, *rows]), data, truncated=following is not None, next=following)
