"""Which certificates are trusted: the system's, and those of `egress.ca_file` beside them."""

from __future__ import annotations

import ssl

from toolcrib.core.errors import ConfigError


def certificates(ca_file: str) -> list[bytes]:
    """The configured certificates in DER form; empty where none are configured.

    Raises:
        ConfigError: the file cannot be read or has no certificate in it.
    """
    if not ca_file:
        return []
    store = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        store.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"egress.ca_file: {ca_file} cannot be used: {error}.") from None
    return store.get_ca_certs(binary_form=True)


def client_context(ca_file: str) -> ssl.SSLContext:
    """A context that verifies against the system's store and the configured file.

    Raises:
        ConfigError: the file cannot be read or has no certificate in it.
    """
    context = ssl.create_default_context()
    extra = certificates(ca_file)
    if extra:
        context.load_verify_locations(cadata=b"".join(extra))
    return context
