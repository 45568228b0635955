"""What works on this machine."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.scripted import Answer, scripted
from tests.surfaces.cli.program import Ended, Program

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)


def checks(done: Ended) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in done.json["checks"]}


def test_a_healthy_machine_is_0(program: Program, tmp_path: Path) -> None:
    done = program("doctor", "--json", "--offline", "--workspace", ".")
    assert done.code == 0
    assert done.json["ok"] is True
    found = checks(done)
    assert sys.executable in found["python"]["detail"]
    assert found["store"]["detail"] == str(tmp_path / "state" / "toolcrib.db")
    for name in ("configuration", "python", "store", "workspace", "turbohtml"):
        assert found[name]["state"] == "ok", found[name]
        assert found[name]["essential"]
    assert found["workspace"]["detail"] == str(program.folder)
    for name in ("openat2", "wreq", "token", "rg", "git", "node", "sandbox"):
        check = found[name]
        assert check["state"] == "ok" or check["fix"], check
        assert "\n" not in check["fix"]


def test_programs_are_found_on_the_path(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "rg").write_text("#!/bin/sh\necho ripgrep 14.1.0\n")
    (folder / "node").write_text("#!/bin/sh\necho sorry >&2\nexit 3\n")
    (folder / "rg").chmod(0o755)
    (folder / "node").chmod(0o755)
    done = program("doctor", "--json", "--offline", env={"PATH": f"{folder}:/usr/bin:/bin"})
    found = checks(done)
    assert found["rg"]["state"] == "ok"
    assert found["rg"]["detail"].startswith(f"{folder / 'rg'}, ")
    assert found["node"]["state"] == "broken"
    assert "sorry" in found["node"]["detail"]
    assert done.code == 0, "nothing essential"
    done = program("doctor", "--offline", env={"PATH": f"{folder}:/usr/bin:/bin"})
    assert "It works, except: node" in done.out


def test_ocr_is_checked_where_it_is_configured(program: Program, tmp_path: Path) -> None:
    assert checks(program("doctor", "--json", "--offline"))["ocr"]["state"] == "missing"
    folder = tmp_path / "bin"
    folder.mkdir()
    env = {"PATH": str(folder), "TOOLCRIB_DOCUMENTS__OCR": "tesseract"}
    done = program("doctor", "--json", "--offline", env=env)
    assert checks(done)["documents"]["state"] in ("ok", "missing")
    assert checks(done)["tesseract"]["state"] == "broken"
    assert "tesseract-ocr" in checks(done)["tesseract"]["fix"]
    assert done.code == 1
    (folder / "tesseract").write_text("#!/bin/sh\n")
    (folder / "tesseract").chmod(0o755)
    done = program("doctor", "--json", "--offline", env=env)
    assert checks(done)["tesseract"]["state"] == "ok"


def test_a_missing_program_names_the_line_that_installs_it(
    program: Program, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "apt-get").write_text("#!/bin/sh\n")
    (folder / "apt-get").chmod(0o755)
    done = program("doctor", "--offline", env={"PATH": str(folder)})
    assert "missing  git" in done.out
    assert "-> sudo apt-get install -y git\n" in done.out


def test_the_ripgrep_of_the_environment_counts(program: Program, tmp_path: Path) -> None:
    """Searches use it, on PATH or not; one of another program's name does not count."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "rg").write_text("#!/bin/sh\necho another 14.1.0\n")
    (folder / "rg").chmod(0o755)
    done = program("doctor", "--json", "--offline", env={"PATH": str(folder)})
    beside = Path(sys.executable).with_name("rg")
    found = checks(done)["rg"]
    assert found["state"] == ("ok" if beside.is_file() else "missing")
    assert found["detail"].startswith(f"{beside}, " if beside.is_file() else "for fast search")


def test_an_old_name_of_a_setting_counts_and_is_told(program: Program) -> None:
    (program.folder / "old.toml").write_text("[run]\nheld_hours = 5\n\n[agent]\nmost_calls = 7\n")
    done = program("doctor", "--json", "--offline", "--config", "old.toml")
    found = checks(done)["configuration"]
    assert done.code == 0
    assert found["state"] == "ok"
    assert "run.held_hours is run.pending_hours now" in found["detail"]
    assert "agent.most_calls is agent.max_calls now" in found["detail"]
    displayed = program("config", "show", "--config", "old.toml").out
    assert "pending_hours = 5.0  # file" in displayed
    assert "max_calls = 7  # file" in displayed


def test_the_sandbox_is_told_as_it_is(program: Program) -> None:
    done = program("doctor", "--json", "--offline", env={"TOOLCRIB_RUN__LEVEL": "none"})
    assert checks(done)["sandbox"]["state"] == "broken"
    assert "nothing confines" in checks(done)["sandbox"]["detail"]
    done = program("doctor", "--json", "--offline", env={"TOOLCRIB_RUN__LEVEL": "kernel"})
    assert "level kernel" in checks(done)["sandbox"]["detail"]


def test_a_store_that_cannot_be_written_is_1(program: Program, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = program(
        "doctor", "--json", "--offline", env={"TOOLCRIB_DATA": str(tmp_path / "file" / "in")}
    )
    assert done.code == 1
    assert done.json["ok"] is False
    assert checks(done)["store"]["state"] == "broken"
    assert checks(done)["store"]["fix"]


def test_a_workspace_that_is_not_there_is_1(program: Program) -> None:
    done = program("doctor", "--offline", "--workspace", "gone")
    assert done.code == 1
    assert "Broken: workspace." in done.out
    assert f"-> mkdir -p {program.folder / 'gone'}\n" in done.out


def test_a_wrong_configuration_is_a_finding(program: Program) -> None:
    done = program("doctor", "--json", "--offline", "--set", "web.searcher.limit=1")
    assert done.code == 1
    assert "unknown key web.searcher" in checks(done)["configuration"]["detail"]
    assert checks(done)["store"]["state"] == "ok", "the rest is checked all the same"


@pytest.mark.rows("D11")
def test_a_provider_names_the_setting_that_it_lacks(program: Program) -> None:
    words = ("doctor", "--json", "--offline", "--set")
    found = checks(program(*words, "web.search.providers=brave,searxng,gogle,duckduckgo"))
    assert found["search brave"]["state"] == "missing"
    assert found["search brave"]["fix"].startswith("export BRAVE_API_KEY=..., or ")
    assert '[web.providers.brave]: api_key_env = "' in found["search brave"]["fix"]
    assert found["search searxng"]["state"] == "missing"
    assert "[web.providers.searxng]: base_url = " in found["search searxng"]["fix"]
    assert found["search gogle"]["state"] == "broken"
    assert "web.search.providers" in found["search gogle"]["fix"]
    assert "Did you mean google" in found["search gogle"]["detail"]
    assert "startpage" not in found["search gogle"]["detail"]
    assert found["search duckduckgo"]["state"] == "unknown", "it was not asked"

    words = (*words, "web.search.providers=brave", "--set", "web.providers.brave.api_key_env=KEY")
    check = checks(program(*words))["search brave"]
    assert "KEY, which is not set" in check["detail"]
    assert check["fix"] == "export KEY=..."
    done = program(*words, env={"KEY": "s3cret"})
    assert checks(done)["search brave"]["state"] == "unknown"
    assert "(not asked)" in checks(done)["search brave"]["detail"]
    assert "s3cret" not in done.out


def test_what_is_configured_and_broken_is_1_and_named_last(program: Program) -> None:
    words = ("doctor", "--offline", "--set")
    done = program(*words, "web.search.providers=serxng,duckduckgo,bing_images")
    assert done.code == 1
    assert done.out.endswith("\nBroken: search serxng, search bing_images.\n")
    assert "Did you mean searxng" in " ".join(done.out.split())
    done = program(*words, "web.images.providers=duckduckgo")
    assert done.code == 1
    assert done.out.endswith("\nBroken: images duckduckgo.\n")


def test_being_offline_is_told_and_breaks_nothing(program: Program) -> None:
    # No port is denied here: the resolver of this machine may or may not answer.
    done = program("doctor", "--json")
    found = checks(done)["names"]
    assert found["state"] in ("ok", "broken")
    assert not found["essential"]
    assert done.code == 0
    if found["state"] == "broken":
        assert "check the network" in found["fix"]


def test_an_instance_of_ones_own_is_asked_once(program: Program) -> None:
    with scripted() as server:
        server["/search"] = Answer("no", 403)
        file = program.folder / "own.toml"
        file.write_text(
            f"""
            [web.search]
            providers = ["searxng", "searxng_news"]
            [web.images]
            providers = ["searxng_images"]
            [web.providers.searxng]
            base_url = "{server.url}"
            [egress]
            proxy = ""
            """
        )
        done = program("doctor", "--json", "--config", str(file))
        assert server.count("/search") == 1
        found = checks(done)
        for name in ("search searxng", "search searxng_news", "images searxng_images"):
            assert found[name]["state"] == "broken"
            assert "refuses JSON" in found[name]["detail"]
        assert done.code == 1
        server["/search"] = Answer('{"results": []}', kind="application/json")
        assert checks(program("doctor", "--json", "--config", str(file)))["search searxng"][
            "state"
        ] == ("ok")
        requested = server.count("/search")
        found = checks(program("doctor", "--json", "--offline", "--config", str(file)))
        assert found["search searxng"]["state"] == "unknown"
        assert server.count("/search") == requested


def test_mistakes_in_the_settings_of_the_web_are_named_with_the_file(program: Program) -> None:
    file = program.folder / "own.toml"
    file.write_text(
        """
        [egress]
        allow_hosts = ["http://printer.lan:631/x", "fine.lan"]
        [web.search]
        region = "germany"
        providers = ["searxng", "brave"]
        [web.providers.searxng]
        base_url = "127.0.0.1:8888"
        [web.providers.duckduckog]
        base_url = "https://example.org"
        [web.requests.secrets.one]
        env = "NOT_SET_AT_ALL"
        hosts = ["example.org"]
        [web.requests.secrets.two]
        env = "PATH"
        hosts = ["example.org"]
        scheme = "header"
        """
    )
    done = program("doctor", "--json", "--offline", "--config", str(file))
    found = checks(done)
    assert done.code == 1
    expected = {
        "egress.allow_hosts": 'allow_hosts = ["printer.lan:631"]',
        "region": "de-DE",
        "search searxng": "http://127.0.0.1:8888",
        "provider duckduckog": "[web.providers.duckduckgo]",
        "secret two": "header = ",
    }
    for name, words in expected.items():
        assert found[name]["state"] == "broken", name
        assert words in found[name]["fix"], found[name]
        if name != "search searxng":
            assert str(file) in found[name]["fix"], found[name]
    assert found["secret one"]["state"] == "missing"
    assert found["secret one"]["fix"] == "export NOT_SET_AT_ALL=..."
    assert str(file) in found["search brave"]["fix"]


def test_names_are_looked_up_unless_a_proxy_does(program: Program) -> None:
    found = checks(program("doctor", "--json", "--set", "egress.proxy=http://127.0.0.1:9"))
    assert found["names"]["detail"] == "left to egress.proxy"
    assert "names" not in checks(program("doctor", "--json", "--offline"))


def test_the_folder_of_backups_is_checked(program: Program, tmp_path: Path) -> None:
    assert "backups" not in checks(program("doctor", "--json", "--offline"))
    config = tmp_path / "backups.toml"
    config.write_text(f'[backup]\nfolder = "{tmp_path}/not/yet"\n')
    found = checks(program("doctor", "--json", "--offline", "--config", str(config)))
    assert found["backups"]["state"] == "ok"
    assert not (tmp_path / "not").exists(), "a check makes nothing"
    (tmp_path / "file").write_text("x")
    config.write_text(f'[backup]\nfolder = "{tmp_path}/file/below"\n')
    done = program("doctor", "--json", "--offline", "--config", str(config))
    assert checks(done)["backups"]["state"] == "broken"
    assert checks(done)["backups"]["fix"]
    assert done.code == 1


def test_model_servers_are_asked(program: Program) -> None:
    with scripted() as server:
        server["/v1/models"] = Answer('{"data": [{"id": "tiny"}]}', kind="application/json")
        words = ("doctor", "--json", "--set", "egress.proxy=http://127.0.0.1:9", "--set")
        servers = f"agent.servers={server.url}/v1,http://127.0.0.1:9/v1"
        found = checks(program(*words, servers))
        first = found[f"model server {server.url.removeprefix('http://')}"]
        assert (first["state"], first["detail"]) == ("ok", "it answers: tiny")
        assert found["model server 127.0.0.1:9"]["state"] == "unknown"
        done = program(*words, "agent.base_url=http://127.0.0.1:9/v1")
        assert done.code == 1
        assert checks(done)["model server 127.0.0.1:9"]["state"] == "broken"
        requested = server.count("/v1/models")
        offline = checks(program("doctor", "--json", "--offline", "--set", servers))
        assert offline["model servers"]["state"] == "unknown"
        assert server.count("/v1/models") == requested


def test_written_entries_are_checked(program: Program) -> None:
    home = Path(program.env["HOME"])
    assert not [n for n in checks(program("doctor", "--json", "--offline")) if "host " in n]
    for name, entry in {
        ".lmstudio/mcp.json": {"command": sys.executable, "args": ["--workspace", str(home)]},
        ".cursor/mcp.json": {"command": str(home / "gone"), "args": []},
    }.items():
        file = home / name
        file.parent.mkdir()
        file.write_text(json.dumps({"mcpServers": {"toolcrib": entry, "other": {}}}))
    found = checks(program("doctor", "--json", "--offline"))
    assert found["host lmstudio"]["state"] == "ok"
    assert found["host cursor"]["state"] == "broken"
    assert "not there any more" in found["host cursor"]["detail"]
    assert found["host cursor"]["fix"] == "toolcrib install cursor"


def test_the_cause_is_named(program: Program) -> None:
    home = Program(Path(program.env["HOME"]), program.env)
    found = checks(home("doctor", "--json", "--offline"))
    assert found["workspace"]["state"] == "missing"
    assert f"{home.folder} is not taken by itself" in found["workspace"]["detail"]
    # The search program that came along lies in the workspace: it is there, and not used.
    env = {"PATH": "/nowhere"}
    inside = program("doctor", "--json", "--offline", "--workspace", sys.prefix, env=env)
    check = checks(inside)["rg"]
    if Path(sys.executable).with_name("rg").is_file():
        assert "lies in the workspace" in check["detail"]
    assert found["frizbee"]["state"] in ("ok", "broken")


def test_optional_parts_that_are_missing_are_named_with_one_line(
    program: Program, tmp_path: Path
) -> None:
    folder = tmp_path / "installed" / "toolcrib-1.dist-info"
    folder.mkdir(parents=True)
    needs = {"chat": "pydantic>=2,<9", "create": "no-such-thing<2", "sql": "nor-such", "dev": "x-y"}
    lines = [f"Requires-Dist: {what}; extra == '{extra}'" for extra, what in needs.items()]
    (folder / "METADATA").write_text("\n".join(["Name: toolcrib", "Version: 1", *lines, ""]))
    path = f"{folder.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = program.in_new_interpreter("doctor", "--json", "--offline", env={"PYTHONPATH": path})
    found = checks(done)["extras"]
    assert found["state"] == "missing"
    assert "not installed: create, sql;" in found["detail"]
    assert 'toolcrib[create,sql]"' in found["fix"]


def test_a_data_folder_that_cannot_be_used_is_the_cause(program: Program, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    env = {"TOOLCRIB_DATA": str(tmp_path / "file/data")}
    found = {c["name"]: c for c in program("doctor", "--offline", "--json", env=env).json["checks"]}
    assert "TOOLCRIB_DATA" in found["sandbox"]["fix"]
