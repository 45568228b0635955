"""`scan_secrets`: keys and passwords in files, and in what was committed once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import TimedOut
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, tool
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.files.search.globs import Globs
from toolcrib.files.search.hits import text_of
from toolcrib.files.search.scope import scope_of, walk
from toolcrib.state.secret_finder import find_secrets
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, printable, some_of
from toolcrib.tools.system.secret_history import OldSecret, scan_history

MAX_FILE_BYTES = 5_000_000
"""Of a file that is looked into."""
MAX_LISTED = 200
FOLDERS = (".github", ".gitlab", ".circleci", ".devcontainer", ".config", ".docker", ".azure")
"""Hidden folders that projects keep settings in."""


@dataclass(slots=True)
class Scan:
    """What was found in files, and what was not looked into."""

    found: list[dict[str, Any]] = field(default_factory=list)
    values: set[str] = field(default_factory=set)
    files: int = 0
    protected: list[str] = field(default_factory=list)
    large: list[str] = field(default_factory=list)
    ended: bool = True


@tool(
    group="system",
    rights=READ,
    keywords=("credentials", "leak", "api keys", "passwords", "gitleaks", "trufflehog", "audit"),
    aliases=("secret_scan", "find_secrets", "scan_for_secrets"),
    argument_aliases={"directory": "path", "folder": "path", "file": "path"},
    seconds=600.0,
)
async def scan_secrets(
    path: WorkspacePath | None = None,
    exclude: Annotated[list[str] | None, Param("Globs.", plain=True)] = None,
    history: Annotated[bool, Param("Also all commits of git.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Find keys, tokens and passwords in files.

    It tells file, line and kind, never the secret. Ignored files are left out, and protected
    ones such as .env, where secrets may be. With history also what commits once held.
    """
    start = path or ctx.use(Workspace).start(ctx.session.directory)
    unwanted = Globs([f"!{glob.lstrip('!')}" for glob in exclude or ()])
    scan = await in_thread(lambda check: _scan(start, unwanted, check), ctx.deadline)
    old = await scan_history(ctx, start, unwanted) if history else None
    lines, data = _described(scan, old)
    return Result("\n".join(lines), data, private=True)


def _scan(start: SafePath, unwanted: Globs, check: Checkpoint) -> Scan:
    scan = Scan()
    with start.open() as handle:
        if handle.kind == "file":
            data = handle.file.read(MAX_FILE_BYTES + 1)
            _look(scan, start.display, data if len(data) <= MAX_FILE_BYTES else None)
            return scan
        scope = scope_of(start, (), FOLDERS)
        try:
            for level in walk(scope, handle, check):
                scan.protected += [scope.display(level.prefix + name) for name in level.barred]
                for name in level.files:
                    place = level.prefix + name
                    if unwanted.fits(place):
                        check()
                        _look(scan, scope.display(place), level.read(name, MAX_FILE_BYTES))
        except TimedOut:
            scan.ended = False
    return scan


def _look(scan: Scan, name: str, data: bytes | None) -> None:
    if data is None:
        scan.large.append(name)
        return
    plain = text_of(data)
    if plain is None:
        return
    scan.files += 1
    text = plain.decode("utf-8", "replace")
    for found in find_secrets(text):
        line = text.count("\n", 0, found.start) + 1
        scan.values.add(text[found.start : found.end])
        scan.found.append({"file": name, "line": line, "kind": found.kind})


def _described(scan: Scan, old: list[OldSecret] | None) -> tuple[list[str], dict[str, Any]]:
    names = [str(found["kind"]) for found in scan.found]
    kinds = Counter("value of a name" if n.startswith("value of") else n for n in names)
    head = f"{len(scan.found):,} in {counted(scan.files, 'file')}"
    if kinds:
        head += ": " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(6))
    lines = [head if scan.found else f"No secrets found in {counted(scan.files, 'file')}."]
    listed = scan.found[:MAX_LISTED]
    lines += [f"{printable(f['file'])}:{f['line']} {f['kind']}" for f in listed]
    if len(scan.found) > len(listed):
        lines.append(f"… {len(scan.found) - len(listed):,} more (in data)")
    data: dict[str, Any] = {"found": scan.found, "files": scan.files, "protected": scan.protected}
    if old is not None:
        gone = [one for one in old if one.value not in scan.values]
        data["history"] = [one.to_json(now=one.value in scan.values) for one in old]
        lines.append(
            f"In commits: {len(old):,}, of which {len(gone):,} are in no file now; who has the "
            "repository has them still."
            if old
            else "In commits: none."
        )
        lines += [
            f"{one.commit[:10]} {printable(one.file)}:{one.line} {one.kind}"
            for one in gone[:MAX_LISTED]
        ]
    if scan.protected:
        hidden = some_of(scan.protected, 5)
        lines.append(f"Not looked into, protected: {hidden}")
    if scan.large:
        lines.append(f"Not looked into, too large or unreadable: {some_of(scan.large, 5)}")
    if not scan.ended:
        lines.append("The time was over before all files were seen: name a folder.")
    if scan.found or (old or ()):
        lines.append("What is real should be revoked: to delete the line is not enough.")
    return lines, data | {"complete": scan.ended}
