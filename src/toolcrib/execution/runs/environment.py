"""What variables of the user's environment name in a workspace: programs, and what they load.

Those of this process are taken for those of the user's shells and other programs.
"""

from __future__ import annotations

import os
import sys
from functools import cache

from toolcrib.core.config import environment
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.real_paths import follow, real_path
from toolcrib.files.targets import Targets, folders_above, words_of

FILES = (
    *("BASH_ENV", "ENV", "INPUTRC", "LESSOPEN", "LESSCLOSE", "PROMPT_COMMAND"),
    *("EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "VIMINIT", "MYVIMRC", "EXINIT"),
    *("LD_PRELOAD", "LD_AUDIT", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "PYTHONSTARTUP"),
    *("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS"),
    *("GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH"),
    *("GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "SUDO_ASKPASS"),
    *("CC", "CXX", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER", "MAKEFILES"),
    *("CMAKE_TOOLCHAIN_FILE", "SCREENRC", "WGETRC", "STARSHIP_CONFIG", "RIPGREP_CONFIG_PATH"),
    *("NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG", "PIP_CONFIG_FILE", "UV_CONFIG_FILE"),
    "ANSIBLE_CONFIG",
)
"""Variables with the path of a file that is run or obeyed, or a command with one."""
FOLDERS = (
    *("LD_LIBRARY_PATH", "GCONV_PATH", "PERL5LIB", "PERLLIB", "RUBYLIB", "NODE_PATH"),
    *("GEM_HOME", "GEM_PATH", "TCLLIBPATH", "R_LIBS", "R_LIBS_USER", "JULIA_DEPOT_PATH"),
    *("GIT_TEMPLATE_DIR", "GIT_EXEC_PATH", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"),
    *("XDG_DATA_HOME", "XDG_DATA_DIRS", "GNUPGHOME", "CARGO_HOME", "RUSTUP_HOME"),
    *("CURL_HOME", "ANSIBLE_HOME", "PIPX_HOME", "NVM_DIR", "PYENV_ROOT", "VIM", "VIMRUNTIME"),
    *("IPYTHONDIR", "JUPYTER_CONFIG_DIR"),
)
"""Variables with folders in which programs look for what they load."""
PYTHON_FOLDERS = "PYTHONPATH"
"""Of these, what has the name of a module of Python itself is loaded in its place."""


class Variables:
    """What they name, there or not. Making one blocks.

    Args:
        workspace: its roots.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._roots = [root.real for root in workspace.roots]
        self._targets = Targets(self._roots)
        self._files: set[tuple[str, ...]] = set()
        self._folders: set[tuple[str, ...]] = set()
        for value in environment(FILES).values():
            for word in {word for _, word in words_of(value) if "/" in word}:
                self._add(os.path.expanduser(word), self._files)  # noqa: PTH111
        for value in environment(FOLDERS).values():
            for folder in value.split(os.pathsep):
                self._add(folder, self._folders, is_folder=True)
        self._modules = _Folders(workspace, PYTHON_FOLDERS)

    def _add(self, path: str, relative: set[tuple[str, ...]], *, is_folder: bool = False) -> None:
        place = os.path.normpath(path)
        if not path.startswith("/"):
            relative.add(_names(path))
        elif place in self._roots:
            relative.add(())
        else:
            self._targets.add(place, is_folder=is_folder)

    def has(self, delta: Delta) -> bool:
        """Whether a program would run, load or obey what is there now."""
        place, parts = delta.path.real_absolute, delta.path.parts
        is_link = delta.after is not None and delta.after.kind == "link"
        if self._targets.has(place) or (is_link and self._targets.has_beneath(place)):
            return True
        if any(end and parts[-len(end) :] == end for end in self._files):
            return True
        depths = range(len(parts))
        if any(end and end in {parts[n : n + len(end)] for n in depths} for end in self._folders):
            return True
        if () in self._folders and ".so" in parts[-1]:
            return True  # an empty entry is the folder where the user is
        return self._is_module(delta)

    def _is_module(self, delta: Delta) -> bool:
        """Whether Python would load it for one of its own modules, which it did not so far."""
        is_package = delta.path.name.startswith("__init__.")
        path = delta.path.parent if is_package else delta.path
        name = path.name.partition(".")[0] if path.parts else ""
        if delta.before or name not in sys.stdlib_module_names:
            return False
        is_at_top = len(path.parts) == 1 and () in self._modules.ends
        return is_at_top or self._modules.hold(path)


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

    def hold(self, path: SafePath) -> bool:
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
        ends = self._named.ends
        self._beginnings = {end[:size] for end in ends for size in range(1, len(end) + 1)}

    def has(self, delta: Delta) -> bool:
        """Whether a file is a program on it, or a link may become such a folder."""
        named, parts, place = self._named, delta.path.parts, delta.path.real_absolute
        is_link = delta.after is not None and delta.after.kind == "link"
        if is_link and any(place in each for each in (named.links, named.folders, named.above)):
            return True
        if is_link and any(parts[-len(start) :] == start for start in self._beginnings):
            return True
        if () in named.ends and delta.after is not None and (is_link or delta.after.mode & 0o111):
            return True  # an empty entry, or ".", is the folder where the user is
        return self.holds(delta.path)

    def holds(self, path: SafePath) -> bool:
        """Whether something is directly in one of them, but for an empty entry."""
        return self._named.hold(path)
