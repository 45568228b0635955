"""The stage `documents`: attached files whole where they fit, else passages with citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.chatflow.phrases import language_of, worded
from toolcrib.chatflow.prompt import Prompt, StageContext
from toolcrib.chatflow.stages.attachments import AttachedFiles, AttachedText
from toolcrib.chatflow.token_count import Calibration, count_messages, count_text, count_tools
from toolcrib.core.errors import ToolError
from toolcrib.documents.library import Library
from toolcrib.files.paths import Workspace
from toolcrib.retrieval.entries import FoundPassage
from toolcrib.system.threads import in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.text.fence import escape_fence, fence
from toolcrib.text.relevance import Match, choose, rank

END = "--- END OF DOCUMENT CONTEXT ---"
PASSAGE_TOKENS = 400
"""Tokens that each of the passages may have on average."""


@dataclass(frozen=True, slots=True)
class _Passages:
    """Passages as lines with their places, and the score of the best there is."""

    texts: tuple[tuple[str, str], ...] = ()
    best: float = 0.0
    is_empty: bool = True
    """Whether there was nothing to search in at all."""


async def documents(prompt: Prompt, context: StageContext) -> None:
    """Add what documents say to a new message.

    On the first turn attached files go whole into the system part where they fit; they stand
    there in every later request. Else, and on later turns, passages that fit the message are
    added to it, of attached files and of the indexed documents of the workspace.
    """
    if not prompt.is_new_turn or not prompt.question.strip():
        prompt.note("documents", "no new message")
        return
    files = await context.use(AttachedFiles).listed(prompt.conversation)
    settings = context.config.stages
    language = settings.language or language_of(prompt.question)
    if files and prompt.is_first_turn and await _fit(files, prompt, context):
        parts = [fence(file.text, file.name) for file in files]
        prompt.add(
            "documents", "\n\n".join([worded("documents", language), *parts, END]), system=True
        )
        prompt.note("documents", f"{len(files)} attached files whole")
        return
    whole = {a.stage for a in prompt.earlier if a.system}
    attached = [] if "documents" in whole else files
    found = [await _of_files(attached, prompt, context), await _of_library(prompt, context)]
    if all(passages.is_empty for passages in found):
        prompt.note("documents", "there are none")
        return
    texts = [text for passages in found for text in passages.texts]
    limit = context.config.documents.limit
    best = max(passages.best for passages in found)
    if not texts:
        least = context.config.documents.min_score
        note = worded("nothing", language, best=f"{best:.2f}", least=f"{least:g}")
        prompt.add("documents", note)
        prompt.note("documents", f"nothing found (best score {best:.2f} < {least:g})")
        return
    lines = [worded("documents", language)]
    for number, (label, text) in enumerate(texts[:limit], 1):
        lines += [f"[{number}] {label}", escape_fence(text.rstrip()), ""]
    prompt.add("documents", "\n".join([*lines, END]))
    prompt.note("documents", f"{min(len(texts), limit)} passages, best score {best:.2f}")


async def _fit(files: Sequence[AttachedText], prompt: Prompt, context: StageContext) -> bool:
    """Whether whole files take no more than their share of what is free of the window."""
    config = context.config
    calibration = context.use(Calibration)
    window = prompt.window or await calibration.window(prompt.model) or config.guard.limit
    ratio = await calibration.ratio(prompt.model, prompt.conversation)
    used = (count_messages(prompt.messages) + count_tools(prompt.tools)) * ratio
    free = max(window - prompt.answer_tokens - used, 0)
    wanted = sum(count_text(file.text) for file in files) * ratio
    return wanted <= config.stages.document_share * free


async def _of_files(
    files: Sequence[AttachedText], prompt: Prompt, context: StageContext
) -> _Passages:
    if not files:
        return _Passages()
    pages = [(file.name, file.text) for file in files]
    config = context.config.documents
    ranking = await in_thread(lambda check: rank(prompt.question, pages, check))
    best = max((match.share for match in ranking.matches), default=0.0)
    matches = choose(ranking, config.limit * PASSAGE_TOKENS)
    chosen = [match for match in matches if match.share > config.min_score][: config.limit]
    return _Passages(
        tuple((_label(match, files), match.passage.text_with_headings) for match in chosen),
        best,
        is_empty=False,
    )


def _label(match: Match, files: Sequence[AttachedText]) -> str:
    file = files[match.page]
    line = file.text.count("\n", 0, match.passage.start) + 1
    headings = " > ".join(one_line(heading, 80) for heading in match.passage.headings)
    tail = f", {headings}" if headings else ""
    return f"{file.name}:{line} (score {match.share:.2f}{tail})"


async def _of_library(prompt: Prompt, context: StageContext) -> _Passages:
    """Passages of what is indexed already; nothing is indexed for a chat."""
    library = context.use(Library)
    try:
        if not await library.sources():
            return _Passages()
        config = context.config.documents
        ranking = await library.index.search(
            prompt.question, config.limit, min_score=config.min_score
        )
    except ToolError as error:
        prompt.note("documents", f"the index was left out: {error.message}")
        return _Passages()
    labelled = [(_place(passage, context), passage.chunk.text) for passage in ranking.passages]
    texts = tuple((label, text) for label, text in labelled if label)
    return _Passages(texts, ranking.best, is_empty=False)


def _place(passage: FoundPassage, context: StageContext) -> str:
    """File and place of a passage; "" where it may not be read any more."""
    try:
        path = context.use(Workspace).resolve(passage.entry.key)
        path.gate.check(path, "read")
    except ToolError:
        return ""
    chunk = passage.chunk
    place = f", page {chunk.page}" if chunk.page else f":{chunk.line}-{chunk.last_line}"
    return f"{one_line(path.display, 200)}{place} (score {passage.score:.2f})"
