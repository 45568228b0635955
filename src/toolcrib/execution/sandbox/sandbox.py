"""`Sandbox`: the service that starts programs behind the strongest boundary of this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from toolcrib.core.config import Config, data_folder
from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.core.services import Services
from toolcrib.execution.sandbox.confined import Confined
from toolcrib.execution.sandbox.network import RunNetworks
from toolcrib.execution.sandbox.preparation import RunRequest, Stdin
from toolcrib.execution.sandbox.probe import BoundaryProbe
from toolcrib.execution.sandbox.starter import BoundaryFailed, Starter
from toolcrib.execution.sandbox.terms import Bind, Limits, Overlay, Pty, ReadOnly, Report, View
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_proxy import GuardProxy
from toolcrib.system.processes import Processes


class Sandbox:
    """Starts programs that see their folders and nothing else. A service; see `spawn`.

    Args:
        workspace: whose roots a program sees.
        processes: who looks after what is started.
        config: `run`, and where our own files are.
        network: the way out for runs that are given hosts.
    """

    def __init__(
        self, workspace: Workspace, processes: Processes, config: Config, network: RunNetworks
    ) -> None:
        self._workspace = workspace
        self._config = config
        self._starter = Starter(workspace, config, processes, network)
        self._prober = BoundaryProbe(self._starter, config.run.level, data_folder() / "sandbox")

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is tried before the first report or run."""
        network = RunNetworks(lambda: services.use(GuardProxy), lambda: services.use(Egress))
        return cls(services.use(Workspace), services.use(Processes), services.config, network)

    @property
    def limits(self) -> Limits:
        """What a run may use where nothing else is asked for."""
        return Limits.of(self._config.run.limits)

    async def report(self) -> Report:
        """The boundary that runs get here, by a real try; tried once a process."""
        return await self._prober.report()

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: SafePath,
        views: Mapping[str, View] | View | None = None,
        env: Mapping[str, str] | None = None,
        stdin: Stdin = None,
        merge: bool = False,
        pty: Pty | None = None,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        network: Sequence[str] = (),
        limits: Limits | None = None,
    ) -> Confined:
        """Start a program and go on; `Confined.kill` ends it.

        Args:
            argv: the program, found on its PATH, and its arguments. No shell.
            cwd: where it starts.
            views: how it sees the roots of the workspace, all alike or each by its path
                (as configured, or without links); one without a view is read only.
            env: variables beside the few that every run has.
            stdin: what it reads; None is nothing.
            merge: send stderr into stdout, in the order of writing.
            pty: a terminal in place of the pipes; `stdin` is not used then.
            readable: more files and folders that it may read, such as a toolchain.
            writable: scratch folders.
            network: hosts that it may reach, through the guard; with none, no network.
            limits: what it may use; the configured ones where nothing is said.

        Raises:
            Unavailable: no boundary of the wanted strength works here, or the program is
                not there.
            BadInput, NotFound: the arguments or the folder are wrong.
        """
        _check_words(argv, env or {})
        request = RunRequest(
            argv=tuple(argv),
            cwd=cwd.absolute,
            views=self._views(views),
            env=env,
            stdin=stdin,
            merge=merge,
            pty=pty,
            readable=(*map(str, readable), *self._config.run.readable),
            writable=tuple(map(str, writable)),
            network=tuple(network),
            limits=limits or self.limits,
        )
        report = await self._usable(request)
        try:
            return await self._starter.start(request, report)
        except BoundaryFailed as failed:
            return await self._retry(request, report, failed)

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
        wanted = self._config.run.level
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
        roots = self._workspace.roots
        if given is None:
            given = ReadOnly()
        if isinstance(given, Bind | ReadOnly | Overlay):
            if isinstance(given, Overlay) and len(roots) > 1:
                raise BadInput("Each root needs an overlay of its own.")
            return {root.real: given for root in roots}
        return {
            root.real: given.get(root.real) or given.get(root.name) or ReadOnly() for root in roots
        }


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
