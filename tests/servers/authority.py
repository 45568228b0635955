"""A certificate authority made for one test, and server certificates signed by it."""

from __future__ import annotations

import ssl
from pathlib import Path

import trustme


class Authority:
    """`ca_file` is what clients must trust."""

    def __init__(self, folder: Path) -> None:
        self._authority = trustme.CA()
        self.ca_file = folder / "ca.pem"
        self._authority.cert_pem.write_to_path(self.ca_file)

    def context(self, *names: str) -> ssl.SSLContext:
        """What a server of these names or addresses presents."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(*names).configure_cert(context)
        return context
