"""Arguments of tools that need some although their schemas ask for none: one of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "count_tokens": {"text": "How long is this?"},
    "delete_path": {"path": "old.txt"},
    "extract_html_data": {"html": "<table><tr><td>1</td></tr></table>"},
    "fetch_images": {"query": "lighthouse"},
    "fetch_url": {"url": "https://example.org"},
    "git_add": {"all": True},
    "git_commit": {"message": "Say what changed"},
    "git_pick": {"commits": ["HEAD~1"]},
    "git_rebase": {"onto": "main"},
    "make_chart": {"data": [{"x": "a", "y": 1}, {"x": "b", "y": 2}]},
    "open_path": {"path": "notes.md"},
    "preview_html": {"content": "<h1>Hello</h1>"},
    "query_json": {"query": "a", "input": '{"a": 1}'},
    "read_document": {"path": "notes.md"},
    "read_file": {"path": "notes.md"},
    "schedule": {"when": "10m", "text": "Tea"},
    "steer_agent": {"message": "Look at the tests too."},
    "track_event": {"title": "Chose SQLite for the store"},
    "web_search": {"query": "rust borrow checker"},
    "write_file": {"path": "new.txt", "content": "one line"},
}
