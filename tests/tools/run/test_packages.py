"""Installing in a run: the user's own indexes, asked about once, and what hostile ones can do."""

from __future__ import annotations

import itertools
import shutil
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conditions import until
from tests.servers.packages import NAME, VERSION, WHEEL, index, offer_npm, tarball
from tests.servers.scripted import Answer, Scripted
from toolcrib import Result, Toolbox
from toolcrib.core.context import Caller, Ctx, Question, Session
from toolcrib.core.registry import Registry
from toolcrib.execution.network_access import NetworkRequests
from toolcrib.execution.package_indexes import HREF
from toolcrib.state.approvals import Approvals

pytestmark = [pytest.mark.rows("E31", "E32"), pytest.mark.timeout(180)]
NPM = pytest.mark.skipif(not shutil.which("npm"), reason="npm is not on this machine")
PIP = f".venv/bin/pip install {NAME}"
ENVIRONMENT = "python3 -m venv .venv && "
BARE = "python3 -m venv --without-pip .venv && python3 -m pip --python .venv/bin/python install "
"""The same without a copy of pip, which takes seconds."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    """The index that the user's programs are configured for."""
    with index() as made:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://reader:loginword@{made.origin}/simple/")
        monkeypatch.setenv("npm_config_registry", f"{made.url}/npm/")
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
            monkeypatch.delenv(name, raising=False)
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
async def box(folder: Path, server: Scripted, level: str) -> AsyncIterator[Toolbox]:
    del server, level  # they are in the environment
    settings = {"store": {"url": f"sqlite:///{folder.parent}/s.db"}}
    async with Toolbox(settings, workspace=folder) as made:
        yield made


async def call(box: Toolbox, session: str = "one", **arguments: Any) -> Result:
    return await box.call("run_command", arguments, session=session)


async def approved(box: Toolbox, **arguments: Any) -> Result:
    """The same call again, after a person has allowed it; dependency folders that it held, made."""
    done = await allowed(box, "run_command", arguments)
    if done.next is not None and done.next.tool == "apply_changes":
        made = await allowed(box, "apply_changes", dict(done.next.arguments))
        assert made.error is None, made.render()
    return done


async def allowed(box: Toolbox, name: str, arguments: dict[str, Any]) -> Result:
    """Two questions at most: one about indexes, one about where they have their files."""
    result = await requested(box, name, arguments)
    for _ in range(2):
        assert result.error is not None, result.render()
        await box.use(Approvals).grant(str(result.error.details["id"]))
        result = await box.call(name, arguments, session="one")
        if result.error is None or result.error.code != "needs_approval":
            break
    return result


async def requested(box: Toolbox, name: str, arguments: dict[str, Any]) -> Result:
    result = await box.call(name, arguments, session="one")
    assert result.error is not None, result.render()
    assert result.error.code == "needs_approval", result.render()
    return result


class Person:
    """Answers in turn, and notes what had come to the server when a question was asked."""

    def __init__(self, server: Scripted, *answers: bool) -> None:
        self.answers = list(answers)
        self.server = server
        self.questions: list[Question] = []
        self.requested: list[int] = []

    async def ask(self, question: Question) -> bool:
        self.questions.append(question)
        self.requested.append(len(self.server.requested))
        return self.answers.pop(0)

    async def call(self, box: Toolbox, **arguments: Any) -> Result:
        caller = Caller("test", ask=self.ask)
        return await box.call("run_command", arguments, session="one", caller=caller)


@pytest.fixture
def elsewhere(server: Scripted) -> Scripted:
    """An index that has its files at another host."""
    server["/simple/pip/"] = Answer('<a href="https://files.example/x.whl">x</a>')
    return server


SETTINGS = {
    "npm": (".npmrc", "registry={url}\n"),
    "pip": (".config/pip/pip.conf", "[global]\nindex-url={url}\n"),
}


@pytest.mark.parametrize("program", [pytest.param("npm", marks=NPM), "pip"])
async def test_what_a_job_wrote_into_a_home_folder_is_sent_nowhere_before_it_is_allowed(
    box: Toolbox, server: Scripted, folder: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    for name in ("PIP_INDEX_URL", "npm_config_registry", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    name, text = SETTINGS[program]
    url = f"{server.url}/heron-7/"
    command = f"mkdir -p .config/pip && printf '{text.format(url=url)}' > {name}"
    begun = await call(box, command=command, background=True)
    assert begun.error is None, begun.render()
    await until((folder / name).exists)

    person = Person(server, False)
    refused = await person.call(box, command="true", network=["packages"])
    assert refused.error is not None and refused.error.code == "denied"
    (question,) = person.questions
    assert server.origin in question.reason
    assert url in question.summary, question.summary
    assert "heron-7" not in refused.render()
    assert not server.requested

    requests = await requested(box, "run_command", {"command": "pwd", "network": ["packages"]})
    assert "heron-7" not in requests.render()
    assert not server.requested


async def test_hosts_in_one_text_are_several(box: Toolbox) -> None:
    for network in ("a.example, b.example", "a.example b.example"):
        given = {"command": "pwd", "network": network}
        assert (
            "it may reach a.example, b.example"
            in (await requested(box, "run_command", given)).render()
        )


async def test_where_an_index_has_its_files_is_asked_about_once_the_index_is_allowed(
    box: Toolbox, elsewhere: Scripted
) -> None:
    person = Person(elsewhere, True, False, True)
    refused = await person.call(box, command="true", network=["packages"])
    assert refused.error is not None and refused.error.code == "denied"
    first, second = person.questions
    assert elsewhere.origin in first.reason and "files.example" not in first.reason
    assert "files.example" in second.reason and elsewhere.origin not in second.reason
    assert person.requested[0] == 0 < person.requested[1]
    # The index stays allowed: no more is asked than was refused, and nothing after that.
    for _ in range(2):
        done = await person.call(box, command="true", network=["packages"])
        assert done.error is None, done.render()
    assert [question.reason for question in person.questions[2:]] == [second.reason]


@pytest.mark.parametrize("single", [False, True])
async def test_two_answers_that_come_later_are_enough(
    box: Toolbox, elsewhere: Scripted, single: bool
) -> None:
    """Also for calls that stand alone, of which no conversation remembers the first answer."""
    arguments = {"command": "true", "network": ["packages"]}
    caller = Caller("test", single=single)
    numbers = itertools.count()

    async def send() -> Result:
        session = f"call {next(numbers)}" if single else "one"
        return await box.call("run_command", arguments, session=session, caller=caller)

    for reason in (elsewhere.origin, "files.example"):
        result = await send()
        assert result.error is not None and result.error.code == "needs_approval", result.render()
        assert reason in result.error.message
        await box.use(Approvals).grant(str(result.error.details["id"]))
    done = await send()
    assert done.error is None, done.render()
    again = await send()
    assert (again.error is not None) is single, again.render()


async def test_without_a_boundary_an_index_is_one_question(
    folder: Path, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCRIB_RUN__LEVEL", "none")
    async with Toolbox({"store": {"url": "sqlite://"}}, workspace=folder) as box:
        person = Person(server, True)
        done = await person.call(box, command="touch x", network=["packages"])
    assert done.error is None, done.render()
    assert "without a boundary" in person.questions[0].reason


async def test_what_the_configuration_allows_is_looked_up_before_the_only_question(
    box: Toolbox, folder: Path, elsewhere: Scripted
) -> None:
    person = Person(elsewhere, False, True)
    await person.call(box, command="true", network=["packages"])
    hosts = person.questions[0].reason.partition("may reach ")[2].split(", ")
    settings = {
        "store": {"url": "sqlite://"},
        "run": {"network": hosts},
        "policy": {"rules": [{"tool": "run_command", "action": "allow"}]},
    }
    async with Toolbox(settings, workspace=folder) as configured:
        done = await person.call(configured, command="true", network=["packages"])
    assert done.error is None, done.render()
    assert "files.example" in person.questions[1].reason


async def test_a_run_reaches_nothing_that_was_not_allowed_when_it_was_judged(
    box: Toolbox, elsewhere: Scripted
) -> None:
    """Also where an index is allowed by another call between the two."""

    async def nothing(*_: Any, **__: Any) -> Any:
        raise AssertionError

    services, session = box._services, Session("one")
    ctx = Ctx("1", Caller("test"), session, services, Registry(()), nothing)
    requests, wanted = box.use(NetworkRequests), ["packages", "plain.example"]
    judged = await requests.judged(ctx, wanted)
    assert elsewhere.url in judged.endpoints[0]
    reached = await requests.of(ctx, wanted)
    assert (reached.hosts, reached.endpoints) == ((), ())
    session.open_hosts([f"http://{elsewhere.origin}"])
    reached = await requests.of(ctx, wanted)
    assert reached.hosts == (elsewhere.origin,)
    assert {urlsplit(url).netloc for url in reached.endpoints} == {elsewhere.origin}


async def test_a_host_of_the_web_that_was_allowed_is_no_index(
    box: Toolbox, server: Scripted
) -> None:
    """As an index it may be in a private network, and what a run wrote can name it as one."""
    person = Person(server, True, False)
    allowed = await person.call(box, command="true", network=[server.origin])
    assert allowed.error is None, allowed.render()
    denied = await person.call(box, command="true", network=["packages"])
    assert denied.error is not None
    assert f"get packages from {server.url}" in person.questions[1].summary
    assert not server.requested


@NPM
async def test_npm_puts_no_variable_of_others_into_an_address(
    box: Toolbox, server: Scripted, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("npm_config_registry")
    monkeypatch.setenv("npm_config__authToken", "tokenword")
    monkeypatch.setenv("CARGO_REGISTRY_TOKEN", "tokenword")
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:tokenword@127.0.0.1:9/simple")
    names = ("CARGO_REGISTRY_TOKEN", "npm_config__authToken", "PIP_INDEX_URL")
    lines = (f"@{name.lower()}:registry=http://127.0.0.1:9/${{{name}}}/" for name in names)
    odd = ["@a\\0b:registry=http://127.0.0.1:9/x", "registry=http://127.0.0.1:9/\x01"]
    (folder / ".npmrc").write_text("\n".join([*lines, *odd, ""]))
    person = Person(server, False)
    denied = await person.call(box, command="env", network=["packages"])
    assert denied.error is not None
    assert "127.0.0.1:9" in person.questions[0].summary
    assert "tokenword" not in person.questions[0].summary


@NPM
async def test_more_indexes_than_a_person_reads_are_refused(
    box: Toolbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    lines = (f"@a{n}:registry=http://h{n}.example/\n" for n in range(30))
    (folder / ".npmrc").write_text("".join(lines))
    result = await call(box, command="true", network=["packages"])
    assert result.error is not None
    assert result.error.code == "unavailable"
    assert "more than 20" in result.error.message


async def test_pip_installs_from_the_users_index(box: Toolbox, server: Scripted) -> None:
    refused = await call(box, command=BARE + NAME)
    assert 'network=["packages"]' in refused.text
    assert not server.requested

    requested = await call(box, command=ENVIRONMENT + PIP, network=["packages"])
    assert requested.error is not None
    assert server.origin in requested.error.message
    assert "loginword" not in requested.render()
    done = await approved(box, command=ENVIRONMENT + PIP, network=["packages"])
    assert f"Successfully installed {NAME}-{VERSION}" in done.text, done.text
    assert "loginword" not in done.text

    later = await box.call("run_python", {"code": f"import {NAME}; {NAME}.WORD"}, session="one")
    assert later.text.startswith("'heron'"), later.text
    # Asked once: another call of the conversation goes on at once, one of another asks.
    again = await call(box, command=f"{PIP} --force-reinstall", network=["packages"])
    assert again.error is None, again.render()
    other = await call(box, "two", command=PIP, network=["packages"])
    assert other.error is not None
    assert other.error.code == "needs_approval"
    # What was let through for packages is not let through for more.
    more = await call(box, command="true", network=["packages", "other.example"])
    assert more.error is not None
    assert "other.example" in more.error.message
    assert server.origin not in more.error.message


async def test_what_the_users_programs_trust_counts_in_a_run(
    box: Toolbox, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("PIP_CERT", "/etc/ssl/certs/ca-certificates.crt")
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/etc/../root/ca.pem")
    done = await approved(box, command="env", network=["packages"])
    assert "PIP_CERT=/etc/ssl/certs/ca-certificates.crt\n" in done.text
    assert "SSL_CERT_FILE" not in done.text
    assert "REQUESTS_CA_BUNDLE" not in done.text


@NPM
async def test_npm_installs_and_its_scripts_are_confined(
    box: Toolbox, server: Scripted, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("CANARY")
    (folder / "package.json").write_text("{}")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        attack = (
            f"cat {tmp_path}/secret > seen; echo x > {tmp_path}/written; "
            f"node -e \"require('net').connect({port},'127.0.0.1').on('connect',()=>"
            "require('fs').writeFileSync('reached',''))\"; env > seen.txt; true"
        )
        offer_npm(server, {"postinstall": attack})
        done = await approved(
            box, command=f"npm install --foreground-scripts {NAME}", network=["packages"]
        )
        assert "added 1 package" in done.text, done.text
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()
    place = folder / "node_modules" / NAME
    assert (place / "seen").read_text() == ""
    assert not (place / "reached").exists()
    assert not (tmp_path / "written").exists()
    assert "loginword" not in (place / "seen.txt").read_text()
    used = await call(box, command=f"node -p \"require('{NAME}')\"")
    assert used.text.startswith("heron"), used.text


@pytest.mark.parametrize("method", ["project", "files", "link", "address"])
async def test_an_index_cannot_lead_to_other_places(
    box: Toolbox, server: Scripted, level: str, method: str
) -> None:
    """By a redirect of what pip asks for, or of what is asked before; by a link to a file."""
    del level
    with index() as private:
        place = (
            private.url if method != "address" else f"http://localhost:{urlsplit(private.url).port}"
        )
        away = {"Location": f"{place}/simple/{NAME}/"}
        redirect = Answer("", status=302, headers=away)
        if method == "project":
            server[f"/simple/{NAME}/"] = redirect
        elif method == "files":  # where its files are is asked outside of the boundary
            server["/simple/pip/"] = server["/simple/"] = redirect
            server[f"/files/{WHEEL}"] = Answer(
                "", status=302, headers={"Location": f"{place}/files/{WHEEL}"}
            )
        else:
            link = f'<a href="{place}/files/{WHEEL}">{WHEEL}</a>'
            server[f"/simple/{NAME}/"] = server["/simple/pip/"] = Answer(link)
        done = await approved(box, command=BARE + NAME, network=["packages"], timeout=40)
        assert done.data["exit_code"] != 0
        assert not private.requested
        assert "127.0.0.1" in done.text or "localhost" in done.text


async def test_links_that_name_no_host_are_none(box: Toolbox, server: Scripted) -> None:
    """Neither is the call an error, nor is a person asked about them."""
    wrong = [
        "http://[x/",
        "http://h.example:99999/",
        "http://*.com/",
        "http://*/",
        "//a b.example/",
    ]
    wrong += ["http://x\u202e.example/", "http://pypi.example (only)/", "http://a..b/"]
    links = "".join(f'<a href="{link}">x</a>' for link in [*wrong, "http://files.example/x"])
    server["/simple/pip/"] = Answer(links)
    server["/npm/config.json"] = Answer("[" * 100_000)
    person = Person(server, True, False)
    refused = await person.call(box, command="true", network=["packages"])
    assert refused.error is not None
    named = person.questions[1].reason.partition("may reach ")[2].rstrip(".").split(", ")
    assert [host for host in named if host.endswith(".example")] == ["files.example"]
    assert not any(mark in host for host in named for mark in "*[ (\u202e")
    assert "a..b" not in named
    done = await Person(server, True, True).call(box, command="true", network=["packages"])
    assert done.error is None, done.render()


async def test_an_index_that_hangs_costs_no_more_than_the_time_of_the_run(
    box: Toolbox, server: Scripted
) -> None:
    import threading

    server[f"/simple/{NAME}/"] = Answer("", hold=threading.Event())
    done = await approved(box, command=BARE + NAME, network=["packages"], timeout=8)
    assert done.error is not None
    assert done.error.code == "timeout"


async def test_what_is_built_on_install_is_confined(
    box: Toolbox, server: Scripted, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("CANARY")
    setup = f"print(open('{tmp_path}/secret').read())\n"
    source = tarball(
        {
            f"{NAME}-9/setup.py": setup,
            f"{NAME}-9/PKG-INFO": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 9\n",
        }
    )
    server[f"/files/{NAME}-9.tar.gz"] = Answer(source, kind="application/gzip")
    server[f"/simple/{NAME}/"] = Answer(f'<a href="/files/{NAME}-9.tar.gz">{NAME}-9.tar.gz</a>')
    command = f"{BARE}{NAME} --no-build-isolation -v"
    done = await approved(box, command=command, network=["packages"])
    assert done.data["exit_code"] != 0
    assert "CANARY" not in done.text


async def test_what_is_no_host_is_refused(folder: Path) -> None:
    wrong = [["http://a.example/"], ["*"], ["a b"], ["user@a.example"], ["x" * 300]]
    async with Toolbox(workspace=folder) as box:
        for network in [*wrong, ["a.example"] * 21, ["a.example:70000"], ["a.example", "["]]:
            result = await call(box, command="true", network=network)
            assert result.error is not None, network
            assert result.error.code == "bad_input", network


async def test_words_for_all_hosts_are_refused(folder: Path) -> None:
    async with Toolbox(workspace=folder) as box:
        for network in (True, "true", "Yes", "1", "all", "internet", ["*"], ["a.example", "any"]):
            result = await call(box, command="true", network=network)
            assert result.error is not None, network
            assert result.error.code == "bad_input", network
            assert 'network=["packages"]' in result.error.hint


async def test_words_for_no_host_ask_for_none(folder: Path) -> None:
    async with Toolbox({}, workspace=folder) as box:
        for network in (["auto", "ask", "never"], False):
            call = {"code": "print(7)", "network": network}
            assert (await box.call("run_python", call)).text.startswith("7\n")


async def test_a_rule_for_the_tool_is_none_for_its_network(folder: Path) -> None:
    settings = {
        "store": {"url": f"sqlite:///{folder.parent}/s.db"},
        "policy": {"rules": [{"tool": "run_command", "action": "allow"}]},
    }
    async with Toolbox(settings, workspace=folder) as box:
        assert (await call(box, command="true")).error is None
        result = await call(box, command="true", network=["a.example"])
        assert result.error is not None
        assert result.error.code == "needs_approval"


async def test_each_host_is_asked_about_whatever_the_conversation_allows(box: Toolbox) -> None:
    first = await call(box, command="true", network=["one.example"])
    assert first.error is not None
    await box.use(Approvals).grant(first.error.details["id"], "session")
    assert (await call(box, command="true", network=["one.example"])).error is None
    other = await call(box, command="true", network=["two.example"])
    assert other.error is not None and other.error.code == "needs_approval"


async def test_what_was_not_reached_of_this_machine_is_named_with_its_port(box: Toolbox) -> None:
    script = "import urllib.request as u; u.urlopen('http://{}/', timeout=5)"
    fetch = f'NO_PROXY= no_proxy= python3 -c "{script}"'
    done = await approved(box, command=fetch.format("localhost:59871"), network=["a.example"])
    assert "[not reached, as they are not in 'network': localhost:59871]" in done.text
    # A name that may be reached, though not at the address that it has.
    done = await approved(box, command=fetch.format("a.localhost"), network=["a.localhost"])
    assert "[not reached: Destination not allowed: a.localhost " in done.text


@pytest.mark.timeout(30)
def test_a_page_of_an_index_without_an_end_is_read_at_once() -> None:
    """Each sign of a link once began a look at all that follows."""
    assert len(HREF.findall(b"<a " * 200_000 + b'<a href="x">')) == 1
