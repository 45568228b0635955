"""References and renames, whatever the language of the file."""

from __future__ import annotations

import re

from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.places import Place, References
from toolcrib.code.project import Project
from toolcrib.core.errors import BadInput

KNOWN = "Python, JavaScript and TypeScript"


async def find_references(project: Project, path: str, line: int, name: str) -> References:
    """Every place that names a symbol; in other languages only what looks like it.

    Raises:
        NotFound, BadInput: the name means nothing there, or several things.
        MissingExtra: a library is not installed.
    """
    language = language_of(path)
    if language == "python":
        from toolcrib.code.python.references import references

        return await references(project, path, line, name)
    if language in SCRIPTS:
        from toolcrib.code.javascript.references import references as script_references

        return await script_references(project, path, line, name)
    return _by_words(project, language, name)


async def find_renamed(
    project: Project, path: str, line: int, name: str, new: str
) -> tuple[References, list[str]]:
    """The same for a rename, and why the new name cannot be given, a sentence each.

    Raises:
        BadInput: the language is not known well enough; else as `find_references`.
    """
    language = language_of(path)
    if language == "python":
        from toolcrib.code.python.references import conflicts, references

        found = await references(project, path, line, name)
        return found, await conflicts(project, found, new)
    if language in SCRIPTS:
        from toolcrib.code.javascript.references import examined

        return await examined(project, path, line, name, new)
    raise BadInput(
        f"Names are changed in {KNOWN} only, not in {project.display(path)}.",
        hint="find_usages lists where the word stands; edit_file and replace_in_files change text.",
    )


def _by_words(project: Project, language: str, name: str) -> References:
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    found = References(name=name)
    paths, _ = project.mentioning(name, [language])
    for path in paths:
        if language_of(path) != language:
            continue
        for number, line in enumerate(project.text(path).split("\n"), 1):
            for match in word.finditer(line):
                found.possible.append(Place(path, number, match.start(), match.end()))
    found.obstacles.append(f"Scopes are known of {KNOWN} only.")
    return found
