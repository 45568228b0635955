"""The import path of the version before: it goes on working, and warns."""

from __future__ import annotations

import pytest

import toolcrib.kit.documents as old
from tests.cases import each_case
from toolcrib.documents import documents, kinds, text


@each_case(
    ("name", "now"),
    [
        ("Documents", documents.Documents),
        ("DocumentText", text.DocumentText),
        ("Page", text.DocumentPage),
        ("is_document", kinds.is_document),
        ("kind_of_document", kinds.kind_of_document),
    ],
)
def test_the_older_path_works_and_warns(name, now):
    with pytest.warns(DeprecationWarning, match=rf"{now.__module__}\.{now.__name__} now"):
        assert getattr(old, name) is now
    with pytest.raises(AttributeError):
        _ = old.nothing
