"""File tools as models call them who learnt other systems: the right tool, the right arguments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import each_case
from toolcrib.core.errors import BadInput
from toolcrib.core.names import plain
from toolcrib.core.registry import Registry
from toolcrib.core.tool import Tool
from toolcrib.middleware.validate import rename
from toolcrib.toolbox import installed

REGISTRY = Registry(installed())
TOOLS = list(REGISTRY)
EDIT = {"path": "a", "old": "x", "new": "y"}
PATCH = "*** Begin Patch\n*** End Patch"

SENT: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    # the official filesystem server
    ("read_text_file", {"path": "a", "head": 5}, "read_file", {"path": "a", "lines": 5}),
    ("read_text_file", {"path": "a", "tail": "5"}, "read_file", {"path": "a", "start": "-5"}),
    ("read_media_file", {"path": "a"}, "read_file", {"path": "a"}),
    ("read_multiple_files", {"paths": ["a"]}, "read_file", {"paths": ["a"]}),
    ("create_directory", {"path": "a"}, "make_directory", {"path": "a"}),
    (
        "list_directory_with_sizes",
        {"path": "a", "sortBy": "size"},
        "list_directory",
        {"path": "a", "sort": "size"},
    ),
    (
        "move_file",
        {"source": "a", "destination": "b"},
        "move_path",
        {"source": "a", "destination": "b"},
    ),
    ("get_file_info", {"path": "a"}, "file_info", {"path": "a"}),
    ("list_allowed_directories", {}, "get_workspace", {}),
    (
        "edit_file",
        {"path": "a", "edits": [{"oldText": "x", "newText": "y"}], "dryRun": False},
        "edit_file",
        {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]},
    ),
    # Desktop Commander
    (
        "edit_block",
        {"file_path": "a", "old_string": "x", "new_string": "y", "expected_replacements": 1},
        "edit_file",
        EDIT,
    ),
    (
        "start_search",
        {"path": ".", "pattern": "x", "searchType": "content", "ignoreCase": True},
        "search_files",
        {"path": ".", "pattern": "x", "literal": False, "case_sensitive": False},
    ),
    # Claude Code
    ("Read", {"file_path": "a", "offset": 3, "limit": 9}, "read_file", {"start": 3, "lines": 9}),
    ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, "edit_file", EDIT),
    ("MultiEdit", {"file_path": "a", "edits": []}, "edit_file", {"path": "a", "edits": []}),
    ("Write", {"file_path": "a", "content": "x"}, "write_file", {"path": "a", "content": "x"}),
    ("Glob", {"pattern": "*.py", "path": "."}, "find_files", {"query": "*.py", "path": "."}),
    (
        "Grep",
        {"pattern": "x", "output_mode": "files_with_matches", "-n": True, "type": "py"},
        "search_files",
        {"pattern": "x", "show": "files", "glob": "*.py"},
    ),
    (
        "Grep",
        {"pattern": "x", "-A": 2, "-B": 4, "-i": True, "output_mode": "content"},
        "search_files",
        {"pattern": "x", "context": 4, "case_sensitive": False, "show": "lines"},
    ),
    ("LS", {"path": "a", "ignore": []}, "list_directory", {"path": "a"}),
    # Codex
    ("apply_patch", {"input": PATCH}, "apply_patch", {"patch": PATCH}),
    ("list_dir", {"dir_path": "a", "depth": 2}, "list_directory", {"path": "a", "depth": 2}),
    ("grep_files", {"pattern": "x", "include": "*.py"}, "search_files", {"glob": "*.py"}),
    ("view_image", {"path": "a.png"}, "read_file", {"path": "a.png"}),
    # Cline, Roo
    ("write_to_file", {"path": "a", "content": "x", "line_count": 1}, "write_file", {"path": "a"}),
    ("list_files", {"path": ".", "recursive": "true"}, "list_directory", {"depth": 10}),
    (
        "search_files",
        {"path": ".", "regex": "x", "file_pattern": "*.py"},
        "search_files",
        {"pattern": "x", "glob": "*.py"},
    ),
    ("search_files", {"path": ".", "regex": "1"}, "search_files", {"pattern": "1"}),
    ("search_and_replace", {"path": "a", "search": "x", "replace": "y"}, "edit_file", EDIT),
    ("apply_diff", {"path": "a", "diff": PATCH}, "apply_patch", {"path": "a", "patch": PATCH}),
    # Gemini CLI
    ("replace", {"file_path": "a", "old_string": "x", "new_string": "y"}, "edit_file", EDIT),
    ("replace", {**EDIT, "instruction": "why", "expected_replacements": "1"}, "edit_file", EDIT),
    ("search_file_content", {"pattern": "x", "include": "*"}, "search_files", {"pattern": "x"}),
    ("read_many_files", {"paths": ["a"], "exclude": []}, "read_file", {"paths": ["a"]}),
    # opencode, VS Code, Cursor, text editors
    ("read", {"filePath": "a"}, "read_file", {"path": "a"}),
    ("list", {"path": "a"}, "list_directory", {"path": "a"}),
    ("patch", {"patchText": PATCH}, "apply_patch", {"patch": PATCH}),
    (
        "replace_string_in_file",
        {"filePath": "a", "oldString": "x", "newString": "y", "explanation": "why"},
        "edit_file",
        EDIT,
    ),
    (
        "read_file",
        {"target_file": "a", "start_line_one_indexed": 1, "should_read_entire_file": False},
        "read_file",
        {"path": "a", "start": 1},
    ),
    (
        "str_replace_editor",
        {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"},
        "edit_file",
        EDIT,
    ),
    ("view", {"path": "a", "view_range": [2, -1]}, "read_file", {"start": 2, "end": -1}),
    ("read_file", {"path": "a", "lines": "2-3"}, "read_file", {"start": 2, "end": 3}),
    ("read_file", {"path": ["a", "b"]}, "read_file", {"paths": ["a", "b"]}),
    # the five systems
    ("read_file", {"file_name": "a", "max_length": 500}, "read_file", {"path": "a"}),
    ("read_file_chunked", {"file_name": "a", "chunk_size": 9}, "read_file", {"path": "a"}),
    ("save_file", {"file_name": "a", "content": "x"}, "write_file", {"path": "a"}),
    (
        "replace_text_in_file",
        {"file_name": "a", "old_string": "x", "new_string": "y"},
        "edit_file",
        EDIT,
    ),
    (
        "multi_replace_text",
        {"file_name": "a", "replacements": [{"start_line": 1, "old": "x", "new": "y"}]},
        "edit_file",
        {"path": "a", "edits": [{"start_line": 1, "old": "x", "new": "y"}]},
    ),
    (
        "insert_at_line",
        {"file_name": "a", "line_number": 2, "content_to_insert": "x"},
        "edit_lines",
        {"path": "a", "start": 2, "content": "x", "operation": "insert"},
    ),
    ("make_directory", {"directory_name": "a"}, "make_directory", {"path": "a"}),
    ("delete_files_by_pattern", {"pattern": "/x/"}, "delete_path", {"pattern": "/x/"}),
    ("delete_files_by_pattern", {"pattern": "x$"}, "delete_path", {"pattern": "/x$/"}),
    ("fuzzy_find_local_files", {"query": "a", "max_results": 5}, "find_files", {"limit": 5}),
    ("find_files", {"pattern": "a", "max_depth": 5}, "find_files", {"query": "a"}),
    ("get_file_metadata", {"path": "a"}, "file_info", {"path": "a"}),
    ("change_directory", {"directory": "a"}, "change_directory", {"path": "a"}),
    ("get_current_working_directory", {}, "get_workspace", {}),
    ("analyze_project", {}, "project_overview", {}),
    ("file_diff", {"file_a": "a", "file_b": "b"}, "diff_files", {"a": "a", "b": "b"}),
    ("directory_tree", {"max_depth": 2, "show_size": True}, "directory_tree", {"sizes": True}),
    (
        "ripgrep",
        {"pattern": "x", "mode": "literal", "exclude_globs": ["a/**"], "max_depth": 3},
        "search_files",
        {"pattern": "x", "literal": True, "glob": "!a/**"},
    ),
    (
        "search_directory",
        {"pattern": "x", "use_regex": False, "context_lines": 2, "exclude": ["b"]},
        "search_files",
        {"literal": True, "context": 2, "glob": "!b"},
    ),
    ("search_in_file", {"file_path": "a", "pattern": "x"}, "search_files", {"path": "a"}),
    ("find_replace_all", {"pattern": "x", "replacement": "y"}, "replace_in_files", {}),
    ("read_file_range", {"path": "a", "start_line": 1, "end_line": 2}, "read_file", {"end": 2}),
    ("edit_file_with_diff", {"file_path": "a", "unified_diff": "d"}, "apply_patch", {"path": "a"}),
    ("watch_file", {"path": "a"}, "watch_paths", {"path": "a", "action": "start"}),
    (
        "delete_lines_in_file",
        {"start_line": 1, "end_line": 2},
        "edit_lines",
        {"operation": "delete"},
    ),
    ("unzip", {"archive": "a.zip", "folder": "b"}, "archive_files", {"action": "unpack"}),
    ("zip_files", {"files": ["a"], "output": "b.zip"}, "archive_files", {"action": "pack"}),
    ("stop_watch", {"watcher_id": "1", "action": "stop"}, "watch_paths", {"id": "1"}),
]


@pytest.mark.rows("C002", "C005", "C009", "C016", "C023", "C024", "C025", "E10", "E16", "E18")
@each_case(("name", "sent", "tool", "wanted"), SENT)
def test_calls_of_other_systems(
    name: str, sent: dict[str, Any], tool: str, wanted: dict[str, Any]
) -> None:
    found = REGISTRY.resolve(name)
    assert found.name == tool
    named = rename(found, sent, REGISTRY.naming(name))
    assert named | wanted == named


REFUSED = [
    ("write_file", {"path": "a", "content": "x", "mode": "append"}, "append_file"),
    ("write_file", {"path": "a", "content": "x", "overwrite": False}, "overwrite"),
    ("edit_file", {**EDIT, "dryRun": True}, "undo_changes"),
    ("replace_in_file", {"path": "a", "diff": "x"}, "apply_patch"),
    ("str_replace_editor", {"command": "view", "path": "a"}, "read_file"),
    ("edit_file", {**EDIT, "expected_replacements": 3}, "all=true"),
    ("edit_file", {"target_file": "a", "code_edit": "..."}, "old"),
    ("start_search", {"pattern": "a", "searchType": "files"}, "find_files"),
    ("watch_paths", {"watcher_id": "a"}, "stop"),
    ("Grep", {"pattern": "a", "multiline": True}, "one line"),
    ("read_file", {"path": "a", "colour": "red"}, "read_file takes"),
]


@each_case(("name", "sent", "hint"), REFUSED)
def test_what_would_mean_something_else_is_refused(
    name: str, sent: dict[str, Any], hint: str
) -> None:
    with pytest.raises(BadInput) as caught:
        rename(REGISTRY.resolve(name), sent, REGISTRY.naming(name))
    assert hint in caught.value.hint


@each_case("tool", TOOLS, ids=lambda t: t.name)
def test_no_alias_of_an_argument_clashes(tool: Tool) -> None:
    names = {p.name for p in tool.parameters}
    assert set(tool.all_argument_aliases.values()) - {""} <= names  # "" is for nothing
    spelt: dict[str, str] = {plain(name): name for name in names}
    for alias, name in tool.all_argument_aliases.items():
        assert spelt.setdefault(plain(alias), name) == name, alias
