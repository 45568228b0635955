"""The reader of documents with the services that it uses."""

from __future__ import annotations

import pytest

from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.documents.documents import Documents


@pytest.fixture
async def services():
    services = Services(Config())
    yield services
    await services.close()


@pytest.fixture
def documents(services):
    return services.use(Documents)
