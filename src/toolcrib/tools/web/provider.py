"""The old path of `toolcrib.web.provider`, for providers of other packages."""

from __future__ import annotations

from toolcrib.web.deprecated_paths import forward

__getattr__ = forward(
    __name__,
    "toolcrib.web.provider",
    {
        "Ask": "SearchRequest",
        "Found": "SearchResult",
        "Kind": "Kind",
        "Page": "ResultPage",
        "Provider": "Provider",
        "Reach": "ProviderClient",
        "SafeSearch": "SafeSearch",
        "is_web": "is_web",
        "joined": "joined",
        "records": "records",
    },
)
