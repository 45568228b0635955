"""A token in the settings of a repository is shown by no tool, and the repository stays usable."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cases import each_case
from toolcrib import Toolbox
from toolcrib.files.repositories.credentials import (
    holds_credentials,
    settings_in,
    without_credentials,
)

TOKEN = "ghp_q8Zt5LkV2mXw9RbT4cYn7Hs3Jd6Fg1Pa0Eu"
REMOTE = f'[remote "origin"]\n\turl = https://me:{TOKEN}@git.example.org/x.git\n'
CORE = "[core]\n\trepositoryformatversion = 0\n"


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Toolbox]:
    for folder in (tmp_path / "work/.git", tmp_path / "work/bare.git"):
        folder.mkdir(parents=True)
        (folder / "config").write_text(CORE + REMOTE)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "work/.git/config.lock").write_text(REMOTE)
    (tmp_path / "work/.hg").mkdir()
    (tmp_path / "work/.hg/hgrc").write_text(f"[auth]\nx.password = {TOKEN}\n")
    (tmp_path / "work/lib/.git").mkdir(parents=True)
    (tmp_path / "work/lib/.git/config").write_text(CORE)
    (tmp_path / "work/.gitmodules").write_text(f"[submodule]\n\turl = https://u:{TOKEN}@h.org/s\n")
    (tmp_path / "work/a.txt").write_text("origin\n")
    for folder, text in (("plain", REMOTE), ("long.git", ";" * 1_000_001 + f"\n{REMOTE}")):
        (tmp_path / "work" / folder / "objects").mkdir(parents=True)
        (tmp_path / "work" / folder / "HEAD").touch()
        (tmp_path / "work" / folder / "config").write_text(text)
    async with Toolbox(workspace=tmp_path / "work") as box:
        yield box


@each_case(
    ("tool", "arguments"),
    [
        ("read_file", {"path": ".git/config"}),
        ("read_file", {"path": ".git/config.lock"}),
        ("read_file", {"path": ".hg/hgrc"}),
        ("search_files", {"pattern": "url|password", "path": ".hg"}),
        ("read_file", {"path": "bare.git/config"}),
        ("read_file", {"path": ".gitmodules"}),
        ("read_file", {"path": "plain/config"}),
        ("search_files", {"pattern": "url", "path": "plain"}),
        ("read_file", {"path": "long.git/config", "start": 2}),
        ("search_files", {"pattern": "url", "path": "long.git"}),
        ("read_file", {"paths": [".git/config", "a.txt"]}),
        ("search_files", {"pattern": "origin|url", "path": ".git"}),
        ("search_files", {"pattern": "url", "glob": ".git/config"}),
        ("search_files", {"pattern": "ghp", "path": "bare.git"}),
        ("search_files", {"pattern": "submodule", "glob": ".gitmodules"}),
        ("diff_files", {"a": ".git/config", "b": "lib/.git/config"}),
        ("copy_path", {"source": "bare.git/config", "destination": "seen.txt"}),
        ("edit_file", {"path": "bare.git/config", "old": "remote", "new": "remotes"}),
        ("extract_text", {"path": "bare.git/config", "pattern": "(url.*)"}),
        ("hash_file", {"path": "bare.git/config"}),
    ],
)
async def test_no_tool_shows_it(
    box: Toolbox, tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    result = await box.call(tool, arguments)
    assert TOKEN not in f"{result.text}{result.data}{result.error}"
    assert not (tmp_path / "work/seen.txt").exists()


@each_case(
    ("line", "holds"),
    [
        ('[remote "o"]\n url = https://me:secret@h.org/x', True),
        (f'[remote "o"]\n url = https://{TOKEN}@h.org/x', True),
        ('[url "https://me:secret@h.org/"]\n insteadOf = gh:', True),
        ('[http "https://h.org/"]\n extraHeader = Authorization: Basic bWU6eA==', True),
        ("[http]\n proxy = me:secret@proxy.org:8080", True),
        ('[credential]\n helper = "!f() { echo password=hunter2; }; f"', True),
        ("[sendemail]\n smtpPass = hunter2", True),
        ('[remote "o"]\n url = https://h.org/x?private_token=abcdef', True),
        ('[remote "o"]\n url = https://me:\\\nsecret@h.org/x', True),
        ('[remote "o"]\n url = https://v2.local.abcdefghijklmnop@h.org/x', True),
        ('[remote "o"]\n url = https://somebody%40example.org@h.org/x', False),
        ('[remote "o"]\n url = https://an-organisation-of-people@h.org/2024', False),
        ('[remote "o"]\n url = ssh://git@h.org/x', False),
        ('[remote "o"]\n url = git@h.org:x.git', False),
        ('[remote "o"]\n url = https://me@h.org/x', False),
        ("[credential]\n helper = store\n username = me", False),
        ("[core]\n askPass = /usr/bin/ksshaskpass", False),
        ("[user]\n name = A Token\n email = a@h.org", False),
        ('[alias]\n dep = "!curl -u me:hunter2 https://h.org"', True),
        ("[x]\n clean = curl --user=me:hunter2 https://h.org", True),
        ('[alias]\n dep = "!curl -sSu :hunter2 https://h.org"', True),
        ('[alias]\n dep = "!curl --oauth2-bearer hunter2 https://h.org"', True),
        ("[alias]\n dep = \"!curl -H 'Cookie: sid=hunter2' https://h.org\"", True),
        ("[core]\n sshCommand = sshpass -phunter2 ssh", True),
        (f'[remote "o"]\n url = https://h.org/{TOKEN}/x.git', True),
        (f'[url "https://h.org/{TOKEN}/"]\n insteadOf = h:', True),
        ('[remote "o"]\n url = https://h.org/x?pat=hunter2', True),
        ("[azure]\n pat = hunter2", True),
        ("[gitlab]\n pw = hunter2", True),
        ("[x]\n credentials = hunter2", True),
        ("[x]\n auth = hunter2", True),
        ("[http]\n cookie = sid=hunter2", True),
        ("[core]\n gitProxy = connect -p hunter2 for h.org", True),
        ("[a] [x] auth = hunter2", True),
        ("[core]\n gitProxy = connect for h.org", False),
        ("[core]\n sshCommand = ssh -o PasswordAuthentication=no", False),
        ('[alias]\n up = push -u origin HEAD:main\n in = "!docker run -u 1000:1000 x"', False),
        ("[x]\n auth = true", False),
        ('[alias]\n copy = "!rsync -avu host:there here"', False),
    ],
)
def test_what_is_a_credential(line: str, holds: bool) -> None:
    assert holds_credentials(line.encode()) is holds
    clean = without_credentials(line.encode())
    assert b"hunter2" not in clean
    assert TOKEN.encode() not in clean
    assert not holds_credentials(clean)


def test_what_git_only_continues_or_comments_stays_as_it_is() -> None:
    plain = b'[core]\n\tx = a\\\n b ; "c \\\n[user]\n\tname = "d;#e" # f\r\n'
    assert without_credentials(plain) == plain
    commented = (
        b"[http]\n# extraHeader = Authorization: hunter2\n\tx = y ; z \\\n\tauth = hunter2\n"
    )
    assert b"hunter2" not in without_credentials(commented)


@each_case(
    "text",
    [
        "a", "a b  ", '"a  "', '"a" b', 'a" b "c', "a ; b", "a # b", '"a;#b" # c', '"a\\"b"',
        "a\\\\b", "a\\tb\\nc", "a\\\n b", '"a\\\n b"', "a ; b\\\n\tz = c", "a\\\r\nb\r",
        '"" a ""', '  "  a"', "~/a=b", "", '"', "a \\\n", 'a\\\n"b;"', "é;b",
    ],
)  # fmt: skip
def test_values_are_what_git_takes_them_for(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings"
    file.write_bytes(b"[x]\n\tkey = " + text.encode() + b"\n")
    command = ["git", "config", "--file", str(file), "-z", "x.key"]
    read = subprocess.run(command, check=False, capture_output=True)
    if read.returncode == 0:
        value = next(v for s, k, v in settings_in(file.read_bytes()) if (s, k) == (b"x", b"key"))
        assert value + b"\0" == read.stdout
    else:
        assert text == '"', read.stderr


async def test_why_is_said_and_what_works(box: Toolbox) -> None:
    refused = (await box.call("read_file", {"path": ".git/config"})).error
    assert refused is not None
    assert refused.code == "path_denied"
    assert "password or token for git" in refused.message
    assert "core" in (await box.call("read_file", {"path": "lib/.git/config"})).text
    assert (await box.call("find_files", {"query": "bare.git/*"})).data["total"] == 2


async def test_a_repository_is_moved_whole_and_copied_without_it(
    box: Toolbox, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    copied = await box.call("copy_path", {"source": "bare.git", "destination": "other.git"})
    assert (
        "Left out, protected or special, or links that would lead there or out: config"
        in copied.text
    )
    assert (work / "other.git/HEAD").exists()
    packed = await box.call("archive_files", {"paths": ["bare.git"], "archive": "b.zip"})
    assert packed.error is None, packed.error
    assert "config" in packed.text
    with zipfile.ZipFile(work / "b.zip") as archive:
        assert archive.namelist() == ["bare.git/", "bare.git/HEAD"]
    moved = await box.call("move_path", {"source": "bare.git", "destination": "moved.git"})
    assert moved.error is None, moved.error
    deleted = await box.call("delete_path", {"path": "moved.git"})
    assert deleted.error is None, deleted.error
    assert (await box.call("undo_changes", {})).error is None
    assert (work / "moved.git/config").read_text() == CORE + REMOTE
