"""What variables of the user's environment name in a workspace: programs, and what they load.

Those of this process are taken for those of the user's shells and other programs.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from functools import cache

from toolcrib.core.config import environment
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.real_paths import follow, real_path
from toolcrib.files.targets import Targets, folders_above, words_of

PATHS = (
    *("BASH_ENV", "ENV", "PYTHONSTARTUP", "INPUTRC", "PSQLRC", "SCREENRC", "WGETRC", "MYVIMRC"),
    *("LESSKEY", "LESSKEYIN", "OPENSSL_CONF", "KUBECONFIG", "AWS_CONFIG_FILE", "MAKEFILES"),
    *("CMAKE_TOOLCHAIN_FILE", "NPM_CONFIG_*CONFIG", "PIP_CONFIG_FILE", "UV_CONFIG_FILE"),
    *("STARSHIP_CONFIG", "RIPGREP_CONFIG_PATH", "ANSIBLE_CONFIG"),
)
"""Variables with the path of a file that is run or obeyed."""
COMMANDS = (
    *("EDITOR", "VISUAL", "*PAGER", "*_EDITOR", "*_ASKPASS", "BROWSER", "SHELL", "VIMINIT"),
    *("EXINIT", "LESSOPEN", "LESSCLOSE", "PROMPT_COMMAND", "FZF_DEFAULT_*", "LD_PRELOAD"),
    *("LD_AUDIT", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"),
    *("JDK_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS", "PYTEST_ADDOPTS", "GOFLAGS", "RUSTC*"),
    *("RUSTFLAGS", "CARGO_*RUNNER", "CARGO_*LINKER", "CARGO_*WRAPPER", "CC", "CXX", "CPP", "LD"),
    *("AR", "AS", "NM", "FC", "RANLIB", "*FLAGS", "PKG_CONFIG", "GIT_SSH", "GIT_SSH_COMMAND"),
    *("GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND"),
)
"""Variables with a command, or options, in which paths may stand."""
FOLDERS = (
    *("LD_LIBRARY_PATH", "GCONV_PATH", "COMPILER_PATH", "PKG_CONFIG_PATH", "GEM_HOME", "GEM_PATH"),
    *("GIT_TEMPLATE_DIR", "GIT_EXEC_PATH", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"),
    *("XDG_DATA_HOME", "XDG_DATA_DIRS", "GNUPGHOME", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME"),
    *("CURL_HOME", "ANSIBLE_HOME", "PIPX_HOME", "NVM_DIR", "PYENV_ROOT", "VIM", "VIMRUNTIME"),
    *("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "DOCKER_CONFIG", "PYTHONPYCACHEPREFIX"),
)
"""Variables with folders in which programs look for what they load."""
MODULES = ("PERL5LIB", "PERLLIB", "RUBYLIB", "NODE_PATH", "CLASSPATH", "TCLLIBPATH", "R_LIBS*")
"""The same of modules, which a person may be at work on: in these, what is new counts alone."""
LISTED_WITH_BLANKS = "TCLLIBPATH"
EMPTY_IS_HERE = "LD_LIBRARY_PATH"
"""Where an empty entry is the folder in which the user is."""
PYTHON_FOLDERS = "PYTHONPATH"
"""Of these, what has the name of a module of Python itself is loaded in its place."""
LIBRARY = re.compile(r"\.so(?:\.\d+)*\Z")
_MODULE = re.compile(r"(?:\.[\w-]+)*\.(?:py|pyc|so|pyd)\Z")
_OPTION = re.compile(r"^-+\w+(?=\.{0,2}/)")
"""Of `-I/path`."""


class Variables:
    """What they name, there or not. Making one blocks.

    Args:
        workspace: its roots.
    """

    def __init__(self, workspace: Workspace) -> None:
        roots = [root.real for root in workspace.roots]
        self._named, self._modules = _Places(roots), _Places(roots)
        for value in environment(PATHS).values():
            for path in (value, *value.split(os.pathsep), *(word for _, word in words_of(value))):
                self._named.add(os.path.expanduser(path))  # noqa: PTH111
        for value in environment(COMMANDS).values():
            for word in {_OPTION.sub("", word) for _, word in words_of(value) if "/" in word}:
                self._named.add(os.path.expanduser(word))  # noqa: PTH111
        for names, places in ((FOLDERS, self._named), (MODULES, self._modules)):
            for name, value in environment(names).items():
                parts = value.split() if name == LISTED_WITH_BLANKS else value.split(os.pathsep)
                for path in parts:
                    if path or name == EMPTY_IS_HERE:
                        places.add(path.removesuffix("/*"), is_folder=True)
        self._python = _Folders(workspace, PYTHON_FOLDERS)

    def match(self, delta: Delta) -> bool:
        """Whether a program would run, load or obey what is there now."""
        is_new = not delta.before or _is_link(delta)
        return self._named.match(delta) or (
            is_new and (self._modules.match(delta) or self._is_module(delta))
        )

    def _is_module(self, delta: Delta) -> bool:
        """Whether Python would load it for one of its own modules, which it did not so far."""
        if not (self._python.folders or self._python.ends):
            return False
        if _is_link(delta) and self._python.may_redirect(delta.path):
            return True
        if delta.path.real_absolute in self._python.folders:
            return True  # an archive of modules
        is_package = delta.path.name.startswith("__init__.")
        path = delta.path.parent if is_package else delta.path
        name, dot, ending = path.name.partition(".") if path.parts else ("", "", "")
        is_module = not dot if is_package or _is_link(delta) else _MODULE.match(dot + ending)
        if name not in sys.stdlib_module_names or not is_module:
            return False
        is_at_top = len(path.parts) == 1 and () in self._python.ends
        return is_at_top or self._python.contain(path)


class _Places:
    """Files and folders that variables name, absolute or relative to wherever the user is."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._targets = Targets(roots)
        self._ends: set[tuple[str, ...]] = set()
        self._folders: set[tuple[str, ...]] = set()

    def add(self, path: str, *, is_folder: bool = False) -> None:
        """Add one; a file may also be named without its ending, or be a folder of modules."""
        place = os.path.normpath(path) if path else "."
        if place.startswith("/") and place not in self._targets.roots:
            self._targets.add(place)
            self._targets.add(place, is_folder=True)
        elif is_folder:
            self._folders.add(_names(place) if not place.startswith("/") else ())
        elif path:
            self._ends.add(_names(place))

    def match(self, delta: Delta) -> bool:
        """Whether a change is one of them, or a link by which another thing would be."""
        if not (self._targets.files or self._targets.folders or self._ends or self._folders):
            return False  # as for nearly everybody
        place, parts = delta.path.real_absolute, delta.path.parts
        stem = place.rpartition(".")[0]
        if self._targets.has(place) or ("/" not in place[len(stem) :] and self._has_stem(stem)):
            return True
        if _is_link(delta) and (self._targets.has_beneath(place) or self._may_lead(parts)):
            return True
        if any(end and parts[-len(end) :] == end for end in self._ends):
            return True
        starts = range(len(parts) - 1)
        for folder in filter(None, self._folders):
            if any(parts[n : n + len(folder)] == folder for n in starts):
                return True
        # An empty entry, or a root, is not taken for all that is in it.
        return () in self._folders and LIBRARY.search(parts[-1]) is not None

    def _has_stem(self, stem: str) -> bool:
        return bool(stem) and stem in self._targets.files

    def _may_lead(self, parts: tuple[str, ...]) -> bool:
        """Whether a link of these names may be a folder on the way to a relative path."""
        ends = self._ends | self._folders
        starts = {end[:size] for end in ends for size in range(1, len(end) + 1)}
        return any(parts[-len(start) :] == start for start in starts)


def _is_link(delta: Delta) -> bool:
    return delta.after is not None and delta.after.kind == "link"


def _names(path: str) -> tuple[str, ...]:
    """The names of a relative path that stay, wherever it begins."""
    return tuple(name for name in os.path.normpath(path).split("/") if name not in (".", ".."))


class _Folders:
    """Folders that a variable names in a workspace, there or not, each for what is in it itself."""

    def __init__(self, workspace: Workspace, variable: str) -> None:
        value = environment([variable]).get(variable)
        named = value.split(os.pathsep) if value is not None else []
        absolute = [os.path.normpath(folder) for folder in named if folder.startswith("/")]
        # What is a link by now may have been put there by the run.
        places = filter(None, map(workspace.find, absolute))
        found = [place.real_absolute for place in places]
        followed = [follow("/", folder) for folder in absolute]
        found += [real for real, _ in followed if real and workspace.holds(real)]
        self.links = frozenset(link for _, links in followed for link in links)
        self.folders = frozenset(found)
        self.above = frozenset(each for folder in found for each in folders_above(folder))
        self.ends = {_names(folder) for folder in named if not folder.startswith("/")}
        self._real = cache(real_path)

    def may_redirect(self, path: SafePath) -> bool:
        """Whether a link may stand for one, for a folder above, or on the way to it."""
        place, parts = path.real_absolute, path.parts
        if any(place in each for each in (self.links, self.folders, self.above)):
            return True
        starts = {end[:size] for end in self.ends for size in range(1, len(end) + 1)}
        return any(parts[-len(start) :] == start for start in starts)

    def contain(self, path: SafePath) -> bool:
        """Whether something is directly in one of them, an empty entry aside."""
        folder = path.parts[:-1]
        if any(end and folder[-len(end) :] == end for end in self.ends):
            return True
        above = path.real_absolute.rpartition("/")[0] or "/"
        return bool(self.folders) and self._real(above) in self.folders


class SearchPath:
    """The folders of PATH in a workspace, there or not. Making one blocks.

    Args:
        workspace: its roots.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._named = _Folders(workspace, "PATH")

    def matches(self, delta: Delta) -> bool:
        """Whether a file is a program on it, or a link may become such a folder."""
        is_link = _is_link(delta)
        if is_link and self._named.may_redirect(delta.path):
            return True
        is_run = is_link or (delta.after is not None and bool(delta.after.mode & 0o111))
        if () in self._named.ends and is_run:
            return True  # an empty entry, or ".", is the folder where the user is
        return self.contains(delta.path)

    def contains(self, path: SafePath) -> bool:
        """Whether something is directly in one of them, but for an empty entry."""
        return self._named.contain(path)
