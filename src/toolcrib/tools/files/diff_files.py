"""`diff_files`: what differs between two files or folders."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.params import Param
from toolcrib.core.tool import READ, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.tools.files.comparison.contents import compare_files, need_two_of_a_kind
from toolcrib.tools.files.comparison.folders import compare_folders


@tool(
    group="files",
    rights=READ,
    keywords=("compare", "difference", "unified", "changes between", "cmp"),
    aliases=("file_diff", "compare_files", "diff", "diff_file", "fs_diff", "compare_directories"),
    argument_aliases={
        "file_a": "a",
        "file1": "a",
        "path_a": "a",
        "path1": "a",
        "old": "a",
        "old_path": "a",
        "left": "a",
        "original": "a",
        "source": "a",
        "file_b": "b",
        "file2": "b",
        "path_b": "b",
        "path2": "b",
        "new": "b",
        "new_path": "b",
        "right": "b",
        "modified": "b",
        "target": "b",
    },
)
async def diff_files(
    a: Annotated[WorkspacePath, Param("The older file or folder.")],
    b: Annotated[WorkspacePath, Param("The newer one.")],
    *,
    ctx: Ctx,
) -> Result:
    """Compare two files or two folders.

    Texts give a unified diff; other encodings and line ends are named. Binary and very
    large files are compared by bytes, folders by names, sizes and content.
    """

    def work(check: Checkpoint) -> tuple[str, dict[str, Any]]:
        if need_two_of_a_kind(a, b) == "folder":
            return compare_folders(a, b, check)
        return compare_files(a, b, check)

    text, data = await in_thread(work, ctx.deadline)
    return Result(text=text, data=data)
