"""The stage `projects`: a project that a message names, switched to once the user says yes."""

from __future__ import annotations

import re

from toolcrib.chatflow.phrases import heard, language_of, worded
from toolcrib.chatflow.prompt import Prompt, StageContext
from toolcrib.core.errors import NotFound
from toolcrib.memory.projects import ProjectInfo, Projects
from toolcrib.memory.session_records import SessionRecords
from toolcrib.text.cleaner import one_line

MAX_NAME_WORDS = 3
MIN_NAME_CHARS = 3
SUMMARY_CHARS = 600
STAGE, DONE = "projects", "projects:yes"
_WORD = re.compile(r"[\w.+#]+")


async def projects(prompt: Prompt, context: StageContext) -> None:
    """Ask whether to switch to a project that is named, and hear the answer."""
    if not prompt.is_new_turn:
        prompt.note(STAGE, "no new message")
        return
    language = context.config.stages.language or language_of(prompt.question)
    known = [project for project in await context.use(Projects).all() if project.registered]
    questions = prompt.previous_additions(STAGE)
    if questions and heard(prompt.question) is not None:
        wanted = next((p for p in known if any(_mark(p) in a.text for a in questions)), None)
        if wanted is not None and heard(prompt.question):
            await _switch(wanted, prompt, context, language)
            return
        prompt.note(STAGE, "the answer is no")
        return
    directory = context.ctx.session.directory if context.ctx else ""
    here = await context.use(Projects).current(directory)
    named = named_project(prompt.question, known)
    if named is None or named.id == here.id:
        prompt.note(STAGE, "none named")
        return
    prompt.add(STAGE, worded("project", language, name=named.name, path=_path(named)))
    prompt.note(STAGE, f"asks about {named.name}")


def named_project(text: str, known: list[ProjectInfo]) -> ProjectInfo | None:
    """The project whose name, of one to three words and in any spelling, stands in a text."""
    words = [word.casefold() for word in _WORD.findall(text[:4_000])]
    spoken = {
        "".join(_plain(word) for word in words[at : at + count])
        for count in range(1, MAX_NAME_WORDS + 1)
        for at in range(len(words) - count + 1)
    }
    fitting = [p for p in known if len(_plain(p.name)) >= MIN_NAME_CHARS]
    found = [p for p in fitting if _plain(p.name) in spoken]
    return max(found, key=lambda project: len(project.name), default=None)


def _plain(word: str) -> str:
    return re.sub(r"[\W_]+", "", word.casefold())


def _path(project: ProjectInfo) -> str:
    return one_line(project.path, 300)


def _mark(project: ProjectInfo) -> str:
    return f"({_path(project)})"


async def _switch(
    project: ProjectInfo, prompt: Prompt, context: StageContext, language: str
) -> None:
    """Make a folder the current one of the conversation, and say what was done there last."""
    if context.ctx is not None and project.path:
        context.ctx.session.directory = project.path
        context.ctx.session.changed = True
    lines = [worded("switched", language, name=project.name, path=_path(project))]
    try:
        record = await context.use(SessionRecords).get(None, project.id, prompt.conversation)
    except NotFound:
        record = None
    if record is not None and not record.outside:
        parts = [f"{name}: {one_line(text, SUMMARY_CHARS)}" for name, text in record.parts.items()]
        lines += [worded("dossier", language), *parts] if parts else []
    prompt.add(DONE, "\n".join(lines) + "]")
    prompt.note(STAGE, f"switched to {project.name}")
