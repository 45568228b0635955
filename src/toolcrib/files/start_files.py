"""What the user's start files name in the workspace: those of shells and ssh, and of direnv.

Nothing here is a shell. Each word that may be the path of a file counts, wherever a line is that
may run it; a folder only where the line speaks of a path for programs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from toolcrib.core.config import environment
from toolcrib.files.handles import read_plain
from toolcrib.files.targets import Targets, words_of
from toolcrib.files.trees import entries_beneath, is_folder

START_FILE = "what a start file of yours names"
AT_HOME = (
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
    *(".inputrc", ".ssh/config", ".tmux.conf", ".vimrc", ".gdbinit", ".xprofile", ".xsessionrc"),
    *(".config/fish/config.fish", ".config/direnv/direnvrc", ".config/tmux/tmux.conf"),
    *(".config/nvim/init.vim", ".config/nvim/init.lua", ".vim/vimrc"),
    *(".emacs", ".emacs.d/init.el", ".config/emacs/init.el"),
)
FISH = ".config/fish/conf.d"
"""Fish reads all files in it."""
ZSH = "ZDOTDIR"
IN_FOLDERS = (".envrc", ".envrc.local", ".autoenv", ".autoenv.zsh")
MAX_FILES, MAX_BYTES, MAX_LINES = 60, 50_000, 2_000
MAX_ENTRIES, MAX_SECONDS, MAX_STARTS = 2_000, 0.5, 6
_OPENED = re.compile(r"\$\(|`|\[\[?\s")
_NOTHING_RUN = re.compile(
    r"\s*(?:#|(?:cd|pushd|watch_file|watch_dir)\b[^;&|`$]*$"
    r"|(?:export\s+)?(?!PATH=|ENV=|BASH_ENV=)\w+=[^\s;&|`(]*\s*$)"
)
"""A comment, a word for where one is or what is watched, a variable with a value of any kind."""
_OF_PROGRAMS = re.compile(
    r"\bPATH(?:_add)?\b|\bf?path\+?=\(|\bfpath\b|\bfish_(?:user_paths|add_path)|load_prefix"
    r"|\brtp\b|\bruntimepath\b|\bpackpath\b|\bload-path\b|\bsys\.path\b|\bpackage\.c?path\b"
)
_ENTERED = re.compile(r"(?:^|[;&|({])\s*(?:cd|pushd)\s+[\"']?([^\s;&|)\"'`]+)")
_OF_ZSH = re.compile(rb"\bZDOTDIR=[\"']?([^\s;\"']+)")
_ADDED = re.compile(r"\s*(?:PATH_add|path_add\s+PATH)\s+[^$`]+$")
_GLOB = re.compile(r"([^*?\[]*/)[^/]*[*?\[]")
_FILE = re.compile(r"\w[\w.+-]*\.[A-Za-z]\w*")


def find_start_targets(roots: Sequence[str], folders: Iterable[str]) -> Targets:
    """What they name; blocking.

    Args:
        roots: those of the workspace, real.
        folders: further ones of it in which files of direnv may lie.
    """
    found = Targets(roots)
    home = os.path.expanduser("~")  # noqa: PTH111 - no home is no error
    zsh = [*environment([ZSH]).values(), *_folders_of_zsh(home)]
    starts = [f"{folder}/{name}" for folder in (home, *zsh) for name in AT_HOME]
    starts += [entry.path for entry in islice(_entries_of(f"{home}/{FISH}"), MAX_FILES)]
    for file in starts:
        _add(found, file, home, file.rpartition("/")[0])
    beneath = (
        entry.path
        for root in roots
        for entry in islice(_entries_of(root), MAX_ENTRIES)
        if is_folder(entry)
    )
    own = dict.fromkeys((*roots, *folders, *beneath))
    places = ((folder, f"{folder}/{name}") for folder in own for name in IN_FOLDERS)
    there = (place for place in places if os.path.lexists(place[1]))
    for folder, file in islice(there, MAX_FILES):
        _add(found, file, folder)
    return found


def _folders_of_zsh(home: str) -> Iterator[str]:
    """Where zsh looks for its other start files, as the first says."""
    with suppress(OSError, ValueError):
        for value in _OF_ZSH.findall(read_plain(f"{home}/.zshenv", MAX_BYTES)):
            _, folder = next(words_of(os.fsdecode(value)))
            yield os.path.expanduser(folder)  # noqa: PTH111


def _entries_of(folder: str) -> Iterator[os.DirEntry[str]]:
    return entries_beneath([folder], max_folders=1, max_seconds=MAX_SECONDS, max_depth=0)


def _add(found: Targets, file: str, *folders: str) -> None:
    """Add what one names; relative paths begin in these folders, and where it goes itself."""
    starts = dict.fromkeys(folders)
    data = b""
    with suppress(OSError, ValueError):
        data = read_plain(file, MAX_BYTES)
    lines = os.fsdecode(data.replace(b"\\\n", b" ").replace(b"\0", b"")).split("\n")
    for line in islice(lines, MAX_LINES):
        for folder in _ENTERED.findall(line) if len(starts) < MAX_STARTS else ():
            _, word = next(words_of(folder))
            starts[os.path.join(folders[0], os.path.expanduser(word))] = None  # noqa: PTH111, PTH118
        if _NOTHING_RUN.match(line) or ("/" not in line and not file.endswith(IN_FOLDERS)):
            continue
        is_added, is_of_programs = _ADDED.match(line), _OF_PROGRAMS.search(line)
        for variant in {line, _OPENED.sub(" ", line)}:
            for word in {word for _, word in words_of(variant)}:
                may_hold = is_added if "/" not in word else is_of_programs
                for start in starts:
                    _add_word(found, start, word, may_hold_programs=may_hold is not None)


def _add_word(found: Targets, start: str, word: str, *, may_hold_programs: bool) -> None:
    if (glob := _GLOB.match(word)) is not None:
        word, may_hold_programs = glob[1], True
    place = os.path.join(start, os.path.expanduser(word))  # noqa: PTH111, PTH118
    if os.path.isfile(place):  # noqa: PTH113
        found.add(place)
    elif any(char.isspace() for char in word) or os.path.realpath(place) in found.roots:
        return
    elif may_hold_programs:
        found.add(place, is_folder=True)
    elif ("/" in word or _FILE.fullmatch(word)) and not os.path.isdir(place):  # noqa: PTH112
        found.add(place)
