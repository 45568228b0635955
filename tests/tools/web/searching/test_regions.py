from __future__ import annotations

import pytest

from tests.cases import each_case
from toolcrib.core.errors import BadInput
from toolcrib.web.search.chain import region_of


@each_case(
    ("typed", "region"),
    [
        ("de-DE", "de-DE"),
        ("de_at", "de-AT"),
        ("EN-us", "en-US"),
        ("de", "de"),
        ("DE", "de-DE"),
        ("US", "en-US"),
        ("UK", "en-GB"),
        ("us-en", "en-US"),
        ("br-pt", "pt-BR"),
        ("be-fr", "fr-BE"),
        ("be-BY", "be-BY"),
        ("es-419", "es-419"),
        (" fr-FR ", "fr-FR"),
        ("", ""),
        ("wt-wt", ""),
        ("any", ""),
    ],
)
def test_regions_are_understood(typed, region):
    assert region_of(typed) == region


@each_case("typed", ["Germany", "de-", "d", "de-DE-x", "de DE", "1-2"])
def test_others_are_refused(typed):
    with pytest.raises(BadInput, match="like de-DE"):
        region_of(typed)
