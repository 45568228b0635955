"""The branch `web` of the configuration."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from toolcrib.core.settings import Names, Section


class ProviderConfig(Section):
    """One search provider."""

    base_url: Annotated[str, Field(description="Another address of the same service.")] = ""
    api_key_env: Annotated[
        str,
        Field(description="Environment variable that holds the key, instead of the usual one."),
    ] = ""


class SearchConfig(Section):
    """How `web_search` works."""

    providers: Annotated[Names, Field(description="The order in which providers are tried.")] = [
        "duckduckgo",
        "brave_html",
        "mojeek",
        "bing",
        "startpage",
        "yahoo",
    ]
    at_once: Annotated[
        int,
        Field(ge=1, le=10, description="Providers asked together; their results are fused."),
    ] = 1
    limit: Annotated[int, Field(ge=1, le=50, description="Results a query.")] = 10
    snippets: Annotated[bool, Field(description="Give each result's snippet.")] = True
    enrich: Annotated[
        bool, Field(description="Open each result for its date, type and description.")
    ] = False
    safe_search: Annotated[
        Literal["strict", "moderate", "off"], Field(description="Where the call says nothing.")
    ] = "moderate"
    region: Annotated[
        str, Field(description="Language and country of results, like de-DE; empty: any.")
    ] = ""
    concurrency: Annotated[
        PositiveInt, Field(description="Queries of one call that are asked at the same time.")
    ] = 3
    cache_seconds: Annotated[
        int, Field(ge=0, description="Seconds for which results are kept; 0 keeps none.")
    ] = 900
    cache_entries: Annotated[PositiveInt, Field(description="Pages of results kept.")] = 100
    gap_seconds: Annotated[
        float, Field(ge=0, description="Seconds between two requests to one public provider.")
    ] = 5.0
    timeout: Annotated[
        PositiveFloat, Field(description="Seconds that a provider has for an answer.")
    ] = 15.0
    cooldown_seconds: Annotated[
        float,
        Field(ge=0, description="Rest of a provider that refused; doubles each time. 0: none."),
    ] = 60.0
    max_cooldown_seconds: Annotated[PositiveFloat, Field(description="The longest such rest.")] = (
        3600.0
    )


class FetchConfig(Section):
    """How pages are read, by every tool that opens one."""

    cache_seconds: Annotated[
        int, Field(ge=0, description="Seconds for which a page is kept; 0 keeps none.")
    ] = 600
    cache_entries: Annotated[PositiveInt, Field(description="Pages kept.")] = 50
    max_tokens: Annotated[
        int, Field(ge=100, description="Tokens of an answer that sets no budget.")
    ] = 4000
    format: Annotated[
        Literal["markdown", "text"], Field(description="Form of pages where the call says nothing.")
    ] = "markdown"
    max_bytes: Annotated[
        PositiveInt, Field(description="Bytes of a page, as sent and decoded.")
    ] = 5_000_000
    timeout: Annotated[
        PositiveFloat,
        Field(description="Seconds that a page may take; at most egress.total_timeout."),
    ] = 20.0
    concurrency: Annotated[
        PositiveInt, Field(description="Pages of one call that are fetched at the same time.")
    ] = 8
    host_concurrency: Annotated[
        PositiveInt, Field(description="Requests to one host at the same time.")
    ] = 2
    host_gap_seconds: Annotated[
        float, Field(ge=0, description="Seconds between two requests to one host.")
    ] = 0.25
    robots: Annotated[bool, Field(description="Obey robots.txt.")] = False
    links: Annotated[
        int, Field(ge=0, le=200, description="Links listed of a page, where they are asked for.")
    ] = 40
    whole: Annotated[
        bool, Field(description="Read whole pages, where it would be their main content.")
    ] = False
    neutralize: Annotated[
        bool,
        Field(description="Show links and images of pages without what could carry data out."),
    ] = False
    allow_hosts: Annotated[
        Names,
        Field(description="Non-public hosts for pages, images, http_request, OpenAPI alone."),
    ] = []
    allow_networks: Annotated[
        Names,
        Field(description="Non-public networks for pages, images, http_request, OpenAPI alone."),
    ] = []


class ImagesConfig(Section):
    """How images are searched and saved."""

    providers: Annotated[Names, Field(description="The order in which providers are tried.")] = [
        "bing_images",
        "duckduckgo_images",
    ]
    limit: Annotated[int, Field(ge=1, le=35, description="Images that a search gives.")] = 10
    save_limit: Annotated[
        int, Field(ge=1, le=200, description="Images saved where the call says nothing.")
    ] = 10
    folder: Annotated[str, Field(description="Folder of the workspace for saved images.")] = (
        "images"
    )
    max_bytes: Annotated[PositiveInt, Field(description="Bytes of one image.")] = 10_000_000
    timeout: Annotated[PositiveFloat, Field(description="Seconds for one image.")] = 10.0
    concurrency: Annotated[PositiveInt, Field(description="Images fetched at the same time.")] = 6


class ResearchConfig(Section):
    """How `web_research` and `ask_url` work."""

    pages: Annotated[int, Field(ge=1, le=20, description="Pages read for a question.")] = 6
    max_tokens: Annotated[
        int, Field(ge=200, description="Tokens of an answer that sets no budget.")
    ] = 3000


class SecretConfig(Section):
    """A key that `http_request` may use, and where."""

    env: Annotated[str, Field(description="Environment variable that holds it.")]
    hosts: Annotated[Names, Field(description="Hosts that may see it; `*.suffix` is allowed.")]
    scheme: Annotated[
        Literal["bearer", "basic", "header"],
        Field(description="bearer; basic, holding `user:password`; or a header of its own."),
    ] = "bearer"
    header: Annotated[str, Field(description="The header's name, for scheme header.")] = ""


class RequestsConfig(Section):
    """How `http_request` and the OpenAPI tools work."""

    timeout: Annotated[PositiveFloat, Field(description="Seconds for one request.")] = 30.0
    max_bytes: Annotated[PositiveInt, Field(description="Bytes of an answer.")] = 500_000
    secrets: Annotated[
        dict[str, SecretConfig], Field(description="Keys by the name that `auth` takes.")
    ] = {}


class WebConfig(Section):
    """The web tools."""

    search: SearchConfig = SearchConfig()
    fetch: FetchConfig = FetchConfig()
    images: ImagesConfig = ImagesConfig()
    research: ResearchConfig = ResearchConfig()
    requests: RequestsConfig = RequestsConfig()
    providers: Annotated[
        dict[str, ProviderConfig], Field(description="Settings of one provider, by its name.")
    ] = {}
