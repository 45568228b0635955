"""A call of each tool of the systems that people come from, and what it has to bring about.

Each name has steps: arguments, and checks of what then is. In texts `$web` is the server,
`$id` the id that a result before gave. Files stand anew for each name.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.model import ModelServer
from tests.servers.scripted import Answer, Request, Scripted
from tests.tools.web.pictures import png
from toolcrib.core.result import Result

JSON = "application/json"


@dataclass(frozen=True)
class Seen:
    """What a call has left: its result, the files, what the servers were asked."""

    result: Result
    root: Path
    web: Scripted
    model: ModelServer

    @property
    def text(self) -> str:
        return self.result.text


Check = Callable[[Seen], bool]
Steps = list[tuple[Any, ...]]


def has(*parts: str) -> Check:
    return lambda seen: all(part in seen.text for part in parts)


def lacks(*parts: str) -> Check:
    return lambda seen: not any(part in seen.text for part in parts)


def like(pattern: str) -> Check:
    return lambda seen: bool(re.search(pattern, seen.text))


def holds(path: str, text: str) -> Check:
    return lambda seen: (seen.root / path).read_text() == text


def gone(*paths: str) -> Check:
    return lambda seen: not any((seen.root / path).exists() for path in paths)


def there(*paths: str) -> Check:
    return lambda seen: all((seen.root / path).exists() for path in paths)


def data(**wanted: Any) -> Check:
    return lambda seen: {**(seen.result.data or {}), **wanted} == seen.result.data


def cut(maximum: int) -> Check:
    """At most so many characters of the file, and at least half of them; the rest by `next`."""

    def check(seen: Seen) -> bool:
        displayed = seen.text.partition("\n[")[0]
        return seen.result.next is not None and maximum / 2 <= len(displayed) <= maximum

    return check


def requested(path: str, **query: str) -> Check:
    """The last request of a path had these words in its query."""

    def check(seen: Seen) -> bool:
        last = [request for request in seen.web.requested if request.path == path][-1]
        return {**last.query, **query} == last.query

    return check


def sent(method: str, body: str = "", **headers: str) -> Check:
    def check(seen: Seen) -> bool:
        last = seen.web.requested[-1]
        lower = {name.lower(): value for name, value in last.headers.items()}
        fits = all(lower.get(name) == value for name, value in headers.items())
        return last.method == method and body in last.body and fits

    return check


def reported(value: Any) -> Answer:
    return Answer(json.dumps(value), kind=JSON)


PAGE = (
    "<title>Moss</title><body><article><h1>Moss</h1>"
    + "".join(
        f"<p>Paragraph {n} says that moss grows slowly, on stones and on old roofs.</p>"
        for n in range(60)
    )
    + "<p>The word quokka stands here alone.</p><p>See <a href=/first>first</a> and "
    "<a href=/second>second</a>.</p><img src=/a.png alt=moss></article>"
    "<nav><a href=/menu>Menu entry of the site</a></nav></body>"
)


def fill(server: Scripted) -> None:
    """What the server answers."""
    server["/page"] = Answer(PAGE)
    server["/a.png"] = server["/b.png"] = Answer(png(8, 8), kind="image/png")

    def search(request: Request) -> Answer:
        found = [
            {"title": f"Moss {n}", "url": f"{server.url}/page?{n}", "content": "grows " * 90}
            for n in range(12)
        ]
        if request.query.get("categories") == "images":
            found = [{**one, "img_src": f"{server.url}/a.png?{n}"} for n, one in enumerate(found)]
        return reported({"results": found})

    def wiki(request: Request) -> Answer:
        if "list" in request.query:
            return reported(
                {"query": {"search": [{"pageid": 1, "title": "Moss", "snippet": "green"}]}}
            )
        page = {"pageid": 1, "title": "Moss", "extract": "Moss is a small plant.", "fullurl": ""}
        return reported({"query": {"pages": [page]}})

    server["/form"] = Answer(
        "<title>Form</title><label for=name>Your name</label><input id=name>"
        "<button id=go onclick=\"p.textContent = 'Hello ' + "
        "document.getElementById('name').value\">"
        "Send</button><p id=p></p>"
    )
    server["/search"] = search
    server["/w/api.php"] = wiki
    server["/json"] = lambda _: reported({"plant": "moss"})


def env_of(seen: Seen) -> str:
    return (seen.root / ".env").read_text()


LINES = "one\ntwo\nthree\nfour\nfive\n"
LONG = "".join(f"line {n:03}\n" for n in range(200))
CODE = "import os\n\n\ndef greet(name):\n    return 'hello ' + name\n\n\nprint(greet('x'))\n"
FILES = {
    "a.txt": LINES,
    "b.txt": "one\nTWO\nthree\nfour\nfive\n",
    "long.txt": LONG,
    "once.log": "Needle\n",
    "src/app.py": CODE,
    "src/wide.py": "x = 1  # " + "needle " * 60 + "\n",
    "src/deep/er/far.py": "needle = 1\n",
    "src/many.py": "needle = 1\n" * 9,
    "src/left.py": "from src.right import b\na = 1\n",
    "src/right.py": "from src.left import a\nb = 1\n",
    "broken.json": '{"a": ',
    "test_it.py": "def test_it():\n    assert 1 + 1 == 2\n",
    "t.csv": "name,age\nAnna,30\nBert,40\n",
    "d.json": '{"a": {"b": [1, 2]}}',
    "tabs.txt": "a\tb\nc\td\n",
    "src/deep/er/old.bak": "kept by an edit\n",
}
PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
TWO = LINES.replace("two", "2")
INSERTED = {"file_name": "a.txt", "line_number": 2, "content_to_insert": "new"}

EDITING: dict[str, Steps] = {
    "list_directory": [({"path": "src"}, has("app.py"), lacks("a.txt"))],
    "save_file": [
        ({"file_name": "n/x.txt", "content": "x"}, holds("n/x.txt", "x")),
        ({"files": [{"file_name": "y.txt", "content": "y"}]}, holds("y.txt", "y")),
    ],
    "append_file": [({"file_name": "a.txt", "content": "six\n"}, holds("a.txt", LINES + "six\n"))],
    "insert_at_line": [(INSERTED, holds("a.txt", LINES.replace("two", "new\ntwo")))],
    "delete_lines_in_file": [
        (
            {"file_name": "a.txt", "start_line": 2, "end_line": 3},
            holds("a.txt", "one\nfour\nfive\n"),
        ),
        ({"file_name": "a.txt", "start_line": 1}, holds("a.txt", "four\nfive\n")),
    ],
    "replace_text_in_file": [
        ({"file_name": "a.txt", "old_string": "two", "new_string": "2"}, holds("a.txt", TWO))
    ],
    "delete_path": [({"path": "src"}, gone("src"), there("a.txt"))],
    "delete_files_by_pattern": [
        ({"pattern": r"^[ab]\.t.t$"}, gone("a.txt", "b.txt"), there("long.txt", "src/app.py"))
    ],
    "move_file": [
        ({"source": "a.txt", "destination": "m/z.txt"}, gone("a.txt"), holds("m/z.txt", LINES))
    ],
    "copy_file": [
        ({"source": "a.txt", "destination": "m/z.txt"}, there("a.txt"), holds("m/z.txt", LINES))
    ],
    "make_directory": [({"directory_name": "p/q"}, there("p/q"))],
    "find_files": [
        ({"pattern": "FAR"}, has("src/deep/er/far.py")),
        ({"pattern": "py", "max_depth": 2}, has("src/app.py"), lacks("far.py")),
        ({"pattern": "py", "max_depth": 1}, has("test_it.py"), lacks("src/")),
    ],
    "fuzzy_find_local_files": [
        (
            {"query": "ap.py", "path": "src", "max_results": 1},
            has("src/app.py"),
            lacks("a.txt", "many"),
        )
    ],
    "get_file_metadata": [({"path": "a.txt"}, has("24"), lacks("import os"))],
    "change_directory": [
        ({"directory": "src"}, like(r"/src \(before")),
        ({"directory": ".."}, like(r"/work \(before")),
    ],
}
RUNNING: dict[str, Steps] = {
    "run_javascript": [({"javascript": "console.log(6 * 7)", "timeout_seconds": 20}, has("42"))],
    "run_python": [
        ({"python": "print(6 * 7)", "timeout_seconds": 20}, has("42")),
        ({"python": "import time; time.sleep(30)", "timeout_seconds": 1}, "timeout"),
    ],
    "run_in_terminal": [({"command": "cat"}, like("Terminal|terminal"))],
    "run_background_command": [
        (
            {"command": "echo begun; sleep 60", "timeout_hours": 0.5, "name": "the long one"},
            has("the long one"),
            data(state="running"),
        ),
    ],
    "check_background_command": [({"id": "$id"}, has("begun", "running"), data(state="running"))],
    "cancel_background_command": [({"id": "$id"}, data(state="stopped"))],
}
OF_THE_WEB: dict[str, Steps] = {
    "fetch_web_content": [({"url": "$web/page"}, has("grows slowly"))],
    "rag_web_content": [({"url": "$web/page", "query": "quokka"}, has("quokka"))],
    "wikipedia_search": [
        ({"query": "moss", "lang": "en"}, has("small plant")),
        ({"query": "moss", "lang": "a/b"}, "bad_input"),
    ],
    "read_document": [({"file_path": "t.csv"}, has("Anna"))],
}
INDEX: dict[str, Steps] = {
    "rag_index_files": [
        (
            {"directoryPath": "src", "filePattern": "*.py", "batchSize": 10},
            has("The index has"),
            lambda seen: seen.result.data["read"] > 1,
        ),
    ],
    "rag_index_pdf": [
        (
            {"filePath": "report.pdf", "chunkSize": 100, "overlap": 10},
            lambda seen: seen.result.data["read"] == 1,
        ),
    ],
    "rag_index_docx": [({"filePath": "a.txt", "chunkSize": 300, "overlap": 50}, has("1 read now"))],
    "rag_index_xlsx": [
        (
            {"filePath": "t.csv", "chunkSize": 100, "includeSheetNames": True},
            has("1 read now"),
        ),
    ],
    "rag_query_vector": [
        ({"query": "KESTREL", "topK": 1}, has("report.pdf, page 1")),
        ({"query": "xylophone", "topK": 5}, "no_results"),
    ],
    "rag_clear_index": [
        ({"confirm": False}, "bad_input"),
        ({"confirm": True}, has("taken out of the index")),
    ],
}
HAS_SCREEN = bool(os.environ.get("DISPLAY"))
HAS_BUS = bool(os.environ.get("DBUS_SESSION_BUS_ADDRESS") or os.environ.get("XDG_RUNTIME_DIR"))
MACHINE: dict[str, Steps] = {
    # On a machine with a desktop what they do to it is not wanted.
    **({} if HAS_SCREEN else {"read_clipboard": [({}, "unavailable")]}),
    **({} if HAS_SCREEN else {"write_clipboard": [({"content": "x"}, "unavailable")]}),
    **({} if HAS_BUS else {"send_notification": [({"title": "t", "message": "m"}, "unavailable")]}),
    "get_system_info": [({}, has("memory: ", "commands: "))],
}
MACHINE_BY_PARTS: dict[str, Steps] = {
    "system_monitor": [
        ({"metrics": ["cpu"]}, has("cpu: "), lacks("disk")),
        ({}, has("cpu: ", "memory: ", "disk ", "network ")),
    ],
    "process_list": [({"filter": "python"}, has("python"))],
    "env_inspect": [({"prefix": "PATH"}, has("PATH="), lacks("HOME="))],
    "detect_os_environment": [({}, has("run_command uses"))],
    "hash_file": [
        (
            {"file_path": "a.txt", "algorithm": "md5"},
            has(hashlib.md5(LINES.encode()).hexdigest()),
        )
    ],
    "env_update": [
        ({"key": "A", "value": "b", "confirm": True}, lambda seen: env_of(seen) == "A=b\n")
    ],
    "secret_scan": [
        ({"path": "src", "exclude": ["*.md"]}, has("No secrets found in 7 files")),
    ],
    "package_manage": [({"action": "audit", "manager": "pip"}, "tool_disabled")],
    "token_count": [({"text": "a b", "encoding": "cl100k"}, data(tokens=2))],
    "port_check": [({"port": 1, "host": "localhost"}, data(state="closed"))],
}
GIT: dict[str, Steps] = {
    "git_status": [({}, has("a.txt"))],
    "git_add": [({"paths": ["a.txt"]}, has("a.txt"))],
    "git_commit": [({"message": "third"}, has("third"))],
    "git_checkout": [({"branch_name": "new-one", "create_new": True}, has("new-one"))],
    "git_stash": [
        ({"action": "save", "message": "kept away"}, has("kept away")),
        ({"action": "list"}, has("kept away")),
    ],
    "query_database": [
        (
            {"query": "SELECT name FROM t WHERE age > 35", "db_path": "t.db"},
            has("Bert"),
            lacks("Anna"),
        ),
    ],
    "git_log": [({"max_count": 1}, lacks("first"))],
    "gh_create_issue": [({"title": "T", "body": "b", "labels": ["bug"]}, has("Opened the issue"))],
    "gh_list_issues": [({"state": "open", "labels": ["bug"], "limit": 5}, has("A bug"))],
    "gh_view_comments": [
        ({"number": 1, "type": "issue"}, has("A bug", "a remark")),
        ({"number": 2, "type": "pr"}, has("A change", "+two")),
    ],
    "gh_create_pr": [
        ({"title": "P", "body": "", "head_branch": "new", "base_branch": "main"}, has("Opened the"))
    ],
    "gh_list_prs": [({"state": "open", "limit": 5}, has("A change"))],
    "gh_view_pr_diff": [({"number": 2}, has("+two", "-one"))],
    "gh_auth": [({}, has("ann, by TOOLCRIB_TEST_TOKEN"))],
}

BROWSER: dict[str, Steps] = {
    "browser_open_page": [({"url": "$web/form"}, has("Your name"))],
    "browser_session_open": [
        ({"url": "$web/form", "wait_for_selector": "#name"}, has("Your name")),
        ({"url": "$web/form", "wait_for_selector": "#never-there"}, "timeout"),
    ],
    "browser_session_control": [
        ({"actions": [{"type": "type", "selector": "#name", "text": "Ann"}]}, has("Ann")),
        (
            {
                "actions": [{"type": "click", "selector": "#go"}],
                "read_page": True,
                "full_read": True,
            },
            has("Hello Ann"),
        ),
    ],
    "browser_session_close": [({}, has("closed"))],
}
"""They need a browser on the machine."""

WEB_TOOLS: dict[str, Steps] = {
    "Web Search": [
        ({"query": "moss", "page": 2}, has("Moss 1"), requested("/search", q="moss", pageno="2")),
        (
            {"query": "moss x", "pageSize": 3, "safeSearch": "strict", "page": 1},
            has("Moss 2"),
            lacks("Moss 3"),
            requested("/search", safesearch="2"),
        ),
        ({"query": "moss y", "safeSearch": "auto"}, requested("/search", safesearch="1")),
    ],
    "Image Search": [
        ({"query": "moss", "page": 2}, has("/a.png"), requested("/search", pageno="2"))
    ],
    "Visit Website": [
        ({"url": "$web/page", "findInPage": ["quokka"]}, has("quokka")),
        (
            {"url": "$web/page", "maxLinks": 1, "maxImages": 1, "contentLimit": 1000},
            has("Paragraph 3 ", "- first: ", "images/"),
            lacks("- second: ", "Paragraph 20 "),
            lambda seen: seen.result.truncated,
        ),
    ],
    "Fetch Images": [
        ({"imageURLs": ["$web/b.png"], "websiteURL": "$web/page", "maxImages": 1}, has("b.png")),
        (
            {"imageURLs": ["$web/b.png"], "websiteURL": "$web/page", "maxImages": 3},
            has("b.png", "a.png"),
        ),
    ],
    "View Images": [({"websiteURL": "$web/page", "maxImages": 3}, has("a.png"))],
}

CALLS: dict[str, Mapping[str, Steps]] = {
    "lmstudio-web-tools": {
        **WEB_TOOLS,
        **{name.lower().replace(" ", "-"): steps for name, steps in WEB_TOOLS.items()},
    },
    "llm-chat-web": {
        "web_search": [
            (
                {"queries": ["moss", "fern"], "max_results": 2, "max_chars_per_result": 60},
                has("moss", "fern", "Moss 1"),
                lacks("Moss 2", "grows " * 12),
            )
        ],
        "web_fetch": [
            (
                {"urls": ["$web/page"], "max_chars": 700},
                has("Paragraph 3 "),
                lacks("Paragraph 12 "),
                lambda seen: seen.result.truncated,
            ),
            ({"urls": ["$web/page", "$web/json"], "max_chars": 10_000}, has("moss", "Page 2 of 2")),
        ],
    },
    "yoi-web": {
        "WebSearch": [
            ({"query": "moss", "limit": 2, "offset": 0}, has("Moss 1"), requested("/search")),
            ({"query": "moss", "limit": 2, "offset": 3}, has("[7] Moss 6")),
        ],
        "WebFetch": [
            ({"url": "$web/page", "include_navigation": False}, lacks("Menu entry")),
            ({"url": "$web/page", "include_navigation": True}, has("Menu entry")),
        ],
    },
    "ai-toolbox": {
        **EDITING,
        **RUNNING,
        **OF_THE_WEB,
        **GIT,
        **BROWSER,
        **INDEX,
        **MACHINE,
        **MACHINE_BY_PARTS,
        "read_file": [
            ({"file_name": "long.txt", "max_length": 100}, cut(100), has("line 000")),
            ({"file_name": "a.txt", "max_length": 5000}, has(LINES)),
        ],
        "read_file_chunked": [
            ({"file_name": "long.txt", "chunk_size": 50, "max_chunks": 3}, cut(150)),
        ],
        "line_operations": [
            (
                {
                    "file_name": "a.txt",
                    "operation": "insert",
                    "target_line": 2,
                    "content": "1\n2\n3\n4\n5\n6\n",
                },
                "bad_input",
                holds("a.txt", LINES),
            ),
            (
                {
                    "file_name": "a.txt",
                    "operation": "insert",
                    "target_line": 2,
                    "content": "new",
                    "verify_before_insert": "nothing like it",
                },
                "conflict",
                holds("a.txt", LINES),
            ),
            (
                {
                    "file_name": "a.txt",
                    "operation": "insert",
                    "target_line": 2,
                    "content": "new",
                    "verify_before_insert": "two",
                },
                holds("a.txt", LINES.replace("two", "new\ntwo")),
            ),
            (
                {
                    "file_name": "a.txt",
                    "operation": "insert",
                    "content": "before four",
                    "insert_before_pattern": "four",
                },
                has("before four"),
                holds("a.txt", "one\nnew\ntwo\nthree\nbefore four\nfour\nfive\n"),
            ),
            (
                {
                    "file_name": "b.txt",
                    "operation": "insert",
                    "content": "new",
                    "insert_after_pattern": "TWO",
                },
                holds("b.txt", "one\nTWO\nnew\nthree\nfour\nfive\n"),
            ),
            (
                {"file_name": "long.txt", "operation": "move", "move_from": 1, "move_to": 3},
                lambda seen: (seen.root / "long.txt").read_text().startswith("line 001\nline 000"),
            ),
        ],
        "get_current_working_directory": [({}, has("work"))],
        "analyze_project": [
            (
                {"categories": ["imports", "circular", "config"], "max_imports_warning": 5},
                has("src/left.py <-> src/right.py", "broken.json", "more than 5"),
            ),
            ({"categories": ["eslint"]}, has("lint_project")),
        ],
        "file_diff": [({"file_a": "a.txt", "file_b": "b.txt"}, has("-two", "+TWO"))],
        "directory_tree": [
            ({"path": ".", "max_depth": 1, "show_size": False}, has("src"), lacks("app.py")),
            (
                {"path": "src", "max_depth": 3, "show_size": True},
                has("far.py"),
                has("11 bytes"),
            ),
        ],
        "grep_files": [
            (
                {
                    "pattern": "needle",
                    "path": ".",
                    "include": "*.py",
                    "exclude": "many.py",
                    "max_content_length": 50,
                    "max_results": 20,
                    "max_file_size": 1000,
                },
                has("wide.py", "far.py"),
                lacks("many.py", "once.log", "needle " * 10),
            ),
            ({"pattern": "needle", "max_file_size": 20}, has("2 lines in 2 files", "far.py")),
            ({"pattern": "needle", "max_results": 1}, lambda seen: seen.result.truncated),
        ],
        "ripgrep": [
            (
                {
                    "pattern": "NEEDLE",
                    "path": ".",
                    "mode": "regex",
                    "case_insensitive": True,
                    "include_glob": "*",
                    "exclude_globs": ["*.log"],
                    "max_depth": 2,
                },
                has("many.py", "wide.py"),
                lacks("far.py", "once.log"),
            ),
            ({"pattern": "NEEDLE", "case_insensitive": False}, has("No line")),
            ({"pattern": "n.edle", "mode": "literal"}, has("No line")),
            ({"pattern": "Needle"}, has("many.py", "once.log")),
        ],
        "pattern_scan": [
            (
                {
                    "pattern": "needle",
                    "root": ".",
                    "mode": "regex",
                    "caseSensitive": True,
                    "includeGlobs": ["*.py", "*.log"],
                    "excludeGlobs": ["wide.py"],
                    "maxDepth": 10,
                    "maxFileSizeBytes": 262_144,
                    "maxFileLines": 10_000,
                    "maxMatchesPerFile": 4,
                    "maxTotalMatches": 200,
                    "matchLineLength": 300,
                    "concurrency": 4,
                },
                has("5 lines in 2 files"),
            ),
            ({"pattern": "needle", "maxFileLines": 5}, has("2 lines in 2 files", "far.py")),
            ({"pattern": "needle", "maxTotalMatches": 2}, lambda seen: seen.result.truncated),
            ({"pattern": "needle", "matchLineLength": 20}, lacks("needle " * 4)),
        ],
        "find_replace_all": [
            (
                {
                    "pattern": "needle",
                    "replacement": "pin",
                    "dry_run": True,
                    "extensions": ["py"],
                    "max_depth": 10,
                    "confirm": True,
                },
                has("Would change", "far.py"),
                holds("src/deep/er/far.py", "needle = 1\n"),
            ),
            (
                {"pattern": "needle", "replacement": "pin", "dry_run": False, "confirm": False},
                has("Would change"),
                holds("src/deep/er/far.py", "needle = 1\n"),
            ),
            (
                {
                    "pattern": "needle",
                    "replacement": "pin",
                    "extensions": ["py"],
                    "max_depth": 2,
                    "confirm": True,
                },
                holds("src/many.py", "pin = 1\n" * 9),
                holds("src/deep/er/far.py", "needle = 1\n"),
            ),
        ],
        "web_search": [({"query": "moss"}, has("Moss 1"), requested("/search", q="moss"))],
        "http_request": [
            (
                {
                    "method": "PUT",
                    "url": "$web/json",
                    "headers": {"X-Kind": "b"},
                    "body": "some words",
                },
                sent("PUT", "some words", **{"x-kind": "b"}),
            )
        ],
        "http_get_json": [
            ({"url": "$web/json", "headers": {"X-Kind": "c"}}, sent("GET", **{"x-kind": "c"})),
            ({"url": "$web/json"}, has("moss")),
        ],
        "http_post_json": [
            (
                {"url": "$web/json", "data": {"a": 1}, "headers": {"X-Kind": "d"}},
                sent("POST", '"a"', **{"x-kind": "d"}),
            )
        ],
        "git_diff": [
            ({"file_path": "b.txt", "cached": True}, has("+five")),
            ({"file_path": "a.txt", "cached": False}, has("+two")),
        ],
        "git_blame": [({"file_path": "b.txt", "line_number": 2}, has("2|TWO"), lacks("1|one"))],
        "execute_command": [
            ({"command": "cat; echo done", "timeout": 20, "input": "given"}, has("given", "done")),
            ({"command": "sleep 30", "timeout": 1}, "timeout"),
        ],
        "run_tests": [
            (
                {"runner": "pytest", "file_or_dir": "test_it.py", "timeout": 60},
                data(success=True),
            )
        ],
        "gh_push": [({"branch": "side"}, has("side of origin"))],
        "markdown_preview": [({"file_path": "a.txt"}, has("Saved to preview.html"))],
        "preview_html": [
            ({"html_content": "<p>x", "file_name": "p.html"}, has("p.html"), there("p.html")),
        ],
        "open_file": [({"target": "none.pdf"}, "not_found")],
        "generate_ui_component": [
            ({"component_type": "button", "label": "Press"}, has(">Press</button>")),
            ({"component_type": "form", "label": "F"}, "bad_input"),
            (
                {"component_type": "form", "label": "F", "fields": ["Name"]},
                has("<form>", ">Name</label>"),
            ),
            ({"component_type": "chart", "chart_data": [{"a": "x", "b": 1}]}, has("<svg")),
            ({"component_type": "dashboard", "dashboard_titles": ["One"]}, has(">One</h2>")),
        ],
        "render_and_preview_ui": [
            ({"html_content": "<p>x", "filename": "q.html"}, there("q.html")),
            ({"html_content": "<p>x", "screenshot_path": "q.gif"}, "bad_input"),
        ],
        "extract_ui_data": [
            (
                {"html_content": "<table><tr><td>one</table>", "extraction_type": "table"},
                has("one"),
            ),
        ],
        "image_to_text": [({"imagePath": "dot.png", "language": "eng"}, "no_results")],
        "analyze_image": [({"imagePath": "dot.png", "prompt": "What?"}, has("model's answer"))],
        "screenshot_desktop": [
            ({"outputPath": "s.xyz", "format": "png", "quality": 90}, "bad_input"),
        ],
        "describe_image": [({"imagePath": "dot.png"}, has("PNG, 3 x 2 pixels", "modified"))],
        "compare_images": [
            ({"image1Path": "dot.png", "image2Path": "wide.png"}, has("The sizes differ")),
            ({"image1Path": "dot.png", "image2Path": "dot.png"}, has("identical")),
        ],
        "generate_chart": [
            (
                {
                    "type": "bar",
                    "data": {"labels": ["a", "b"], "values": [1, 2]},
                    "title": "t",
                    "colors": ["red"],
                    "output_path": "a.svg",
                },
                lambda seen: "<svg" in (seen.root / "a.svg").read_text(),
            ),
            ({"type": "bar", "data": {}, "output_path": "b.svg"}, "bad_input"),
        ],
        "cleanup_backups": [
            ({}, has("old.bak"), holds("src/deep/er/old.bak", "kept by an edit\n")),
            ({"confirm": True}, gone("src/deep/er/old.bak")),
        ],
        "text_transform": [
            (
                {
                    "file_name": "a.txt",
                    "pattern": "(T)(w)o",
                    "replacement": "$2$1",
                    "flags": "gi",
                    "lines": {"start": 1, "end": 2},
                    "backup": True,
                    "dry_run": True,
                },
                has("wt"),
                holds("a.txt", LINES),
            ),
            (
                {
                    "file_name": "a.txt",
                    "pattern": "e$",
                    "replacement": "E",
                    "flags": "g",
                    "lines": {"start": 1, "end": 2},
                },
                holds("a.txt", LINES.replace("one", "onE")),
            ),
        ],
        "text_extract": [
            (
                {
                    "file_name": "tabs.txt",
                    "fields": [1],
                    "delimiter": "\t",
                    "output_format": "json",
                },
                has('"b"', '"d"'),
                lacks('"a"'),
            ),
            ({"file_name": "a.txt", "pattern": "^t.*"}, has("two", "three"), lacks("four")),
        ],
        "markdown_table_gen": [
            (
                {"data": [{"a": "long text"}], "headers": ["a"], "align": "left", "truncate": 6},
                has("| a"),
                lacks("long text"),
            )
        ],
        "json_query": [({"file_path": "d.json", "query": "a.b[1]"}, has("2"), lacks("1"))],
        "convert_format": [
            ({"action": "base64_encode", "input": "moss", "output": "out.b64"}, there("out.b64")),
            ({"action": "base64_decode", "input": "bW9zcw=="}, has("moss")),
            ({"action": "csv_to_json", "input": "a,b\n1,2\n"}, has('"a"')),
        ],
        "refactor_code": [
            (
                {
                    "file_path": "src/app.py",
                    "operation": "rename_identifier",
                    "old_name": "greet",
                    "new_name": "hail",
                    "dry_run": True,
                },
                has("hail"),
                holds("src/app.py", CODE),
            ),
            (
                {
                    "file_path": "src/app.py",
                    "operation": "move_function",
                    "function_name": "greet",
                    "target_path": "src/greeting.py",
                    "dry_run": False,
                },
                there("src/greeting.py"),
            ),
        ],
        "create_backup": [
            ({"destination": "kept.zip", "confirm": False}, has("Would")),
            ({"destination": "kept.zip", "confirm": True}, has("kept")),
        ],
        "list_backups": [({"sortBy": "size", "limit": 50}, has("kept"))],
        "restore_backup": [
            ({"backupFile": "kept.zip", "confirm": False}, holds("a.txt", LINES)),
            ({"backupFile": "kept.zip", "confirm": True}, has("kept")),
        ],
        "delete_backup": [({"backupFile": "kept.zip", "confirm": True}, has("kept"))],
        "create_plan": [({"goal": "Ship", "steps": ["Build", "Upload"]}, data(percent=0))],
        "get_plan": [({}, has("1. [ ] Build"))],
        "update_plan_step": [
            ({"index": 1, "status": "in_progress", "note": ""}, has("Now: 1. Build")),
            ({"index": 2, "status": "blocked", "note": "a key"}, has("Blocked: 2. Upload (a key)")),
            ({"planId": "1", "index": 0, "status": "done"}, "bad_input"),
        ],
        "save_memory": [({"fact": "Anna likes tea"}, data(status="saved"))],
        "get_memory": [({}, has("Anna likes tea"))],
        "search_memory": [
            ({"query": "tea", "max_results": 10}, has("Anna likes tea")),
            ({"query": "nothing of it"}, "no_results"),
        ],
        "delete_memory": [({"entry_id": "1"}, data(deleted=1)), ({"entry_id": "1"}, "not_found")],
        "save_session_summary": [
            (
                {
                    "task_description": "Ship it",
                    "accomplishments": "Built",
                    "pending_tasks": "Upload",
                    "decisions_made": "No tests on Friday",
                    "context_for_next_session": "The key is with Anna",
                },
                has("Saved as session"),
            )
        ],
        "get_session_summary": [({}, has("task: Ship it", "next: The key is with Anna"))],
        "list_sessions": [({}, has("Ship it"))],
        "search_sessions": [({"query": "who has the key"}, has("Ship it"))],
        "restore_session_context": [
            ({"include_sessions_index": True, "max_chars": 16000}, has("Pending: Upload")),
            ({"max_chars": 999}, "bad_input"),
        ],
        "track_important_event": [
            (
                {"title": "Chose SQLite", "content": "One file", "tags": ["db"]},
                data(saved_count=1),
            )
        ],
        "auto_summarize_context": [
            (
                {
                    "session_events": [
                        *[{"type": "tool_call", "data": {"tool": "grep"}}] * 4,
                        {"type": "decision", "timestamp": 1, "data": "Use tabs"},
                    ],
                    "config_changes": ["theme=dark"],
                },
                data(saved_count=4),
                has("grep is used often", "Use tabs", "theme=dark", "4 tool_call, 1 decision"),
            )
        ],
        "get_context_memory": [({"limit": 20, "type": "decision"}, has("Chose SQLite"))],
        "search_context": [({"query": "SQLite or not", "max_results": 5}, has("Chose SQLite"))],
        "context_summary": [({}, has("project decision: 2"))],
        "delete_context_entry": [({"entry_id": "$id"}, has("Deleted entry"))],
        "clear_context_memory": [
            ({"confirm": False}, "bad_input"),
            ({"confirm": True}, has("Deleted")),
        ],
        "clear_session_index": [({"confirm": True}, has("Deleted"))],
        "manage_projects": [
            ({"action": "register", "name": "shop", "path": "."}, has("Registered")),
            ({"action": "search", "query": "SHO"}, has("shop")),
            ({"action": "info", "name": "shop"}, has("shop")),
            ({"action": "clear_all", "confirm": True}, data(cleared=1)),
        ],
        "register_project": [({"name": "old", "path": "src"}, has("Registered"))],
        "get_project_info": [({"path": "src"}, has("old"))],
        "list_projects": [({}, has("old"))],
        "search_projects": [
            ({"query": "OLD"}, has("old")),
            ({"query": "nothing"}, has("No project")),
        ],
        "switch_context": [({"path": "src"}, has("Current directory"))],
        "get_enabled_tools": [({}, like(r"^\d+ of \d+ tools"), has("read_file"))],
    },
    "lmstudio-toolbox": {
        **EDITING,
        **RUNNING,
        **OF_THE_WEB,
        **GIT,
        **BROWSER,
        **MACHINE,
        "capture_screenshot": [
            (
                {
                    "url": "$web/form",
                    "output_path": "shot.png",
                    "full_page": True,
                    "width": 400,
                    "height": 300,
                    "wait_for_selector": "#name",
                    "delay": 10,
                },
                there("shot.png"),
            )
        ],
        "read_file": [({"file_name": "a.txt"}, has(LINES))],
        "read_file_range": [
            ({"file_name": "a.txt", "start_line": 2, "end_line": 3}, has("2|two\n3|three"))
        ],
        "multi_replace_text": [
            (
                {
                    "file_name": "src/many.py",
                    "replacements": [
                        {
                            "start_line": 3,
                            "end_line": 3,
                            "old_string": "needle",
                            "new_string": "pin",
                        },
                        {"start_line": 1, "end_line": 1, "old_string": "= 1", "new_string": "= 2"},
                    ],
                },
                holds("src/many.py", "needle = 2\nneedle = 1\npin = 1\n" + "needle = 1\n" * 6),
            ),
            (
                {
                    "file_name": "a.txt",
                    "replacements": [
                        {"start_line": 1, "end_line": 1, "old_string": "one", "new_string": "1"},
                        {"start_line": 4, "end_line": 5, "old_string": "two", "new_string": "2"},
                    ],
                },
                "not_found",
                holds("a.txt", LINES),
            ),
        ],
        "search_directory": [
            (
                {
                    "directory_path": "src",
                    "pattern": "NEEDLE =",
                    "use_regex": False,
                    "case_sensitive": False,
                    "context_lines": 0,
                    "max_matches": 100,
                    "exclude": ["many.py"],
                },
                has("1 line in 1 file", "far.py"),
            ),
            ({"directory_path": "src", "pattern": "n.*dle =", "use_regex": True}, has("far.py")),
            ({"directory_path": "src", "pattern": "n.*dle ="}, has("No line")),
            ({"directory_path": "src", "pattern": "return"}, has("def greet", "7- ")),
        ],
        "search_in_file": [
            (
                {"file_name": "b.txt", "pattern": "Two", "case_sensitive": False},
                has("2: TWO"),
            ),
            ({"file_name": "b.txt", "pattern": "two", "case_sensitive": True}, has("No line")),
            ({"file_name": "b.txt", "pattern": "t.o", "use_regex": True}, has("2: TWO")),
        ],
        "apply_patch": [
            ({"patch": PATCH, "dry_run": True}, holds("a.txt", LINES)),
            ({"patch": PATCH}, holds("a.txt", TWO)),
        ],
        "edit_file_with_diff": [
            ({"file_path": "a.txt", "unified_diff": PATCH}, holds("a.txt", TWO)),
        ],
        "watch_file": [({"file_path": "a.txt"}, has("Watching a.txt"))],
        "watch_directory": [({"directory_path": "src", "recursive": False}, has("Watching src"))],
        "list_watches": [({}, has("src")), ({"watcher_id": "$id"}, has("src: "))],
        "stop_watch": [({"watcher_id": "$id"}, has("Stopped"))],
        "execute_command": [
            (
                {"command": "cat; echo done", "timeout_seconds": 20, "input": "given"},
                has("given", "done"),
            ),
            ({"command": "sleep 30", "timeout_seconds": 1}, "timeout"),
        ],
        "run_test_command": [({"command": "python3 -c 'print(40 + 2)'"}, data(success=True))],
        "lint_project": [({}, lambda seen: bool(seen.text))],
        "find_symbol": [
            ({"name": "greet", "kind": "function"}, has("src/app.py")),
            ({"name": "greet", "kind": "class"}, "no_results"),
        ],
        "find_usages": [({"name": "greet", "definition_file": "src/app.py"}, has("8"))],
        "rename_symbol": [
            (
                {"old_name": "greet", "new_name": "hail", "definition_file": "src/app.py"},
                holds("src/app.py", CODE.replace("greet", "hail")),
            )
        ],
        "web_search": [
            (
                {"query": "moss", "providers": ["searxng"]},
                has("Moss 1"),
                requested("/search", q="moss"),
            ),
            ({"query": "moss", "providers": ["nobody"]}, "bad_input"),
        ],
        "git_fetch": [({"prune": True}, has("origin"))],
        "git_pull": [
            ({"remote": "origin", "branch": "side", "rebase": False}, has("Nothing had to"))
        ],
        "git_push": [({"set_upstream": True, "force": False}, has("of origin"))],
        "git_branch": [({"action": "list", "all": True}, has("side"))],
        "git_merge": [
            ({"branch": "side", "no_ff": True, "message": "m"}, has("Nothing had to be done")),
        ],
        "git_reset": [({"mode": "soft", "paths": ["a.txt"]}, lambda seen: bool(seen.text))],
        "git_diff": [({"word_diff": True}, has("{+two+}"))],
        "save_memory": [({"fact": "Anna likes tea", "tags": "a,b"}, data(status="saved"))],
        "list_memories": [({"tag": "a", "limit": 50}, has("Anna likes tea"))],
        "search_memories": [({"query": "tea", "limit": 10}, has("tags a, b"))],
        "update_memory": [({"id": 1, "fact": "Anna likes milk"}, has("Anna likes tea"))],
        "save_session_note": [({"note": "The key is with Anna"}, has("Noted"))],
        "delete_memory": [({"id": 1}, data(deleted=1))],
        "analyze_project": [({"depth": 1}, has("src"), lacks("app.py"))],
        "rag_local_files": [
            (
                {"query": "greet", "path": "src", "file_pattern": "*.py"},
                has("src/app.py"),
            ),
            ({"query": "greet", "path": "src", "file_pattern": "*.md"}, "no_results"),
        ],
        "query_csv": [
            (
                {"file": "t.csv", "filter": "name = Anna", "columns": ["age"], "limit": 100},
                has("30"),
                lacks("40", "Anna"),
            )
        ],
        "transform_json": [({"file": "d.json", "path_expression": "a.b"}, has("1", "2"))],
        "save_workspace_profile": [({"name": "here", "notes": "moss"}, has("Saved here"))],
        "list_workspace_profiles": [({}, has("here", "moss"))],
        "switch_workspace_profile": [({"name": "here"}, has("Now in", "moss"))],
        "tool_usage_stats": [
            ({"limit": 3, "sort_by": "calls"}, like("read_file|find_files|search_files"))
        ],
        "list_tools": [({"filter": "rename a symbol"}, has("rename_symbol"))],
        "consult_secondary_agent": [
            (
                {
                    "task": "Say moss.",
                    "agent_role": "coder",
                    "context": "ferns",
                    "allow_tools": False,
                    "chain": ["reviewer"],
                    "readonly": True,
                },
                has("the model's answer"),
                lambda seen: "ferns" in seen.model.words(0),
                lambda seen: not seen.model.requested[0].get("tools"),
                lambda seen: len(seen.model.requested) >= 2,
            )
        ],
        "interrupt_sub_agent": [({"message": "stop", "cancel": True}, has("ended already"))],
        "get_sub_agent_result": [({}, has("the model's answer"))],
    },
}
