"""Details in which plain git is exact, and the tools are too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tools.git.made import commit, git, make_repository, on_a_side, write
from tests.tools.git.test_local import do, refused, state
from toolcrib import Toolbox


async def test_a_change_of_line_ends_is_seen(box: Toolbox, repo: Path) -> None:
    (repo / "a.txt").write_bytes(b"one\r\ntwo\nthree\n")
    text = await do(box, "git_diff")
    assert "-one\n+one^M" in text
    assert "line ends change" in text
    commit(repo, "one line")
    assert "+one^M" in await do(box, "git_show")
    (repo / "a.txt").write_bytes(b"one\r\n2\r\n")
    commit(repo, "mixed")
    (repo / "a.txt").write_bytes(b"uno\r\n2\r\n")
    text = await do(box, "git_diff")  # the same before and after: nothing to be said of it
    assert "-one\n+uno" in text
    assert "^M" not in text


async def test_separators_in_names_and_subjects_move_nothing(box: Toolbox, repo: Path) -> None:
    subject = "sub\x1fject \x1e end"
    git(repo, "commit", "-q", "--allow-empty", "-m", subject, GIT_AUTHOR_NAME="A\x1fB\x1fC")
    result = await box.call("git_log", {"limit": 1})
    found = result.data["commits"][0]
    assert found["author"] == git(repo, "log", "-1", "--format=%an").rstrip("\n")
    assert found["subject"] == git(repo, "log", "-1", "--format=%s").rstrip("\n")
    assert found["names"] == "HEAD -> main"


async def test_blame_tells_the_day_of_the_author(box: Toolbox, repo: Path) -> None:
    for name, date in (("late", "2026-01-31T23:30:00 -0830"), ("soon", "2026-02-01T00:30 +0530")):
        write(repo, **{f"{name}.txt": "x\n"})
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", name, GIT_AUTHOR_DATE=date)
        assert date[:10] in git(repo, "blame", "--date=short", f"{name}.txt")
        assert f" {date[:10]} Ann: {name}" in await do(box, "git_blame", path=f"{name}.txt")


async def test_lines_with_a_number_sign_stay_in_messages(box: Toolbox, repo: Path) -> None:
    message = "#12 is mended\n\n# Why\n\nIt was broken."
    write(repo, **{"a.txt": "new\n"})
    await do(box, "git_commit", message=message, all=True)
    assert git(repo, "log", "-1", "--format=%B").strip() == message
    write(repo, **{"a.txt": "newer\n"})
    await do(box, "git_commit", amend=True, all=True)
    assert git(repo, "log", "-1", "--format=%B").strip() == message
    await do(box, "git_tag", action="create", name="v1", message="# Release\n\ntext")
    assert git(repo, "tag", "-l", "--format=%(contents)").strip() == "# Release\n\ntext"


async def test_longer_marks_of_a_conflict_are_refused(tmp_path: Path) -> None:
    marked = {"a.txt": "1\n", ".gitattributes": "a.txt conflict-marker-size=12\n"}
    repo = make_repository(tmp_path / "ws", **marked)
    on_a_side(repo, **{"a.txt": "side\n"})
    write(repo, **{"a.txt": "main\n"})
    commit(repo, "main")
    async with Toolbox(workspace=repo) as box:
        await do(box, "git_merge", branch="side")
        assert "<<<<<<<<<<<< HEAD" in (repo / "a.txt").read_text()
        assert "Marks of a conflict" in await refused(box, "git_add", paths=["a.txt"])
        git(repo, "add", "a.txt")
        assert "Marks of a conflict" in await refused(box, "git_commit", message="m")


@pytest.mark.parametrize("setting", ["branch.main.rebase", "pull.rebase"])
async def test_a_pull_rebases_where_the_settings_say_so(tmp_path: Path, setting: str) -> None:
    source = make_repository(tmp_path / "ws" / "source")
    git(tmp_path / "ws", "clone", "-q", "source", "copy")
    copy = tmp_path / "ws" / "copy"
    for repo in (source, copy):
        write(repo, **{f"{repo.name}.txt": "x\n"})
        commit(repo, repo.name)
    git(copy, "config", setting, "true")
    async with Toolbox(workspace=copy.parent) as box:
        await do(box, "change_directory", path="copy")
        await do(box, "git_pull")
    assert git(copy, "log", "--format=%s").split() == ["copy", "source", "first"]


async def test_a_conflict_of_submodules_is_shown_and_resolved(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "ws")
    inner = make_repository(tmp_path / "inner")
    hashes = [commit(inner, text) for text in ("base", "ours", "theirs")]

    def at(digest: str) -> None:
        git(repo, "update-index", "--add", "--cacheinfo", f"160000,{digest},inner")
        git(repo, "commit", "-q", "-m", digest)

    at(hashes[0])
    git(repo, "checkout", "-q", "-b", "side")
    at(hashes[2])
    git(repo, "checkout", "-q", "main")
    at(hashes[1])
    async with Toolbox(workspace=repo) as box:
        assert "conflicts in inner" in await do(box, "git_merge", branch="side")
        text = await do(box, "git_conflicts")
        assert f"theirs at {hashes[2][:10]}" in text
        assert "submodule" in await refused(
            box, "git_conflicts", path="inner", take="text", text="x"
        )
        await do(box, "git_conflicts", path="inner", take="theirs")
        await do(box, "git_commit", message="m")
    assert hashes[2] in git(repo, "ls-tree", "HEAD")


async def test_nothing_to_stash_is_said_though_a_stash_is_there(box: Toolbox, repo: Path) -> None:
    write(repo, **{"a.txt": "new\n"})
    await do(box, "git_stash")
    assert "nothing to put aside" in await refused(box, "git_stash")
    assert len(git(repo, "stash", "list").splitlines()) == 1


async def test_before_the_first_commit_all_is_unstaged_and_the_rest_is_told(
    tmp_path: Path,
) -> None:
    repo = tmp_path / "ws"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    write(repo, **{"a.txt": "1\n"})
    git(repo, "add", "-A")
    async with Toolbox(workspace=repo) as box:
        await do(box, "git_reset")
        assert git(repo, "status", "--short").strip() == "?? a.txt"
        for tool in ("git_stash", "git_show", "git_log"):
            assert "There is no commit yet" in await refused(box, tool)
        assert "There is no commit yet" in await refused(box, "git_blame", path="a.txt")


async def test_a_pick_of_which_nothing_is_left_says_how_it_goes_on(
    box: Toolbox, repo: Path
) -> None:
    assert "action=skip" in await do(box, "git_pick", commits=["HEAD"])
    await do(box, "git_pick", action="skip")
    assert "clean" in await do(box, "git_status")


async def test_a_folder_as_it_was_has_a_line_for_each_name(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "ws", **{"a\nb.txt": "1\n"})
    async with Toolbox(workspace=repo) as box:
        assert (await do(box, "git_show", path=".")).splitlines() == ["a\\nb.txt"]


async def test_a_merge_is_taken_back_by_a_commit_of_its_own(box: Toolbox, repo: Path) -> None:
    on_a_side(repo, **{"side.txt": "x\n"})
    write(repo, **{"main.txt": "x\n"})
    commit(repo, "main")
    git(repo, "merge", "-q", "--no-edit", "side")
    await do(box, "git_pick", commits=["HEAD", "HEAD~1"], revert=True)
    assert git(repo, "ls-files").split() == ["a.txt"]
    await do(box, "git_pick", commits=["HEAD~2"])
    assert git(repo, "ls-files").split() == ["a.txt", "side.txt"]


async def test_a_lock_and_an_open_merge_are_named(box: Toolbox, repo: Path) -> None:
    write(repo, **{"a.txt": "new\n"})
    lock = repo / ".git" / "index.lock"
    lock.touch()
    for tool, arguments in (("git_stash", {}), ("git_add", {"all": True})):
        assert "index.lock exists" in await refused(box, tool, **arguments)
    lock.unlink()
    commit(repo, "new")
    git(repo, "checkout", "-q", "-b", "side", "HEAD~1")
    write(repo, **{"a.txt": "side\n"})
    commit(repo, "side")
    await do(box, "git_merge", branch="main")
    for tool, arguments in (("git_stash", {}), ("git_reset", {"mode": "soft"})):
        assert "a merge is not finished" in (await refused(box, tool, **arguments)).lower()


async def test_conflicts_that_a_stash_leaves_end_by_a_choice_or_go_back(
    box: Toolbox, repo: Path
) -> None:
    git(repo, "checkout", "-q", "-b", "side")
    write(repo, **{"new.txt": "a\n"})
    commit(repo, "new")
    write(repo, **{"new.txt": "b\n"})
    await do(box, "git_stash")
    await do(box, "git_checkout", branch="main")
    assert "with conflicts" in await do(box, "git_stash", action="pop")
    before = git(repo, "rev-parse", "HEAD", "side", "stash@{0}")
    assert "in conflict: new.txt" in await do(box, "git_diff")
    for tool, arguments in (
        ("git_stash", {"action": "pop"}),
        ("git_rebase", {"onto": "side"}),
        ("git_merge", {"branch": "side"}),
        ("git_pick", {"commits": ["side"]}),
    ):
        text = await refused(box, tool, **arguments)
        assert "Nothing was begun: there are conflicts in new.txt." in text
        assert "abort=true" in text
    assert git(repo, "rev-parse", "HEAD", "side", "stash@{0}") == before
    await do(box, "git_conflicts", abort=True)
    assert git(repo, "status", "--porcelain") == ""
    await do(box, "undo_changes")
    assert git(repo, "status", "--porcelain") == "DU new.txt\n"
    # A text alone is a choice.
    text = await do(box, "git_conflicts", path="new.txt", text="c\n")
    assert text.startswith("Resolved new.txt. No conflict is left. A stash is kept: ")
    assert (repo / "new.txt").read_text() == "c\n"
    await do(box, "git_stash", action="drop")
    await do(box, "git_commit", message="mine")


async def test_going_back_from_a_stash_leaves_what_was_there_before(
    box: Toolbox, repo: Path
) -> None:
    write(repo, **{"b.txt": "b\n", "c.txt": "c\n"})
    commit(repo, "more")
    write(repo, **{"a.txt": "stash\n"})
    await do(box, "git_stash")
    write(repo, **{"a.txt": "main\n"})
    commit(repo, "main")
    write(repo, **{"b.txt": "staged\n", "n.txt": "new\n"})
    git(repo, "add", "b.txt", "n.txt")
    write(repo, **{"c.txt": "not staged\n"})
    await do(box, "git_stash", action="pop")
    text = await do(box, "git_conflicts", abort=True)
    assert "Still changed: b.txt, c.txt, n.txt." in text
    assert git(repo, "status", "--porcelain") == "M  b.txt\n M c.txt\nA  n.txt\n"
    assert (repo / "a.txt").read_text() == "main\n"


async def test_nothing_is_begun_while_a_pick_is_open(box: Toolbox, repo: Path) -> None:
    on_a_side(repo, **{"a.txt": "side\n"})
    write(repo, **{"a.txt": "main\n"})
    commit(repo, "main")
    assert "Stopped at conflicts in a.txt" in await do(box, "git_pick", commits=["side"])
    for tool, arguments in (
        ("git_pick", {"commits": ["HEAD"], "revert": True}),
        ("git_merge", {"branch": "side"}),
        ("git_rebase", {"onto": "side"}),
        ("git_pull", {}),
    ):
        text = await refused(box, tool, **arguments)
        assert "Nothing was begun: a cherry-pick is not finished, with conflicts in a.txt" in text
        assert "git_pick with action=continue" in text
    assert "main" in await do(box, "git_conflicts")
    await do(box, "git_conflicts", abort=True)
    await do(box, "git_pick", commits=["HEAD"], revert=True)
    # A rebase that its person stopped at a commit is one in which others may be picked.
    git(repo, "rebase", "-q", "-i", "HEAD~1", GIT_SEQUENCE_EDITOR="sed -i s/^pick/edit/")
    await do(box, "git_pick", commits=["HEAD"], revert=True)
    assert "a rebase is not finished" in await refused(box, "git_rebase", onto="side")


async def test_what_git_add_refuses_is_not_named_by_git_commit(box: Toolbox, repo: Path) -> None:
    write(repo, **{"prod.env": "A=1\n"})
    text = await refused(box, "git_commit", message="m")
    assert "prod.env" not in text
    assert "git_add" not in text
    write(repo, **{"b.txt": "1\n", "src/c.txt": "1\n"})
    assert 'paths=["b.txt", "src"]' in await refused(box, "git_commit", message="m")
    assert "Staged 2 files" in await do(box, "git_add", paths="b.txt, src")


async def test_a_hook_that_refuses_in_silence_is_named(repo: Path) -> None:
    hook = repo / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    write(repo, **{"a.txt": "new\n"})
    async with Toolbox({"git": {"trusted": [str(repo)]}}, workspace=repo) as box:
        assert "hooks pre-commit" in await refused(box, "git_commit", message="m", all=True)


async def test_a_submodule_is_staged_as_a_file_of_what_holds_it(box: Toolbox, repo: Path) -> None:
    inner = make_repository(repo / "inner")
    commit(repo, "a submodule")
    digest = commit(inner, "another")
    write(inner, **{"dirty.txt": "x\n"})
    await do(box, "git_add", paths=["inner"])
    assert f"160000 {digest}" in git(repo, "ls-files", "-s")
    assert git(inner, "ls-files").split() == ["a.txt"]
    await do(box, "git_reset", paths=["inner"])
    assert f"160000 {digest}" not in git(repo, "ls-files", "-s")
    await do(box, "git_add", paths=["inner/dirty.txt"])
    assert git(inner, "ls-files").split() == ["a.txt", "dirty.txt"]
    await do(box, "change_directory", path="inner")
    await do(box, "git_reset", paths=["."])
    assert git(inner, "ls-files").split() == ["a.txt"]


async def test_counts_are_those_of_git(box: Toolbox, repo: Path) -> None:
    write(repo, **{"b.txt": "b\n" * 9})
    commit(repo, "b")
    git(repo, "mv", "b.txt", "c.txt")
    (repo / "a.txt").unlink()
    (repo / "a.txt").symlink_to("c.txt")
    await do(box, "git_add", all=True)
    text = await do(box, "git_commit", message="m")
    assert git(repo, "show", "--shortstat", "--format=").strip() in text
    assert "2 files, +1 -3" in await do(box, "git_show", stat=True)


async def test_a_commit_with_only_new_files_says_what_to_do(box: Toolbox, repo: Path) -> None:
    write(repo, **{"new.txt": "x\n", "more/x.txt": "x\n"})
    for everything in (False, True):
        text = await refused(box, "git_commit", message="m", all=everything)
        assert "There is nothing to commit" in text
        assert 'git_add with paths=["more", "new.txt"]' in text
        assert "all=true" not in text
    write(repo, **{"a.txt": "new\n"})
    assert "all=true commits the changes of a.txt" in await refused(box, "git_commit", message="m")
    await do(box, "git_add", all=True)
    await do(box, "git_commit", message="m")
    assert "Nothing is changed" in await refused(box, "git_commit", message="m")


async def test_a_revert_by_its_own_name_reverts(box: Toolbox, repo: Path) -> None:
    write(repo, **{"a.txt": "new\n"})
    commit(repo, "second")
    await do(box, "git_revert", commit="HEAD")
    assert (repo / "a.txt").read_text() == "one\ntwo\nthree\n"
    await do(box, "git_cherry_pick", commit="HEAD~1")
    assert (repo / "a.txt").read_text() == "new\n"


async def test_a_merge_is_aborted_after_a_side_was_taken(box: Toolbox, repo: Path) -> None:
    on_a_side(repo, **{"a.txt": "theirs\n"})
    write(repo, **{"a.txt": "ours\n"})
    commit(repo, "ours")
    before = state(repo)
    for side in ("base", "theirs", "ours"):
        await do(box, "git_merge", branch="side")
        await do(box, "git_conflicts", path="a.txt", take=side)
        assert "aborted" in await do(box, "git_conflicts", abort=True)
        assert state(repo) == before


async def test_more_text_than_can_be_looked_through_is_not_committed(
    box: Toolbox, repo: Path
) -> None:
    (repo / "big.txt").write_text("a line of a very large text\n" * 2_400_000)
    await do(box, "git_add", all=True)
    text = await refused(box, "git_commit", message="big")
    assert text.startswith("too_large: What is to be committed is too much text")
    await do(box, "git_reset", paths=["big.txt"])
    assert "big.txt" in await do(box, "git_status")


async def test_names_with_marks_that_end_lines_elsewhere(box: Toolbox, repo: Path) -> None:
    odd = "a\u2028b\x85c"
    git(repo, "branch", odd)
    git(repo, "tag", odd)
    (repo / "a.txt").write_text("changed\n")
    git(repo, "stash", "push", "-q", "-m", odd)
    for tool, arguments, field in (
        ("git_branch", {}, "branches"),
        ("git_tag", {"action": "list"}, "tags"),
        ("git_stash", {"action": "list"}, "stashes"),
    ):
        result = await box.call(tool, arguments)
        assert result.error is None, result.render()
        assert odd in json.dumps(result.data[field], ensure_ascii=False), result.data
    assert (await box.call("git_tag", {"action": "create", "name": "v1"})).error is None
    assert (await box.call("undo_changes", {})).error is None
    assert git(repo, "tag").splitlines()[0].startswith("a")
    assert "v1" not in git(repo, "tag")


async def test_objects_of_another_repository_of_the_workspace_are_used(
    box: Toolbox, repo: Path
) -> None:
    git(repo, "clone", "-q", "--shared", ".", "near")
    alternates = repo / "near/.git/objects/info/alternates"
    # Named again and again, and by each other: each folder is looked at once.
    alternates.write_text(alternates.read_text() * 10_000)
    (repo / ".git/objects/info/alternates").write_text(f"{repo}/near/.git/objects\n" * 10_000)
    await do(box, "change_directory", path="near")
    assert "Ann" in await do(box, "git_log")


async def test_objects_above_a_link_are_not_used(box: Toolbox, repo: Path, tmp_path: Path) -> None:
    """Older versions of git take `..` for the name above, so it leads them elsewhere."""
    (repo / "deep/inner").mkdir(parents=True)
    (repo / "deep/objects").mkdir()
    (repo / "near").symlink_to("deep/inner")
    (repo / "objects").symlink_to(tmp_path)
    (repo / ".git/objects/info").mkdir(exist_ok=True)
    (repo / ".git/objects/info/alternates").write_text(f"{repo}/near/../objects\n")
    assert "outside of the workspace" in await refused(box, "git_log")


async def test_what_cannot_be_added_is_told_by_its_cause(box: Toolbox, repo: Path) -> None:
    write(repo, **{".gitignore": "*.log\nbuild/\n", "t.txt": "t", "x.log": "x", "build/o": "o"})
    before = git(repo, "ls-files")
    for name in ("x.log", "build/o", "build"):
        text = await refused(box, "git_add", paths=["t.txt", name])
        assert text.startswith(f"bad_input: git ignores {name} (.gitignore)"), text
    for name in ("*.txt", "nix.txt"):
        text = await refused(box, "git_add", paths=["t.txt", name])
        assert text.startswith(f"not_found: {name} does not exist"), text
        assert ("globs are not expanded" in text) == ("*" in name)
    assert "Nothing is changed in a.txt" in await refused(box, "git_add", paths=["a.txt"])
    assert git(repo, "ls-files") == before
    (repo / "a.txt").unlink()
    write(repo, **{":x*": "strange"})
    assert "Staged 2 files" in await do(box, "git_add", paths=["a.txt", ":x*"])
    assert "Nothing was to be staged" in await do(box, "git_add", paths=["a.txt", ":x*"])


async def test_a_branch_and_a_remote_that_are_not_there_name_the_next_step(box: Toolbox) -> None:
    assert "create=true makes a new branch" in await refused(box, "git_checkout", branch="newone")
    assert "It has none. Ask the user to add one" in await refused(box, "git_push")


def long_text(end: str, **changed: str) -> str:
    """Forty lines, some of them changed: `l5="x"`."""
    lines = [changed.get(f"l{number}", f"line {number}") for number in range(40)]
    return "".join(f"{line}{end}" for line in lines)


async def conflict_in(box: Toolbox, repo: Path, theirs: str, ours: str, end: str = "\n") -> None:
    write(repo, f=long_text(end))
    commit(repo, "before")
    on_a_side(repo, f=theirs)
    write(repo, f=ours)
    commit(repo, "ours")
    assert "Stopped at conflicts in f" in await do(box, "git_merge", branch="side")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_a_text_for_the_conflict_alone_takes_its_place(
    box: Toolbox, repo: Path, end: str
) -> None:
    await conflict_in(box, repo, long_text(end, l5="t"), long_text(end, l5="o", l30="o"), end)
    text = await do(box, "git_conflicts", path="f", text="both\nof them\n")
    assert text.startswith("Resolved f. The text stands in the place of the conflict; ")
    merged = long_text(end, l5=f"both{end}of them", l30="o")
    assert (repo / "f").read_bytes() == merged.encode()


async def test_a_part_of_several_conflicts_resolves_none(box: Toolbox, repo: Path) -> None:
    await conflict_in(box, repo, long_text("\n", l5="t", l30="t"), long_text("\n", l5="o", l30="o"))
    marked = (repo / "f").read_text()
    assert "f, which has 2 conflicts" in await refused(
        box, "git_conflicts", path="f", text="both\n"
    )
    assert (repo / "f").read_text() == marked
    whole = long_text("\n", l5="b", l30="b")
    assert "in the place" not in await do(box, "git_conflicts", path="f", text=whole)
    assert (repo / "f").read_text() == whole


async def stopped_rebase(box: Toolbox, repo: Path, onto: str = "side") -> None:
    on_a_side(repo, **{"a.txt": "side\n"})
    write(repo, **{"a.txt": "main\n"})
    commit(repo, "on main")
    assert "Stopped at conflicts in a.txt" in await do(box, "git_rebase", onto=onto)


async def test_conflicts_of_a_rebase_and_a_pick_say_whose_side_is_whose(
    box: Toolbox, repo: Path
) -> None:
    await stopped_rebase(box, repo)
    own = git(repo, "rev-parse", "--short", "REBASE_HEAD").strip()
    first, *_ = (await do(box, "git_conflicts")).split("\n")
    assert first == f"ours (side: what you rebase onto), theirs (your commit: {own} on main)"
    await do(box, "git_conflicts", abort=True)
    await do(box, "git_pick", commits=["side"])
    picked = git(repo, "rev-parse", "--short", "side").strip()
    first, *_ = (await do(box, "git_conflicts")).split("\n")
    assert first.startswith(f"ours (main: what you pick onto), theirs (the picked commit: {picked}")


@pytest.mark.parametrize("action", ["continue", "skip"])
async def test_a_rebase_that_leaves_a_commit_out_says_so(
    box: Toolbox, repo: Path, action: str
) -> None:
    await stopped_rebase(box, repo)
    if action == "continue":
        await do(box, "git_conflicts", path="a.txt", take="ours")
    text = await do(box, "git_rebase", action=action)
    assert git(repo, "rev-parse", "main") == git(repo, "rev-parse", "side")
    assert text.startswith(f"main is at {git(repo, 'rev-parse', '--short', 'side').strip()} ")
    assert text.endswith("\n1 commit left out: skipped, or nothing of it was new.")


async def test_a_rebase_that_keeps_all_leaves_nothing_out(box: Toolbox, repo: Path) -> None:
    await stopped_rebase(box, repo)
    await do(box, "git_conflicts", path="a.txt", take="theirs")
    assert "left out" not in await do(box, "git_rebase", action="continue")


async def test_changes_of_a_submodule_are_seen_or_named(box: Toolbox, repo: Path) -> None:
    inner = make_repository(repo / "vendor/lib")
    write(repo, **{".gitmodules": '[submodule "lib"]\n\tpath = vendor/lib\n\turl = ../lib\n'})
    commit(repo, "a submodule")
    write(inner, **{"a.txt": "edited\n"})
    _, *lines = (await do(box, "git_status")).split("\n")
    assert lines == [
        "changes inside submodules are not looked at: vendor/lib. path=vendor/lib shows them"
    ]
    assert "edited" in await do(box, "git_diff", path="vendor/lib")
    commit(inner, "in it")
    whole = await do(box, "git_diff")
    assert "Subproject commit" in whole
    assert await do(box, "git_diff", path="vendor/lib") == whole


@pytest.mark.parametrize(("first", "second"), [("x", "x/login"), ("x/login", "x")])
async def test_a_branch_in_whose_place_a_folder_of_branches_would_be(
    box: Toolbox, repo: Path, first: str, second: str
) -> None:
    git(repo, "branch", first)
    text = await refused(box, "git_branch", name=second)
    assert f"{first} exists and stands in the way" in text


async def test_a_last_line_is_taken_for_a_number_of_lines(box: Toolbox) -> None:
    text = await do(box, "git_blame", path="a.txt", start=2, end="3")
    assert "two" in text and "three" in text and "one" not in text
