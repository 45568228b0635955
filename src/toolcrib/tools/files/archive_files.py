"""`archive_files`: packing, unpacking and listing archives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, NotFound, PathDenied
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, Right, other_names, tool
from toolcrib.files.archives import (
    Archive,
    ArchiveLimits,
    ArchiveMember,
    Format,
    MemberContent,
    PackedEntry,
    collect_entries,
    format_of,
    open_archive,
    pack,
    without_refused,
)
from toolcrib.files.changes.cached_code import LEFT_OUT, is_cached_code
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import ANYTHING, Step
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, some_of
from toolcrib.text.tokens import estimate
from toolcrib.tools.files.argument_adapters import adapt_archive

MAX_LISTED = 5
MAX_NAMED = 20


def _effective_rights(arguments: Mapping[str, Any]) -> Right:
    return READ if arguments.get("action") == "list" else READ | WRITE


@tool(
    group="files",
    rights=READ | WRITE,
    keywords=("zip", "tar", "gz", "tgz", "compress", "extract", "unzip", "decompress"),
    argument_aliases=other_names(
        action=("operation", "mode"),
        archive=("archive_path", "zip_path", "output"),
        paths=("path",),
        folder=("to",),
    ),
    destructive=True,
    effective_rights=_effective_rights,
    argument_adapter=adapt_archive,
)
async def archive_files(
    action: Literal["pack", "unpack", "list"],
    archive: Annotated[WorkspacePath, Param("zip, tar, tar.gz, tar.bz2 or tar.xz file.")],
    paths: Annotated[list[WorkspacePath] | None, Param("What to pack or unpack.")] = None,
    folder: Annotated[WorkspacePath | None, Param("Where to unpack.")] = None,
    overwrite: Annotated[bool, Param("Replace files there.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Pack files into an archive, unpack one, or list it.

    All or nothing. Protected files are left out; unsafe archives are refused.
    """
    if action == "pack":
        return await _pack(archive, paths or [], overwrite, ctx)
    if action == "list":
        return await _list(archive, ctx)
    here = folder or ctx.use(Workspace).start(ctx.session.directory)
    return await _unpack(archive, paths or [], here, overwrite, ctx)


@dataclass(frozen=True, slots=True)
class _Packing:
    form: Format
    members: list[PackedEntry]
    check: Checkpoint

    def chunks(self) -> Iterator[bytes]:
        return pack(self.form, self.members, self.check)


async def _pack(archive: SafePath, paths: list[SafePath], overwrite: bool, ctx: Ctx) -> Result:
    if not paths:
        raise BadInput("paths is missing.", hint="Send the files and folders to pack.")
    archive.gate.check(archive, "write")
    form = format_of(archive.name)
    names = [path.name if path.parts and path.display != "." else "" for path in paths]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        names = ["/".join(path.parts) for path in paths]

    def gathered(check: Checkpoint) -> tuple[list[PackedEntry], list[str]]:
        found, left_out = collect_entries(paths, names, check, "write")
        found, refused = without_refused(found)
        return found, [*left_out, *refused]

    members, left_out = await in_thread(gathered, ctx.deadline)
    members = [member for member in members if str(member.path) != str(archive)]
    step = Step(archive_files.name)
    source = _Packing(form, members, Checkpoint(ctx.deadline))
    step.write(archive, source, expected=ANYTHING if overwrite else "")
    applied = await ctx.use(Changes).apply(step, ctx)
    files = sum(member.kind == "file" for member in members)
    text = f"Packed {counted(files, 'file')} into {archive.display}"
    if left_out:
        listed = some_of(left_out, MAX_LISTED)
        text += f"\nLeft out, as it could not be unpacked (protected, links, names): {listed}"
    return Result(
        text=text,
        data={
            "archive": archive.display,
            "files": files,
            "left_out": left_out,
            "step": applied.step,
        },
    )


async def _list(archive: SafePath, ctx: Ctx) -> Result:
    def work(check: Checkpoint) -> tuple[ArchiveMember, ...]:
        with archive.open_read() as handle:
            opened = open_archive(
                handle.file, handle.size, ArchiveLimits(), check, listing=True, name=archive.name
            )
            return opened.members

    members = await in_thread(work, ctx.deadline)
    room = room_in(ctx.budget(archive_files.name))
    total = sum(member.size for member in members)
    lines = [
        f"{archive.display}: {counted(len(members), 'entry', 'entries')}, {counted(total, 'byte')}"
    ]
    if any(member.unsafe for member in members):
        lines.append("It is not unpacked as long as it holds what stands in brackets.")
    spent = sum(map(estimate, lines))
    for number, member in enumerate(members):
        line = f"{member.name}/" if member.kind == "folder" else f"{member.name}  {member.size:,}"
        line += f"  [{member.unsafe}]" if member.unsafe else ""
        spent += estimate(line + "\n")
        if spent > room:
            lines.append(f"and {len(members) - number:,} more")
            break
        lines.append(line)
    entries = [
        {"name": m.name, "kind": m.kind, "size": m.size}
        | ({"unsafe": m.unsafe} if m.unsafe else {})
        for m in members[: len(lines)]
    ]
    return Result(
        text="\n".join(lines),
        data={"archive": archive.display, "entries": entries, "total": len(members)},
    )


async def _unpack(
    archive: SafePath, paths: list[SafePath], folder: SafePath, overwrite: bool, ctx: Ctx
) -> Result:
    step = Step(archive_files.name)

    def opened(check: Checkpoint) -> Archive:
        return open_archive(handle.file, handle.size, ArchiveLimits(), check, name=archive.name)

    handle = await in_thread(lambda _: archive.open_read(), ctx.deadline)
    try:
        found = await in_thread(opened, ctx.deadline)
        if folder.parts:
            step.make_folder(folder)
        base = len(ctx.use(Workspace).start(ctx.session.directory).parts)
        wanted = _selected(archive, found.members, [path.parts[base:] for path in paths])
        members = [each for each in wanted if not is_cached_code(each.parts)]
        for member in members:
            target = _target(folder, member)
            if member.kind == "folder":
                step.make_folder(target)
                continue
            mtime = int(member.mtime * 1e9) if member.mtime > 0 else None
            mode = member.mode if member.mode is None else member.mode | 0o600
            expected = ANYTHING if overwrite else ""
            step.write(
                target, MemberContent(found, member), expected=expected, mode=mode, mtime=mtime
            )
        applied = await ctx.use(Changes).apply(step, ctx)
    finally:
        handle.close()
    files = sum(member.kind == "file" for member in members)
    text = f"Unpacked {counted(files, 'file')} into {folder.display}"
    if len(members) < len(wanted):
        text += f"\n{LEFT_OUT}"
    text += applied.note_line
    return Result(text=text, data={"folder": folder.display, "files": files, "step": applied.step})


def _selected(
    archive: SafePath, members: Sequence[ArchiveMember], paths: Sequence[tuple[str, ...]]
) -> list[ArchiveMember]:
    """The members of these names, with what is in them; all for none.

    Raises:
        NotFound: there is none of a name.
    """
    for path in paths:
        if not any(member.parts[: len(path)] == path for member in members):
            names = [member.name for member in members if member.kind == "file"]
            raise NotFound(
                f"{archive.display} has no {'/'.join(path)}.",
                hint=f"Nothing was unpacked. It has: {some_of(names, MAX_NAMED)}.",
            )
    return [m for m in members if not paths or any(m.parts[: len(p)] == p for p in paths)]


def _target(folder: SafePath, member: ArchiveMember) -> SafePath:
    if any(fold(part) == ".git" for part in member.parts):
        raise PathDenied(
            f"Access denied: the archive holds {member.name}, and .git is never written.",
            hint="Nothing was unpacked. Such an archive is not unpacked by this tool.",
            rule=".git",
        )
    target = folder.at((*folder.parts, *member.parts))
    target.gate.check(target, "write")
    return target
