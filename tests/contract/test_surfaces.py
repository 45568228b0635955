"""The same call through every surface gives the same result."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.contract.doors import every_door
from tests.servers.site import site

CALLS: list[tuple[str, dict[str, Any], str | None]] = [
    ("web_search", {"query": "tool crib"}, None),
    ("fetch_url", {"url": "{base}/page"}, None),
    ("fetch_url", {"url": "{base}/long", "max_tokens": 300}, None),
    ("visit_website", {"link": "{base}/page"}, None),
    ("fetch_url", {"url": "{base}/none"}, "http_status"),
    ("fetch_url", {"url": "http://127.0.0.1:8081/"}, "blocked_address"),
    ("read_file", {"path": "notes.txt"}, None),
    ("read_file", {"path": "long.txt", "lines": "40"}, None),
    ("read_file", {"path": "../outside.txt"}, "path_denied"),
    ("read_file", {"path": "nots.txt"}, "not_found"),
    ("read_file", {}, "bad_input"),
    ("read_file", {"path": "notes.txt", "colour": 1}, "bad_input"),
    ("list_directory", {}, None),
    ("read_fil", {"path": "notes.txt"}, "unknown_tool"),
    ("list_directory", {"path": "private"}, "denied"),
    ("read_file", {"path": "asked.txt"}, "needs_approval"),
    ("search_tools", {"query": "read a web page"}, None),
    ("tool_help", {"name": "fetch_url"}, None),
    ("call_tool", {"name": "read_file", "arguments": {"path": "notes.txt"}}, None),
]


@pytest.mark.timeout(400)
@pytest.mark.rows("B29", "D10", "D37", "E100")
async def test_every_surface_gives_the_same(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "private").mkdir(parents=True)
    (workspace / "notes.txt").write_text("one\ntwo\nthree\n")
    (workspace / "asked.txt").write_text("secret\n")
    (workspace / "long.txt").write_text("".join(f"line {n}\n" for n in range(1000)))
    with site() as (base, hits):
        async with every_door(configuration(base, workspace), tmp_path) as doors:
            for name, raw, code in CALLS:
                arguments = {
                    k: v.format(base=base) if isinstance(v, str) else v for k, v in raw.items()
                }
                # Once before, so that what depends on a cache is the same for all.
                await doors["python"](name, arguments)
                expected = await doors["python"](name, arguments)
                assert expected.code == code, (name, arguments, expected)
                outcomes = await asyncio.gather(*(send(name, arguments) for send in doors.values()))
                for door, outcome in zip(doors, outcomes, strict=True):
                    assert same(outcome, expected), (door, name, outcome, expected)
    assert hits["/page"] == 1, "the page was fetched once, for all of them"


def same(a: Any, b: Any) -> bool:
    """Equal, but for what names one conversation: handles and approval ids."""
    if a.code == "needs_approval":
        return bool(a.code == b.code)
    return (
        a.text == b.text
        and (a.code, a.truncated, a.next) == (b.code, b.truncated, b.next)
        and (a.data == b.data or a.data is None)
    )


def configuration(base: str, workspace: Path) -> dict[str, Any]:
    host = base.removeprefix("http://")
    return {
        "profile": "all",
        "workspace": {"roots": [str(workspace)]},
        "web": {
            "search": {"providers": ["searxng"], "gap_seconds": 0.0},
            "providers": {"searxng": {"base_url": base}},
        },
        "egress": {"allow_hosts": [host]},
        "policy": {
            "taint": False,
            "rules": [
                {"action": "deny", "target": "*/private"},
                {"action": "ask", "target": "*/asked.txt"},
            ],
        },
    }
