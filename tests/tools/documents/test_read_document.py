"""`read_document` through the whole pipeline: parts, pages, taint, addresses, refusals."""

from __future__ import annotations

import pytest

from tests.documents import office, pdfs
from tests.servers.scripted import Answer, scripted
from toolcrib.core.tool import NET, READ
from toolcrib.state.sessions import Sessions
from toolcrib.toolbox import Toolbox

PAGES = [
    pdfs.page_of([(20, 72, 720, f"Chapter {n}"), (11, 72, 690, f"Marker M{n}M and some words.")])
    for n in range(1, 41)
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "report.pdf").write_bytes(pdfs.report())
    (tmp_path / "long.pdf").write_bytes(pdfs.pdf(PAGES, "Long"))
    (tmp_path / "sub" / "deep" / "attached.docx").write_bytes(office.docx())
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    (tmp_path / "table.pdf").write_text("a,b\n1,2\n")
    return tmp_path


@pytest.fixture
def server():
    with scripted() as served:
        yield served


def configuration(server, **more):
    return {
        "store": {"url": "sqlite://"},
        "egress": {"allow_hosts": [server.origin], "retry": {"initial_seconds": 0}},
        "web": {"fetch": {"host_gap_seconds": 0}},
        **more,
    }


@pytest.fixture
async def box(folder, server):
    async with Toolbox(configuration(server, workspace={"roots": [str(folder)]})) as box:
        yield box


async def call(box, **arguments):
    return await box.call("read_document", arguments)


@pytest.mark.rows("C068", "D29", "E86")
async def test_a_file_of_the_workspace(box):
    result = await call(box, path="report.pdf")
    assert result.error is None
    assert result.text.startswith("PDF document, 2 pages\nTitle: Harbour Report\n\n## Page 1")
    assert "KESTREL" in result.text
    assert not result.fenced
    assert not result.truncated
    data = result.data
    assert data["pages"] == data["non_empty_pages"] == 2
    assert data["readable"] is True
    assert data["diagnostic"] == ""
    assert data["path"] == "report.pdf"
    table = await call(box, path="data.csv")
    assert table.data["metadata"]["header"] == ["a", "b"]
    assert "rows: 1" in table.text


@pytest.mark.rows("C068")
@pytest.mark.parametrize("alias", ["read_pdf", "parse_document", "convert_to_markdown"])
@pytest.mark.parametrize("argument", ["file_path", "attachment", "filename"])
async def test_other_names(box, alias, argument):
    result = await box.call(alias, {argument: "report.pdf"})
    assert "KESTREL" in result.text


@pytest.mark.rows("C068")
async def test_what_is_attached_is_found_by_its_name(box, folder):
    result = await call(box, path="attached.docx")
    assert "KESTREL" in result.text
    assert result.data["path"] == "sub/deep/attached.docx"
    (folder / "attached.docx").mkdir()
    (folder / "attached.docx").rmdir()
    (folder / "sub" / "attached.docx").write_bytes(office.docx())
    two = await call(box, path="attached.docx")
    assert two.error.code == "not_found"
    assert "sub/attached.docx" in two.error.hint
    near = await call(box, path="reprot.pdf")
    assert near.error.code == "not_found"
    assert "report.pdf" in near.error.hint


async def test_a_bare_name_is_looked_for_in_every_folder_of_the_workspace(folder, tmp_path):
    second = tmp_path / "second"
    (second / "deep").mkdir(parents=True)
    (second / "only.md").write_text("# Second\n\nIt is here.\n")
    (second / "deep" / "far.md").write_text("# Far\n\nIt is there.\n")
    config = {"workspace": {"roots": [str(folder), str(second)]}}
    async with Toolbox(config) as box:
        assert "It is here." in (await call(box, path="only.md")).text
        assert "It is there." in (await call(box, path="far.md")).text
        assert "KESTREL" in (await call(box, path="report.pdf")).text
        (folder / "sub" / "far.md").write_text("Another.\n")
        assert (await call(box, path="far.md")).error.code == "not_found"
    rules = [{"action": "deny", "target": f"{second}/*"}]
    async with Toolbox({**config, "policy": {"rules": rules}}) as box:
        assert (await call(box, path="only.md")).error.code == "denied"


async def test_policy_sees_the_file_that_was_found(folder):
    config = {
        "workspace": {"roots": [str(folder)]},
        "policy": {"rules": [{"action": "deny", "target": f"{folder}/sub/*"}]},
    }
    async with Toolbox(config) as box:
        result = await call(box, path="attached.docx")
        assert result.error.code == "denied"


async def test_long_documents_come_in_parts_that_join(box):
    result = await call(box, path="long.pdf", max_tokens=400)
    assert result.truncated
    assert "Headings by page:\n1 Chapter 1" in result.text
    parts, seen = [result.data["content"]], 1
    while result.next:
        assert result.next.tool == "read_document"
        result = await box.call(result.next.tool, result.next.arguments)
        assert result.error is None
        parts.append(result.data["content"])
        seen += 1
        assert seen < 40
    text = "".join(parts)
    for n in range(1, 41):
        assert text.count(f"Marker M{n}M") == 1
        assert text.count(f"## Page {n}\n") == 1
    assert len(text) == result.data["length"]


async def test_pages(box):
    result = await call(box, path="long.pdf", pages="3-4,9")
    assert "these are 3-4, 9" in result.text
    assert [n for n in range(1, 41) if f"M{n}M" in result.text] == [3, 4, 9]
    assert (await call(box, path="long.pdf", pages=7)).text.count("## Page") == 1
    wrong = await call(box, path="long.pdf", pages="50")
    assert wrong.error.code == "bad_input"
    assert "40 pages" in wrong.error.hint
    part = await call(box, path="long.pdf", pages="10-40", max_tokens=300)
    assert part.next.arguments["pages"] == "10-40"


async def test_budgets_hold(box):
    from toolcrib.text.tokens import estimate

    for budget in (100, 400, 2000):
        result = await call(box, path="long.pdf", max_tokens=budget)
        assert estimate(result.render()) <= max(budget, 200)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"path": ""}, {"url": ""}, {"path": "report.pdf", "url": "https://e.example/x.pdf"}],
)
async def test_exactly_one_source(box, arguments):
    result = await call(box, **arguments)
    assert result.error.code == "bad_input"
    assert "'path' or 'url'" in result.error.message


async def test_an_address_in_place_of_a_path_is_told(box):
    result = await call(box, path="https://e.example/x.pdf")
    assert result.error.code == "bad_input"
    assert "url" in result.error.hint


@pytest.mark.rows("X12")
@pytest.mark.parametrize(
    "path",
    [
        "../outside.pdf",
        "/etc/passwd",
        "sub/../../outside.pdf",
        "link.pdf",
        "sub/..",
        "a\0b",
        ".env",
    ],
)
async def test_nothing_outside_is_read(box, folder, tmp_path_factory, path):
    outside = tmp_path_factory.mktemp("outside") / "outside.pdf"
    outside.write_bytes(pdfs.report())
    (folder / "link.pdf").symlink_to(outside)
    (folder / ".env").write_text("KEY=1")
    result = await call(box, path=path)
    assert result.error.code in ("path_denied", "bad_input", "not_found")
    assert "KESTREL" not in result.render()


async def test_contents_win_over_names(box):
    result = await call(box, path="table.pdf")
    assert "a,b" in result.text or "| a | b |" in result.text


@pytest.mark.rows("A22", "D29")
async def test_a_document_of_the_web(box, server):
    server["/r"] = Answer(pdfs.report(), kind="application/pdf")
    url = f"{server.url}/r"
    result = await call(box, url=url)
    assert result.error is None
    assert result.fenced
    assert url in result.text
    assert "KESTREL" in result.text
    assert result.data["pages"] == 2
    again = await call(box, url=url, pages="2")
    assert "| Q1 |" in again.text
    assert again.data["cached"] is True
    assert server.count("/r") == 1
    refused = await call(box, url="http://10.0.0.1/x.pdf")
    assert refused.error.code.startswith("blocked")


async def test_parts_of_a_document_of_the_web(box, server):
    server["/long.docx"] = Answer(
        office.docx("".join(office.paragraph(f"Paragraph {n} of words.") for n in range(500))),
        kind="application/octet-stream",
    )
    result = await call(box, url=f"{server.url}/long.docx", max_tokens=300)
    assert result.next.tool == "read_document"
    more = await box.call(result.next.tool, result.next.arguments)
    assert more.error is None
    assert more.data["offset"] == result.data["end"]


async def test_what_a_server_says_is_an_error(box, server):
    server["/gone"] = Answer("gone", 404)
    server["/empty"] = Answer(b"", kind="application/pdf")
    server["/torn"] = Answer(pdfs.report()[:200], kind="application/pdf")
    assert (await call(box, url=f"{server.url}/gone")).error.code == "http_status"
    assert (await call(box, url=f"{server.url}/empty")).error is not None
    torn = await call(box, url=f"{server.url}/torn")
    assert torn.error.code == "unsupported_content"
    assert torn.error.hint


async def test_taint_follows_where_the_document_is(box, server):
    server["/r"] = Answer(pdfs.report(), kind="application/pdf")
    for session, arguments, flags in (
        ("one", {"path": "report.pdf"}, (False, True)),
        ("two", {"url": f"{server.url}/r"}, (True, False)),
    ):
        assert (await box.call("read_document", arguments, session=session)).error is None
        state = await box.use(Sessions).load(session)
        assert (state.untrusted, state.private) == flags


def test_rights_narrow():
    from toolcrib.tools.documents.read_document import read_document

    assert read_document.rights == READ | NET
    assert read_document.rights_for({"path": object(), "url": ""}) == READ
    assert read_document.rights_for({"path": None, "url": "https://e.example"}) == NET


async def test_an_address_needs_no_workspace(server, tmp_path, monkeypatch):
    server["/r"] = Answer(pdfs.report(), kind="application/pdf")
    monkeypatch.chdir("/")
    async with Toolbox(configuration(server)) as box:
        result = await call(box, url=f"{server.url}/r")
        assert result.error is None, result.error
        missing = await call(box, path="report.pdf")
        assert missing.error is not None


@pytest.mark.rows("A22", "B18", "D29")
async def test_fetch_url_reads_documents_too(box, server):
    server["/r"] = Answer(pdfs.report(), kind="application/pdf")
    server["/d"] = Answer(office.docx(), kind="application/octet-stream")
    server["/not"] = Answer("<h1>Not a PDF</h1>", kind="application/pdf")
    server["/torn"] = Answer(pdfs.report()[:200], kind="application/pdf")
    result = await box.call("fetch_url", {"url": f"{server.url}/r"})
    page = result.data["pages"][0]
    assert (page["kind"], page["title"]) == ("pdf", "Harbour Report")
    assert "2 pages, 2 with text." in page["notes"]
    assert "## Page 2" in page["content"]
    section = await box.call("fetch_url", {"url": f"{server.url}/r", "section": "Methods"})
    assert "first item" in section.text
    word = await box.call("fetch_url", {"url": f"{server.url}/d"})
    assert "| Q1 | 1,001 |" in word.text
    for name in ("not", "torn"):
        failed = await box.call("fetch_url", {"url": f"{server.url}/{name}"})
        assert failed.error.code == "unsupported_content"
        assert "application/pdf" in failed.error.message
        assert failed.error.hint
