"""The service: the indexes of this toolbox by name, and vectors made in the background."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Self

from toolcrib.core.config import Config, data_folder, store_file
from toolcrib.core.context import Services
from toolcrib.core.errors import ToolError
from toolcrib.net.egress.client import Egress
from toolcrib.retrieval.embedders import RestingEmbedder, configured_embedder
from toolcrib.retrieval.index import Index
from toolcrib.system.threads import content_id

FOLDER = "indexes"


class Indexes:
    """Opens each index once. See `Index` for what one does.

    Args:
        config: the whole tree.
        egress: the guard, for a server of embeddings.
    """

    def __init__(self, config: Config, egress: Egress) -> None:
        self._config = config
        self._egress = egress
        self._embedder: RestingEmbedder | None = None
        self._opened: dict[str, Index] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self.embedder_error: ToolError | None = None

    @classmethod
    def open(cls, services: Services) -> Self:
        """No file before the first index."""
        return cls(services.config, services.use(Egress))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know: a broken index that was set aside."""
        return tuple(note for index in self._opened.values() for note in index.warnings)

    def index(self, name: str) -> Index:
        """The index of a name: letters, digits and dashes."""
        found = self._opened.get(name)
        if found is None:
            found = self._opened[name] = Index(self._file(name), self._chosen_embedder())
        return found

    def _file(self, name: str) -> Path | None:
        """Where an index lies: another store has other indexes. None is in memory."""
        store = store_file(self._config.store.url)
        if store is None:
            return None
        if store != store_file(""):
            name = f"{name}-{content_id(str(store.absolute()))}"
        return data_folder() / FOLDER / f"{name}.db"

    def embed_soon(self, name: str) -> None:
        """Make the missing vectors of an index in the background, if there is an embedder."""
        index = self.index(name)
        if index.embedder is None or index.embedder.resting is not None:
            return
        running = self._running.get(name)
        if running is None or running.done():
            self._running[name] = asyncio.create_task(self._embed(index))

    async def close(self) -> None:
        """End the work in the background, and close the files."""
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        for index in self._opened.values():
            await index.close()
        if self._embedder is not None:
            await self._embedder.close()

    def _chosen_embedder(self) -> RestingEmbedder | None:
        if self._embedder is None and self.embedder_error is None:
            try:
                self._embedder = configured_embedder(self._config, self._egress)
            except ToolError as error:
                self.embedder_error = error
        return self._embedder

    async def _embed(self, index: Index) -> None:
        try:
            await index.embed_missing()
        except ToolError as error:
            self.embedder_error = error
        else:
            self.embedder_error = None
