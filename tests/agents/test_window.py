"""How much a model can read, as its server tells it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.servers.model import model_server
from toolcrib import Toolbox
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.endpoint import find_endpoint
from toolcrib.net.models.window import context_window

LM_STUDIO = {
    "data": [
        {"id": "other", "max_context_length": 1},
        {"id": "scripted", "max_context_length": 32_768, "loaded_context_length": 4_096},
    ]
}


@pytest.mark.parametrize(
    ("pages", "size"),
    [
        ({"/props": {"default_generation_settings": {"n_ctx": 8_192}}}, 8_192),
        ({"/api/v0/models": LM_STUDIO}, 4_096),
        ({"/api/ps": {"models": [{"name": "scripted:latest", "context_length": 2_048}]}}, 2_048),
        ({"/v1/models": {"data": [{"id": "scripted", "meta": {"n_ctx_train": 512}}]}}, 512),
        ({"/props": {"default_generation_settings": {"n_ctx": "many"}}}, 0),
        ({"/props": [], "/api/ps": {"models": [7, None]}, "/api/v0/models": "no"}, 0),
        ({}, 0),
    ],
)
async def test_the_window(pages: dict[str, Any], size: int) -> None:
    with model_server() as server:
        server.pages = pages
        async with Toolbox({"agent": {"base_url": server.url}}) as box:
            egress = box.use(Egress)
            endpoint = await find_endpoint(box.config, egress)
            assert await context_window(endpoint, box.config, egress) == size
