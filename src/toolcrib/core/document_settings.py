"""The branches `documents`, `embeddings` and `sql` of the configuration."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from toolcrib.core.settings import Names, Section


class DocumentsConfig(Section):
    """The reader of documents: PDF, office files, books, mail."""

    ocr: Annotated[
        Literal["off", "tesseract"],
        Field(description="tesseract: read scanned pages and images by that program."),
    ] = "off"
    ocr_language: Annotated[
        str, Field(description="Languages of tesseract, as `eng` or `deu+eng`.")
    ] = "eng"
    ocr_pages: Annotated[
        int, Field(ge=1, le=1000, description="Scanned pages of a document that are read at most.")
    ] = 20
    max_bytes: Annotated[PositiveInt, Field(description="Bytes of a document.")] = 50_000_000
    limit: Annotated[int, Field(ge=1, le=20, description="Passages that a search gives.")] = 5
    min_score: Annotated[
        float, Field(ge=0, le=1, description="Passages with a lower score are no answer.")
    ] = 0.3
    index_files: Annotated[PositiveInt, Field(description="Files of the index of a workspace.")] = (
        100_000
    )
    index_bytes: Annotated[PositiveInt, Field(description="Bytes of such an index.")] = (
        2_000_000_000
    )
    model: Annotated[
        str,
        Field(
            description="A model of the agent's server that reads file after file for "
            "ask_documents; empty: none."
        ),
    ] = ""


class EmbeddingsConfig(Section):
    """Vectors of indexes, which find what is said in other words or another language."""

    use: Annotated[
        Literal["off", "server", "local"],
        Field(
            description="server: /v1/embeddings of a server of yours; local: a small model in "
            "this process, by the extra embed."
        ),
    ] = "off"
    base_url: Annotated[
        str, Field(description="The server, as http://127.0.0.1:1234/v1; empty: agent's.")
    ] = ""
    model: Annotated[str, Field(description="The server's model that embeds.")] = ""
    api_key_env: Annotated[
        str, Field(description="Name of the environment variable that holds the server's key.")
    ] = ""
    query_prefix: Annotated[
        str | None, Field(description="Before each question; unset: as the model is known to want.")
    ] = None
    passage_prefix: Annotated[
        str | None, Field(description="Before each passage; unset: as the model is known to want.")
    ] = None


SQL_PORTS = {"postgresql": 5432, "postgres": 5432, "mariadb": 3306}
"""By the scheme of a source's url, where that names none."""


class SqlSourceConfig(Section):
    """A database server that may be asked by its name; its role is what bounds it."""

    url: Annotated[
        str,
        Field(
            description="As postgresql://role@host/database or mariadb://role@host/database; "
            "`?host=/folder` or `?unix_socket=/path` for a local socket."
        ),
    ] = ""
    password_env: Annotated[
        str, Field(description="Name of the environment variable that holds the password.")
    ] = ""
    tls: Annotated[
        bool | None, Field(description="Encrypted; unset: where the server is not this machine.")
    ] = None
    trusted: Annotated[
        bool,
        Field(description="Use a role that is a superuser or may read files of the server."),
    ] = False
    functions: Annotated[
        Names, Field(description="Further functions that a question may call, as globs.")
    ] = []


class SqlConfig(Section):
    """Database servers as sources of query_database and describe_database."""

    sources: Annotated[
        dict[str, SqlSourceConfig], Field(description="Database servers by name.")
    ] = {}
