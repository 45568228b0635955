"""A certificate authority made for one test, and server certificates signed by it."""

from __future__ import annotations

import ssl
from datetime import datetime, timedelta
from pathlib import Path

import trustme


class Authority:
    """`ca_file` is what clients must trust."""

    def __init__(self, folder: Path) -> None:
        self._authority = trustme.CA()
        self.ca_file = folder / "ca.pem"
        self._authority.cert_pem.write_to_path(self.ca_file)

    def context(self, *names: str, ends: datetime | None = None) -> ssl.SSLContext:
        """What a server of these names or addresses presents, and until when that holds."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(
            *names, not_before=ends and ends - timedelta(1), not_after=ends
        ).configure_cert(context)
        return context
