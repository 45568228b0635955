"""GitHub's REST API on loopback: shapes as GitHub sends them, paging, ETags, limits, failures."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "ghp_" + "a1B2" * 9
DIFF = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"
MOMENT = "2026-03-01T10:00:00Z"
Reply = tuple[int, Any, dict[str, str]]


def user(name: str) -> dict[str, Any]:
    return {"login": name, "id": len(name), "type": "User"}


@dataclass
class Repo:
    """What one repository has."""

    name: str
    private: bool = False
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    releases: list[dict[str, Any]] = field(default_factory=list)
    diffs: dict[int, str] = field(default_factory=dict)
    jobs: list[dict[str, Any]] = field(default_factory=list)
    logs: dict[int, str] = field(default_factory=dict)
    pushing: set[str] = field(default_factory=lambda: {"ann"})
    renamed_to: str = ""

    def issue(self, title: str, body: str = "", by: str = "ann", **more: Any) -> dict[str, Any]:
        number = len(self.issues) + len(self.pulls) + 1
        item = {
            "number": number, "title": title, "body": body, "state": "open", "user": user(by),
            "labels": [], "comments": 0, "created_at": MOMENT, "assignees": [],
            "html_url": f"https://github.test/{self.name}/issues/{number}", **more,
        }  # fmt: skip
        self.issues[number] = item
        return item

    def comment(self, number: int, body: str, by: str = "ann", **more: Any) -> dict[str, Any]:
        item = {
            "id": 1000 + number, "body": body, "user": user(by), "created_at": MOMENT,
            "html_url": f"https://github.test/{self.name}/issues/{number}#c", **more,
        }  # fmt: skip
        self.comments.setdefault(number, []).append(item)
        if number in self.issues:
            self.issues[number]["comments"] = len(self.comments[number])
        return item

    def pull(self, title: str, head: str = "topic", by: str = "ann", **more: Any) -> dict[str, Any]:
        number = len(self.issues) + len(self.pulls) + 1
        owner = self.name.partition("/")[0]
        item = {
            "number": number, "title": title, "body": "", "state": "open", "user": user(by),
            "labels": [], "created_at": MOMENT, "draft": False, "merged": False, "assignees": [],
            "head": {"ref": head, "label": f"{owner}:{head}", "sha": f"{number:040x}"},
            "base": {"ref": "main", "label": f"{owner}:main", "sha": "b" * 40},
            "mergeable": True, "mergeable_state": "clean", "additions": 1, "deletions": 1,
            "changed_files": 1, **more,
            "html_url": f"https://github.test/{self.name}/pull/{number}",
        }  # fmt: skip
        self.pulls[number] = item
        return item

    def about(self, rights: bool) -> dict[str, Any]:
        return {
            "id": 7, "full_name": self.name, "private": self.private, "archived": False,
            "visibility": "private" if self.private else "public", "default_branch": "main",
            "description": "A thing", "stargazers_count": 3, "open_issues_count": len(self.issues),
            "topics": ["tools"], "language": "Python", "license": {"spdx_id": "MIT"},
            "pushed_at": MOMENT, "fork": False, "html_url": f"https://github.test/{self.name}",
            "permissions": {"admin": False, "push": rights, "pull": True},
        }  # fmt: skip


class GitHub:
    """The server; what it was asked stands in `asked`."""

    def __init__(self, base: str, gitea: bool) -> None:
        self.api = base
        self.gitea = gitea
        self.repos: dict[str, Repo] = {}
        self.requested: list[tuple[str, str, dict[str, str], Any]] = []
        self.unchanged = 0
        self.remaining = 5000
        self.failures: list[Callable[[str, str], Reply | None]] = []
        self.lock = threading.Lock()

    def repo(self, name: str, **more: Any) -> Repo:
        self.repos[name] = Repo(name, **more)
        return self.repos[name]

    def sent(self, method: str) -> list[tuple[str, Any]]:
        return [(path, body) for verb, path, _, body in self.requested if verb == method]

    def paths(self) -> list[str]:
        return [path for _, path, _, _ in self.requested]

    def answer(
        self, method: str, target: str, headers: dict[str, str], body: Any
    ) -> tuple[int, Any, dict[str, str]]:
        path = urlsplit(target).path.removeprefix(urlsplit(self.api).path)
        query = {k: v[0] for k, v in parse_qs(urlsplit(target).query).items()}
        with self.lock:
            self.requested.append((method, path, headers, body))
            for failure in self.failures:
                failed = failure(method, path)
                if failed is not None:
                    return failed
            who = {f"token {TOKEN}": "ann", "token other": "bob"}.get(
                headers.get("authorization", "")
            )
            if headers.get("authorization") and who is None:
                return 401, {"message": "Bad credentials"}, {}
            return self.routed(method, path, query, headers, body, who)

    def routed(
        self,
        method: str,
        path: str,
        query: dict[str, str],
        headers: dict[str, str],
        body: Any,
        who: str | None,
    ) -> Reply:
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if parts == ["user"]:
            return (200, user(who), {"x-oauth-scopes": "repo"}) if who else refused(401)
        if parts == ["rate_limit"]:
            core = {"limit": 5000, "remaining": self.remaining}
            return 200, {"resources": {"core": core, "search": core}}, {}
        if parts[0] == "search" or parts[-1] == "search":
            return self.search(parts[1], query)
        repo = self.repos.get("/".join(parts[1:3]))
        if repo is None or (repo.private and who is None):
            return refused(404)
        if repo.renamed_to:
            there = f"{self.api}/repos/{repo.renamed_to}/{'/'.join(parts[3:])}".rstrip("/")
            return (301 if method == "GET" else 307), {}, {"location": there}
        return self.of(repo, method, parts[3:], query, headers, body, who)

    def search(self, kind: str, query: dict[str, str]) -> Reply:
        words = query["q"]
        if kind == "repositories":
            return self.paged([r.about(False) for r in self.repos.values()], query, "items")
        if kind == "code":
            found = [
                {"path": p, "html_url": "https://github.test/x", "repository": r.about(False),
                 "text_matches": [{"fragment": t.decode()}]}
                for r in self.repos.values() for p, t in r.files.items() if words.encode() in t
            ]  # fmt: skip
            return self.paged(found, query, "items")
        named = re.search(r"repo:(\S+)", words)
        repos = [self.repos[named[1]]] if named else list(self.repos.values())
        items = []
        for repo in repos:
            both = [] if "is:pr" in words else list(repo.issues.values())
            both += [] if "is:issue" in words else [
                {**p, "pull_request": {"merged_at": None}} for p in repo.pulls.values()
            ]  # fmt: skip
            items += [{**i, "repository_url": f"{self.api}/repos/{repo.name}"} for i in both]
        state = re.search(r"state:(\w+)", words)
        labels = re.findall(r'label:"([^"]+)"', words)
        items = [
            i for i in items
            if (not state or i["state"] == state[1])
            and all(name in [v["name"] for v in i["labels"]] for name in labels)
        ]  # fmt: skip
        return self.paged(items[::-1], query, "items")

    def paged(self, items: list[Any], query: dict[str, str], inside: str = "") -> Reply:
        size = int(query.get("per_page") or query.get("limit") or 30)
        number = int(query.get("page", 1))
        displayed = items[(number - 1) * size : number * size]
        last = max(-(-len(items) // size), 1)
        links = []
        if number < last:
            links = [f'<{self.api}/x?page={number + 1}>; rel="next"',
                     f'<{self.api}/x?page={last}>; rel="last"']  # fmt: skip
        headers = {"link": ", ".join(links)} if links else {}
        if self.gitea:
            headers["x-total-count"] = str(len(items))
        body = {"total_count": len(items), inside: displayed} if inside else displayed
        return 200, body, headers

    def of(  # noqa: PLR0912, PLR0915, C901 - one line a route
        self, repo: Repo, method: str, parts: list[str], query: dict[str, str],
        headers: dict[str, str], body: Any, who: str | None,
    ) -> Reply:  # fmt: skip
        number = int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else 0
        match (method, *parts):
            case ("GET",):
                return 200, repo.about(who in repo.pushing), {}
            case ("GET", "collaborators", name, "permission"):
                right = "write" if name in repo.pushing else "read"
                return 200, {"permission": right}, {}
            case ("GET", "contents", *rest):
                return self.content(repo, "/".join(rest), headers)
            case ("GET", "git", "trees", _):
                tree = [{"path": p, "type": "blob", "size": 1} for p in sorted(repo.files)]
                return 200, {"tree": tree, "truncated": False}, {}
            case ("GET", "issues"):
                both = [*repo.issues.values()]
                both += [] if query.get("type") == "issues" else repo.pulls.values()
                since = query.get("since", "")
                return self.paged([i for i in both if i["created_at"] >= since][::-1], query)
            case ("POST", "issues"):
                labels = [{"name": name} for name in body.get("labels", [])]
                item = repo.issue(body["title"], body.get("body", ""), labels=labels)
                item["created_at"] = now()
                return 201, item, {}
            case ("GET", "issues", _) if number in repo.issues or number in repo.pulls:
                return 200, repo.issues.get(number) or repo.pulls[number], {}
            case ("PATCH", "issues", _):
                repo.issues[number] |= body
                return 200, repo.issues[number], {}
            case ("POST", "issues", _, "labels"):
                repo.issues[number]["labels"] += [{"name": n} for n in body["labels"]]
                return 200, repo.issues[number]["labels"], {}
            case ("GET", "issues", _, "comments"):
                since = query.get("since", "")
                found = [c for c in repo.comments.get(number, []) if c["created_at"] >= since]
                return self.paged(found, query)
            case ("POST", "issues", _, "comments"):
                return 201, repo.comment(number, body["body"], created_at=now()), {}
            case ("GET", "pulls"):
                want = (query.get("state", "open"), query.get("head", ""))
                found = [
                    p for p in repo.pulls.values()
                    if want[0] in ("all", p["state"]) and want[1] in ("", p["head"]["label"])
                ]  # fmt: skip
                return self.paged(found[::-1], query)
            case ("POST", "pulls"):
                if body["head"] == "nowhere":
                    wrong = {"resource": "PullRequest", "field": "head", "code": "invalid"}
                    return 422, {"message": "Validation Failed", "errors": [wrong]}, {}
                return 201, repo.pull(body["title"], body["head"], body=body["body"]), {}
            case ("GET", "pulls", name) if name.endswith(".diff"):
                return 200, repo.diffs[int(name.removesuffix(".diff"))].encode(), {}
            case ("GET", "pulls", _) if number in repo.pulls:
                if "diff" in headers.get("accept", ""):
                    text = repo.diffs.get(number)
                    return (200, text.encode(), {}) if text else (406, {"message": "too large"}, {})
                return 200, repo.pulls[number], {}
            case ("GET", "pulls", _, "files"):
                return self.paged([{"filename": "a.txt", "additions": 1, "deletions": 0,
                                    "patch": "@@ -0,0 +1 @@\n+x"}], query)  # fmt: skip
            case ("GET", "pulls", _, "reviews"):
                return self.paged(repo.reviews.get(number, []), query)
            case ("POST", "pulls", _, "reviews"):
                item = {"user": user("ann"), "body": body["body"], "submitted_at": now(),
                        "state": body["event"], "html_url": "https://github.test/r"}  # fmt: skip
                repo.reviews.setdefault(number, []).append(item)
                return 200, item, {}
            case ("GET", "pulls", _, "comments"):
                return self.paged([], query)
            case ("PUT" | "POST", "pulls", _, "merge"):
                if body.get("sha", body.get("head_commit_id")) != repo.pulls[number]["head"]["sha"]:
                    return 409, {"message": "Head branch was modified."}, {}
                repo.pulls[number] |= {"merged": True, "state": "closed"}
                return 200, {"merged": True}, {}
            case ("GET", "commits"):
                commit = {"message": "A subject\n\nmore", "author": {"name": "Ann", "date": MOMENT}}
                return self.paged(
                    [{"sha": "c" * 40, "commit": commit, "author": user("ann")}], query
                )
            case ("GET", "commits", _, "check-runs"):
                runs = [{"name": "test", "conclusion": "failure"}, {"name": "lint",
                         "conclusion": "success"}]  # fmt: skip
                return self.paged(runs, query, "check_runs")
            case ("GET", "commits", _, "status"):
                return 200, {"state": "pending", "statuses": []}, {}
            case ("GET", "releases"):
                return self.paged(repo.releases, query)
            case ("GET", "releases", "tags", tag):
                found = [r for r in repo.releases if r["tag_name"] == tag]
                return (200, found[0], {}) if found else refused(404)
            case ("POST", "releases"):
                item = {**body, "html_url": "https://github.test/rel", "assets": []}
                repo.releases.append(item)
                return 201, item, {}
            case ("GET", "labels"):
                return self.paged([{"id": 5, "name": "bug"}], query)
            case ("GET", "actions", "runs"):
                return self.paged([RUN], query, "workflow_runs")
            case ("GET", "actions", "runs", _):
                return 200, RUN, {}
            case ("GET", "actions", "runs", _, "jobs"):
                return self.paged(repo.jobs, query, "jobs")
            case ("GET", "actions", "jobs", job, "logs"):
                return 302, b"", {"location": repo.logs[int(job)]}
        return refused(404)

    def content(self, repo: Repo, path: str, headers: dict[str, str]) -> Reply:
        data = repo.files.get(path)
        if data is None:
            inside = sorted({p[len(path) :].strip("/").split("/")[0] for p in repo.files
                             if p.startswith(f"{path}/" if path else "")})  # fmt: skip
            rows = [{"name": name, "type": "file"} for name in inside]
            return (200, rows, {}) if rows else refused(404)
        if "raw" in headers.get("accept", ""):
            return 200, data, {}
        small = len(data) < 1_000_000
        text = b64encode(data).decode() if small else ""
        return 200, {"type": "file", "path": path, "size": len(data), "sha": "f" * 40,
                     "content": text, "encoding": "base64" if small else "none"}, {}  # fmt: skip


RUN = {
    "id": 77, "name": "CI", "status": "completed", "conclusion": "failure", "event": "push",
    "head_branch": "main", "display_title": "A change", "created_at": MOMENT,
    "triggering_actor": user("ann"),
}  # fmt: skip


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def refused(status: int) -> Reply:
    return status, {"message": {404: "Not Found", 401: "Requires authentication"}[status]}, {}


class _Handler(BaseHTTPRequestHandler):
    served: GitHub

    def answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(raw) if raw else None
        status, value, more = self.served.answer(self.command, self.path, headers, body)
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        if status == 200 and self.command == "GET":
            more = {**more, "etag": f'"{hashlib.sha256(data).hexdigest()}"'}
            if headers.get("if-none-match") == more["etag"]:
                self.served.unchanged += 1
                status, data = 304, b""
        self.send_response(status)
        for name, text in {"content-type": "application/json", **more}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def github(path: str = "/api/v3") -> Iterator[GitHub]:
    """A running one; with /api/v1 it answers as Gitea does."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    base = f"http://127.0.0.1:{server.server_address[1]}{path}"
    served = handler.served = GitHub(base, path.endswith("v1"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
