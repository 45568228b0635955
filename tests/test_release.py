"""What a release is made of: metadata, bundle, notes, workflows."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import hatch_build
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from scripts import release
from trove_classifiers import classifiers

from tests.conftest import absent
from tests.node.tools import TOOLS, node

ROOT = Path(__file__).parents[1]
ADDRESS = "https://github.com/OWNER/toolcrib"
MCPB = TOOLS / "node_modules" / "@anthropic-ai" / "mcpb" / "dist" / "cli" / "cli.js"


@pytest.mark.rows("F13")
def test_the_trust_model_how_to_report_and_advisories_are_told() -> None:
    reported = (ROOT / "SECURITY.md").read_text("utf-8")
    headings = re.findall(r"^## (.*)$", reported, re.MULTILINE)
    assert headings[:4] == [
        *("Whom toolcrib trusts", "What is a hole", "How to report", "Advisories of dependencies"),
    ]
    links = [t.partition("#")[0] for t in re.findall(r"\]\(([^)]+)\)", reported)]
    assert not [name for name in links if not (ROOT / name).exists()]
    assert "pip-audit" in (ROOT / ".github" / "workflows" / "advisories.yml").read_text()


def test_classifiers_are_known() -> None:
    assert not set(release.project()["project"]["classifiers"]) - classifiers


def test_no_address_is_given_until_there_is_one() -> None:
    hook = hatch_build.ProjectMetadata(str(ROOT), {"repository": ""})
    metadata: dict[str, Any] = {}
    hook.update(metadata)
    assert metadata["readme"]["text"] == (ROOT / "README.md").read_text("utf-8")
    assert metadata.keys() == {"readme"}


def test_with_an_address_all_links_lead_there() -> None:
    hook = hatch_build.ProjectMetadata(str(ROOT), {"repository": f"{ADDRESS}/"})
    metadata: dict[str, Any] = {}
    hook.update(metadata)
    assert set(metadata["urls"]) == {
        *("Repository", "Documentation", "Changelog", "Issues", "Security"),
    }
    text = metadata["readme"]["text"]
    assert "mcp-name: io.github.OWNER/toolcrib" in text
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert not [target for target in targets if not target.startswith("https://")]
    ours = [t.removeprefix(f"{ADDRESS}/blob/main/") for t in targets if t.startswith(ADDRESS)]
    assert len(ours) > 20
    assert not [name for name in ours if not (ROOT / name.partition("#")[0]).exists()]


def test_notes_are_the_section_of_the_version() -> None:
    changelog = (
        "# C\n\n## [Unreleased]\n\n- a\n\n## [1.2.0] - 2026-01-31\n\n- b\n\n## [1.1.0] - 2025"
    )
    assert release.notes_of("1.2.0", changelog) == "- b\n"
    assert release.notes_of("1.1.0", changelog) == ""
    assert release.notes_of("1.2", changelog) == ""


def test_the_changelog_goes_by_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## (.*)$", changelog, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", h) for h in headings[1:])
    for section in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.*)$", section, re.MULTILINE)
        assert len(kinds) == len(set(kinds))
        assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_a_tag_of_another_version_is_refused(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "scripts" / "release.py", "--tag", "v0.0.9", "--to", tmp_path],
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, list(tmp_path.iterdir())) == (1, [])
    assert "v0.0.9" in ran.stderr


def test_the_entry_of_the_registry(tmp_path: Path) -> None:
    bundle = tmp_path / "toolcrib.mcpb"
    bundle.write_bytes(b"x")
    entry = release.server(ADDRESS, bundle)
    assert entry["name"] == "io.github.OWNER/toolcrib"
    assert len(entry["description"]) <= 100
    assert [package["registryType"] for package in entry["packages"]] == ["pypi", "mcpb"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("bundle") / "toolcrib.mcpb"
    release.write_bundle(file)
    return file


async def test_a_host_can_start_what_is_in_the_bundle(bundle: Path, tmp_path: Path) -> None:
    folder, work = tmp_path / "bundle", tmp_path / "work"
    work.mkdir()
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (folder / manifest["server"]["entry_point"]).exists()
    start = manifest["server"]["mcp_config"]
    values = {"__dirname": folder, "user_config.workspace": work}
    command = [
        re.sub(r"\$\{([\w.]+)\}", lambda found: str(values[found[1]]), word)
        for word in (start["command"], *start["args"])
    ]
    # What uv does there: install the folder, run a program of it.
    assert command[:5] == ["uv", "run", "--quiet", "--project", str(folder)]
    assert command[5] in release.project()["project"]["scripts"]
    venv.create(tmp_path / "env", with_pip=False)
    (found,) = (tmp_path / "env").rglob("site-packages")
    packages = sysconfig.get_path("purelib")
    (found / "bundle.pth").write_text(f"{folder / 'src'}\n{packages}\n")
    parameters = StdioServerParameters(
        command=str(tmp_path / "env" / "bin" / "python"),
        args=["-I", "-m", *command[5:]],
        env=dict(os.environ),
        cwd=tmp_path,
    )
    async with Client(stdio_client(parameters)) as client:
        listed = await client.list_tools()
        reported = {tool["name"] for tool in manifest["tools"]}
        assert {tool.name for tool in listed.tools} == reported
        await client.call_tool("write_file", {"path": "a.txt", "content": "one"})
    assert (work / "a.txt").read_text() == "one"


def test_the_same_source_is_the_same_bundle(bundle: Path, tmp_path: Path) -> None:
    release.write_bundle(tmp_path / "again.mcpb")
    assert (tmp_path / "again.mcpb").read_bytes() == bundle.read_bytes()


@pytest.mark.needs_node
async def test_the_bundle_is_one_by_its_own_program(bundle: Path, tmp_path: Path) -> None:
    if not MCPB.is_file():
        absent("scripts/install-node-tools has to be run again")
    with zipfile.ZipFile(bundle) as packed:
        packed.extract("manifest.json", tmp_path)
    reported = await node(MCPB, "validate", str(tmp_path / "manifest.json"))
    assert reported.code == 0, reported
    reported = await node(MCPB, "info", str(bundle))
    assert "toolcrib" in reported.out, reported


@pytest.mark.parametrize(
    "schema", ["vendor.github-workflows", "custom.github-workflows-require-timeout"]
)
async def test_workflows_are_ones_by_their_schema(schema: str) -> None:
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    if not files:
        absent("the workflows are not in this copy")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()


def test_workflows_run_what_is_there() -> None:
    reported = "".join(f.read_text() for f in (ROOT / ".github" / "workflows").glob("*.yml"))
    for script in re.findall(r"scripts/[\w.-]+", reported):
        assert (ROOT / script).exists(), script
    assert "secrets." not in reported
