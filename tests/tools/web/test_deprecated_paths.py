"""Import paths of older providers and handlers: they go on working, and warn."""

from __future__ import annotations

import importlib

import pytest

from tests.cases import each_case
from toolcrib.web import handlers, page, provider, providers

MOVED = {
    "provider": (
        provider,
        {"Ask": "SearchRequest", "Found": "SearchResult", "Page": "ResultPage"}
        | {"Reach": "ProviderClient"}
        | {n: n for n in ("Kind", "Provider", "SafeSearch", "is_web", "joined", "records")},
    ),
    "document": (
        page,
        {"Document": "Page", "Raw": "RawPage"}
        | {n: n for n in ("Facts", "Format", "Handler", "Link", "Picture", "decode")},
    ),
    "providers": (providers, {"Providers": "Providers"}),
    "handlers": (handlers, {"Handlers": "Handlers"}),
}


@each_case("name", MOVED)
def test_an_older_path_works_and_warns(name: str) -> None:
    new, names = MOVED[name]
    old = importlib.import_module(f"toolcrib.tools.web.{name}")
    for before, now in names.items():
        with pytest.warns(DeprecationWarning, match=rf"{new.__name__}\.{now} now"):
            assert getattr(old, before) is getattr(new, now)
    with pytest.raises(AttributeError):
        _ = old.nothing


def test_a_provider_written_for_the_older_path_is_one() -> None:
    with pytest.warns(DeprecationWarning):
        from toolcrib.tools.web.provider import Ask, Found, Page, Provider, Reach

    class Library(Provider):
        """A library."""

        name = "library"
        about = "A library."

        async def search(self, ask: Ask, reach: Reach) -> Page:
            """One book."""
            return Page((Found(ask.words, "https://library.example/1"),))

    assert issubclass(Library, provider.Provider)
    known = providers.Providers()
    known.add(Library)
    assert known.named("library").about == "A library."
