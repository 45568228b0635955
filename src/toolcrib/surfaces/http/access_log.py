"""The access log of the HTTP server: a line for each request, on stderr."""

from __future__ import annotations

import logging
from typing import Any

from toolcrib.surfaces.http.gate import HEALTH


class _NoHealthChecks(logging.Filter):
    """Containers ask every few seconds; nobody looks for that."""

    def filter(self, record: logging.LogRecord) -> bool:
        path = record.args[2] if isinstance(record.args, tuple) and len(record.args) > 2 else ""
        return str(path).partition("?")[0] != HEALTH


def logs(*, requests: bool) -> dict[str, Any]:
    """Logging as `uvicorn.Config(log_config=...)` takes it, with lines of requests or without."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"no_health_checks": {"()": _NoHealthChecks}},
        "formatters": {
            "plain": {"format": "%(levelname)s: %(message)s"},
            # Uvicorn gives the address, the method, the path, the version and the status, quoted.
            "dated": {"format": "%(asctime)s %(message)s", "datefmt": "%Y-%m-%dT%H:%M:%S%z"},
        },
        "handlers": {
            "plain": {"class": "logging.StreamHandler", "formatter": "plain"},
            "dated": {
                "class": "logging.StreamHandler",
                "formatter": "dated",
                "filters": ["no_health_checks"],
            },
        },
        "loggers": {
            "uvicorn": {"handlers": ["plain"], "level": "WARNING", "propagate": False},
            "uvicorn.access": {
                "handlers": ["dated"],
                "level": "INFO" if requests else "WARNING",
                "propagate": False,
            },
        },
    }
