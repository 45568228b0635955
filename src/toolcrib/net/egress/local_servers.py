"""`LocalServers`: the ports of this machine by which a conversation reaches its own servers.

A run has a loopback of its own. What listens there is reached through a port of this
machine's, which the guard opens for the conversation of the run alone, while it is listed here.
"""

from __future__ import annotations


class LocalServers:
    """Ports of 127.0.0.1 on which we ourselves listen for servers in runs, by conversation."""

    def __init__(self) -> None:
        self._ports: dict[str, dict[int, bool]] = {}

    def add(self, session: str, port: int, *, offline: bool) -> None:
        """List a port; `offline`: the run behind it can send nothing anywhere."""
        self._ports.setdefault(session, {})[port] = offline

    def remove(self, session: str, port: int) -> None:
        """List it no longer, before it is closed: others may have the number then."""
        ports = self._ports.get(session, {})
        ports.pop(port, None)
        if not ports:
            self._ports.pop(session, None)

    def ports(self, session: str, *, offline: bool = False) -> frozenset[int]:
        """Those of one conversation; with `offline` only of runs that reach nothing else."""
        found = self._ports.get(session, {})
        return frozenset(port for port, cut_off in found.items() if cut_off or not offline)

    def __contains__(self, port: int) -> bool:
        """Whether a port is one of any conversation."""
        return any(port in ports for ports in self._ports.values())
