"""The access log of the HTTP server: a line for each request, on stderr."""

from __future__ import annotations

import logging
from typing import Any

from toolcrib.surfaces.http.gate import HEALTH


class _PlainRequests(logging.Filter):
    """Leaves out queries, which may hold a token that was put there, and checks of health.

    Containers ask for the latter every few seconds, and nobody looks for that.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if not isinstance(record.args, tuple) or len(record.args) < 3:
            return True
        path = str(record.args[2]).partition("?")[0]
        record.args = (*record.args[:2], path, *record.args[3:])
        return path != HEALTH


def logs(*, requests: bool) -> dict[str, Any]:
    """Logging as `uvicorn.Config(log_config=...)` takes it, with lines of requests or without."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"plain_requests": {"()": _PlainRequests}},
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
                "filters": ["plain_requests"],
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
