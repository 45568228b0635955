"""`hash_file`: the checksum of a file."""

from __future__ import annotations

import hashlib
from hmac import compare_digest
from typing import Annotated, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, other_names, tool
from toolcrib.files.handles import Handle
from toolcrib.files.paths import WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted

BLOCK_BYTES = 1 << 20
BROKEN = {"md5", "sha1"}
"""Good for noticing an accident, not for keeping anybody out."""


@tool(
    group="system",
    rights=READ,
    keywords=("checksum", "digest", "md5sum", "sha256sum", "verify", "integrity", "fingerprint"),
    aliases=("file_hash", "checksum_file"),
    argument_aliases=other_names(
        path=("file", "file_path", "filename"),
        algorithm=("algo", "type", "method"),
        expected=("checksum",),
    ),
)
async def hash_file(
    path: WorkspacePath,
    algorithm: Literal["sha256", "sha1", "md5", "sha512", "blake2b"] = "sha256",
    expected: Annotated[str, Param("To compare with.")] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Compute the checksum of a file, of any size.

    With `expected` it also says whether that is the one.
    """

    def work(check: Checkpoint) -> tuple[str, int]:
        with path.open() as handle:
            if handle.kind != "file":
                raise BadInput(f"{path.display} is no file.", hint="Name a file in it.")
            return _digest(handle, algorithm, check)

    found, size = await in_thread(work, ctx.deadline)
    data = {"path": path.display, "algorithm": algorithm, "hash": found, "bytes": size}
    lines = [f"{found}  {path.display} ({algorithm}, {counted(size, 'byte')})"]
    wanted = "".join(expected.lower().rpartition(":")[2].split())
    if wanted:
        _need_digest(wanted, len(found), algorithm)
        data["matches"] = compare_digest(wanted.encode(), found.encode())
        lines.append("It is the expected one." if data["matches"] else f"NOT as expected: {wanted}")
    return Result("\n".join(lines), data)


def _digest(handle: Handle, algorithm: str, check: Checkpoint) -> tuple[str, int]:
    digest, size = hashlib.new(algorithm, usedforsecurity=algorithm not in BROKEN), 0
    while block := handle.file.read(BLOCK_BYTES):
        check()
        digest.update(block)
        size += len(block)
    return digest.hexdigest(), size


def _need_digest(wanted: str, digits: int, algorithm: str) -> None:
    if len(wanted) != digits or not all(c in "0123456789abcdef" for c in wanted):
        raise BadInput(
            f"expected is no {algorithm} checksum, which has {digits} hexadecimal digits.",
            hint="Leave it out, or name the algorithm that it was made with.",
        )
