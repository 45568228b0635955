"""The old path of `toolcrib.web.page`, for handlers of other packages."""

from __future__ import annotations

from toolcrib.web.deprecated_paths import forward

__getattr__ = forward(
    __name__,
    "toolcrib.web.page",
    {
        "Document": "Page",
        "Facts": "Facts",
        "Format": "Format",
        "Handler": "Handler",
        "Link": "Link",
        "Picture": "Picture",
        "Raw": "RawPage",
        "decode": "decode",
    },
)
