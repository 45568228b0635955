"""A repository, its files, commits and releases; search of code and repositories."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from toolcrib.core.errors import BadInput, NotFound, UnsupportedContent
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted
from toolcrib.tools.github.authors import check_ref
from toolcrib.tools.github.client import RAW, TEXT_MATCH
from toolcrib.tools.github.repository import GitHubRepository, is_allowed
from toolcrib.tools.github.view import ReadOptions, View, day, login, prose

ENTRIES_OF_A_TREE = 500
SNIFFED_BYTES = 8_000
NOTE_CHARS = 300


async def repository(request: ReadOptions) -> View:
    """What a repository is, and its README."""
    found = await request.open_repository()
    check_ref(found, request.ref)
    if not found.about:
        await found.look()
    about, view = found.about, View.of(found)
    topics = [one_line(topic, 60) for topic in about.get("topics") or []]
    license_name = (about.get("license") or {}).get("spdx_id") or ""
    facts = [
        "private" if found.is_private else "public",
        *(["archived"] if about.get("archived") else []),
        *(["a fork"] if about.get("fork") else []),
        f"default branch {found.default_branch}",
        *([str(about["language"])] if about.get("language") else []),
        *([license_name] if license_name else []),
        f"{about.get('stargazers_count', about.get('stars_count', 0))} stars",
        f"{about.get('open_issues_count', 0)} open issues and pull requests",
        f"pushed {day(about.get('pushed_at') or about.get('updated_at'))}",
        *(["you may push"] if found.may_push else []),
    ]
    view.lines = [found.name, one_line(about.get("description"), 500), ", ".join(facts)]
    view.lines += [f"topics: {', '.join(topics)}"] if topics else []
    try:
        readme = await _file_text(found, "README.md", request.ref)
        view.lines += ["", readme]
    except (NotFound, UnsupportedContent):
        view.lines += ["", "(no README.md)"]
    view.data = {"name": found.name, "private": found.is_private, "topics": topics}
    view.data["default_branch"] = found.default_branch
    return view


async def file(request: ReadOptions) -> View:
    """A file, or what is in a folder, at a branch, tag or commit."""
    found = await request.open_repository()
    path = request.path.strip("/")
    check_ref(found, request.ref)
    view = View.of(found, f"blob/{request.ref or 'HEAD'}/{path}")
    item = await _content(found, path, request.ref)
    if isinstance(item, list):
        rows = [f"{e.get('name')}{'/' if e.get('type') == 'dir' else ''}" for e in item]
        view.lines = [
            f"{path or found.name}: a folder with {counted(len(rows), 'entry', 'entries')}",
            *rows,
        ]
        view.data = {"entries": rows}
        return view
    if item.get("type") not in ("file", None):
        target = item.get("target") or item.get("submodule_git_url") or ""
        view.lines = [f"{path} is a {item.get('type')} to {one_line(target, 300)}"]
        return view
    view.lines = [f"{path} ({item.get('size', 0):,} bytes)"]
    view.lines.append(await _text_of(found, item, path, request.ref))
    view.data = {"path": path, "sha": item.get("sha"), "bytes": item.get("size")}
    return view


async def _content(found: GitHubRepository, path: str, ref: str) -> Any:
    parts = [part for part in path.split("/") if part]
    if any(part in (".", "..") for part in parts):
        raise BadInput(f"'{path[:200]}' is no path of a repository.")
    what = f"{path or 'files'}{f' at {ref}' if ref else ''}"
    try:
        answer = await found.get("contents", *parts, what=what, params={"ref": ref})
    except NotFound as error:
        hint = f"Check the repository; kind=tree lists its files{' at this ref' if ref else ''}."
        raise NotFound(error.message, hint=hint) from None
    return answer.json()


async def _file_text(found: GitHubRepository, path: str, ref: str) -> str:
    item = await _content(found, path, ref)
    if not isinstance(item, dict):
        raise NotFound(f"{path} is no file.", hint="kind=file lists folders.")
    return await _text_of(found, item, path, ref)


async def _text_of(found: GitHubRepository, item: Mapping[str, Any], path: str, ref: str) -> str:
    if item.get("encoding") == "base64" and (item.get("content") or not item.get("size")):
        body = b64decode(str(item.get("content") or ""))
    else:  # more than a megabyte
        parts = path.split("/")
        answer = await found.get("contents", *parts, what=path, params={"ref": ref}, accept=RAW)
        body = answer.body
    if b"\0" in body[:SNIFFED_BYTES]:
        raise UnsupportedContent(f"{path} is binary ({len(body):,} bytes).")
    return body.decode("utf-8", "replace")


async def tree(request: ReadOptions) -> View:
    """All files of a repository, or those beneath a folder."""
    found = await request.open_repository()
    check_ref(found, request.ref)
    ref = request.ref or found.default_branch or "HEAD"
    answer = await found.get("git", "trees", ref, what=f"commit {ref}", params={"recursive": "1"})
    value = answer.json() or {}
    beneath = request.path.strip("/")
    names = [
        f"{entry.get('path')}{'/' if entry.get('type') == 'commit' else ''}"
        for entry in value.get("tree") or []
        if entry.get("type") in ("blob", "commit")
        and (not beneath or f"{entry.get('path')}/".startswith(f"{beneath}/"))
    ]
    start = (request.page - 1) * ENTRIES_OF_A_TREE
    displayed = names[start : start + ENTRIES_OF_A_TREE]
    view = View.of(found, f"tree/{ref}/{beneath}")
    view.age, view.more = answer.age, start + len(displayed) < len(names)
    view.lines = [f"{found.name} at {ref}: {len(displayed)} of {len(names):,} files", *displayed]
    if value.get("truncated"):
        view.lines.append(
            "(the repository has more than the server lists; kind=file lists folders)"
        )
    view.data = {"files": displayed, "total": len(names)}
    return view


async def commits(request: ReadOptions) -> View:
    """Commits, the newest first; of a branch, and of a path."""
    found = await request.open_repository()
    check_ref(found, request.ref)
    page = await found.page(
        "commits",
        what=f"commits at {request.ref or 'its default branch'}",
        number=request.page,
        limit=request.limit,
        params={"sha": request.ref, "path": request.path.strip("/")},
    )
    view = View.of(found, f"commits/{request.ref}")
    view.head(
        f"commits of {found.name}{f' at {request.ref}' if request.ref else ''}", page, request
    )
    rows = []
    for item in page.items:
        inner = item.get("commit") or {}
        author = inner.get("author") or {}
        subject = one_line(str(inner.get("message") or "").split("\n", 1)[0], 200)
        sha = str(item.get("sha"))
        name = login(item, "author") or one_line(author.get("name"), 60)
        view.lines.append(f"{sha[:10]} {day(author.get('date'))} {name}: {subject}")
        rows.append({"sha": sha, "author": name, "date": author.get("date"), "subject": subject})
    view.data["items"] = rows
    return view


async def releases(request: ReadOptions) -> View:
    """Releases, the newest first; with `ref` the one of that tag, whole."""
    found = await request.open_repository()
    if request.ref:
        what = f"release {request.ref}"
        items = [(await found.get("releases", "tags", request.ref, what=what)).json()]
        view = View.of(found, f"releases/tag/{request.ref}")
    else:
        page = await found.page(
            "releases", what="releases", number=request.page, limit=request.limit
        )
        view, items = View.of(found, "releases"), page.items
        view.head(f"releases of {found.name}", page, request)
    rows = []
    for item in items:
        kinds = [kind for kind in ("draft", "prerelease") if item.get(kind)]
        name = one_line(item.get("name"), 200)
        when = day(item.get("published_at") or item.get("created_at"))
        about = f" ({', '.join(kinds)})" if kinds else ""
        view.lines.append(f"{item.get('tag_name')} {when}{about} {name}")
        text = prose(item.get("body"))
        view.lines += [text if request.ref else one_line(text, NOTE_CHARS)] if text else []
        assets = [f"{a.get('name')} ({a.get('size', 0):,} bytes)" for a in item.get("assets") or []]
        view.lines += [f"files: {', '.join(assets)}"] if assets and request.ref else []
        rows.append({"tag": item.get("tag_name"), "name": name, "date": when})
    view.data["items"] = rows
    return view


async def search_code(request: ReadOptions) -> View:
    """Lines of code, by GitHub's search."""
    client = request.client
    if client.server.is_gitea:
        raise UnsupportedContent(
            f"{client.server.name} has no search of code in its API.",
            hint="git_clone the repository, and search_files in it.",
        )
    scope = f"repo:{(await request.open_repository()).name} " if request.repository else ""
    params = {"q": f"{scope}{request.query}"}
    page = await client.page(
        "search/code", request.page, request.limit, params, inside="items", accept=TEXT_MATCH
    )
    view = View(f"{client.server.web}/search?type=code")
    view.head("files found", page, request)
    rows = []
    for item in page.items:
        inner = item.get("repository") or {}
        name = str(inner.get("full_name") or "")
        if not is_allowed(request.ctx, name):
            continue
        view.is_private = view.is_private or bool(inner.get("private"))
        view.lines.append(f"{name}: {one_line(item.get('path'), 300)}")
        for match in (item.get("text_matches") or [])[:3]:
            text = str(match.get("fragment") or "").strip("\n")
            view.lines += [f"    {line[:200]}" for line in text.split("\n")[:8]]
        rows.append({"repository": name, "path": item.get("path"), "url": item.get("html_url")})
    view.data["items"] = rows
    return view


async def search_repositories(request: ReadOptions) -> View:
    """Repositories by their name and description."""
    client = request.client
    names = ("repos/search", "data"), ("search/repositories", "items")
    path, inside = names[0] if client.server.is_gitea else names[1]
    page = await client.page(path, request.page, request.limit, {"q": request.query}, inside=inside)
    view = View(f"{client.server.web}/search?type=repositories")
    view.head("repositories found", page, request)
    rows = []
    for item in page.items:
        name = str(item.get("full_name") or "")
        if not is_allowed(request.ctx, name):
            continue
        view.is_private = view.is_private or bool(item.get("private"))
        stars = item.get("stargazers_count", item.get("stars_count", 0))
        facts = [str(item["language"])] if item.get("language") else []
        facts += [f"{stars} stars", *(["private"] if item.get("private") else [])]
        view.lines.append(f"{name} ({', '.join(facts)}) {one_line(item.get('description'), 200)}")
        rows.append({"name": name, "stars": stars, "url": item.get("html_url")})
    view.data["items"] = rows
    return view
