"""What a run leaves where a program outside acts on it waits for the user."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from shlex import quote

import pytest

from tests.cases import each_case
from tests.execution.runs.conftest import Opened, RunBench
from tests.execution.runs.test_references import COMMITTED
from toolcrib.core.errors import NoResults
from toolcrib.execution.runs.triggers import CLOSED, IN_REPOSITORY
from toolcrib.files.names.dot_names import DOT_NAME
from toolcrib.files.names.entry_points import PLUGINS
from toolcrib.files.names.option_names import LIKE_AN_OPTION

pytestmark = pytest.mark.rows("C074", "E33")
ACTED_ON = [
    ".devcontainer/devcontainer.json", "app.code-workspace", ".codex/config.toml",
    ".gemini/settings.json", "opencode.json", ".exrc", ".gdbinit", ".pre-commit-config.yaml",
    ".yarnrc", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "sub/AGENTS.md", ".cursorrules",
    ".github/copilot-instructions.md", ".github/workflows/x.yml", ".gitattributes",
    "lefthook.yml", ".mise.toml", ".tool-versions", ".lldbinit", ".pdbrc", ".irbrc", ".Rprofile",
    "lib/site-packages/x.pth", "sitecustomize.py", ".cargo/config.toml", ".mvn/extensions.xml",
    "bunfig.toml", "eslint.config.js", ".rubocop.yml", "build.rs", ".gitlab-ci.yml", "a.desktop",
    ".replit", ".dir-locals.el", ".venv/lib/python3.11/site-packages/x.py",
    "node_modules/x/index.js", ".jj/repo/config.toml", "AGENTS.override.md", "tools/bazel",
    ".openhands/setup.sh", ".pi/settings.json", "flake.nix", "shell.nix", "devenv.nix", "hie.yaml",
    ".formatter.exs", ".lazy.lua", ".sqlfluff", ".lfsconfig", ".teamcity/settings.kts",
    ".tekton/a.yaml", "netlify.toml", "cloudbuild.yaml", ".github/hooks/x.json",
    "AGENT.override.md", ".tox/py/bin/python", ".nox/x", ".pydistutils.cfg",
    ".pyenv/versions/3.12.9/bin/python3.12", ".rustup/settings.toml", ".local/share/pipx/venvs/x",
    ".valgrindrc", "tool-gdb.py", ".curlrc", ".lessfilter", ".config/tmux/tmux.conf", ".mailcap",
    ".local/bin/ls", ".node_modules/x.js", "lefthook-local.json", "prek.toml", "pyrefly.toml",
    "inplace.awk", "GNUmakefile", "main_override.tf.json", "rust-project.json",
    ".claude.json", ".config/Code/User/settings.json", ".config/Cursor/User/settings.json",
    ".config/goose/config.yaml", ".codeium/windsurf/mcp_config.json", ".gradle/init.d/x.gradle",
    ".local/share/systemd/user/x.service", ".config/plasma-workspace/env/x.sh",
    ".local/share/bash-completion/completions/git", ".fzf.bash", ".cargo/env", ".latexmkrc",
    ".sdkman/bin/sdkman-init.sh", ".ctags.d/x.ctags", ".terraform/providers/x", "rlcompleter.py",
    ".proverc", ".lesskey", ".oh-my-zsh/custom/x.zsh", ".asdf/shims/x", ".local/share/nvim/site/x",
    ".merlin", ".byebugrc", ".user.ini", "META-INF/services/com.sun.source.util.Plugin",
    "META-INF/services/java.nio.file.spi.FileSystemProvider", "ansible.cfg", "ctags.d/x.ctags",
    "pip.py", "pip/__init__.py", ".appveyor.yml", ".cirrus.star", "public/.htaccess",
    "ipykernel_launcher.py", ".ropeproject/config.py", ".jupytext.toml",
    "pytest/__init__.py", "sitecustomize.so", "sitecustomize/__init__.py", "usercustomize.pyc",
    "usercustomize/__init__.py", "env/conda-meta/history", "renv/activate.R", "phpcs.xml.dist",
    "META-INF/services/javax.annotation.processing.Processor", ".bazelversion", ".factorypath",
    ".lsp/config.edn", "kls-classpath", ".gclient", ".repo/manifest.xml", ".gitreview",
    ".markdownlint-cli2.cjs", "tslint.json", ".standard.yml", ".credo.exs", ".yardopts", ".rspec",
    ".lite_project.lua", ".tm_properties", "CMakeLists.txt.user", "app.pro.user", "flake.lock",
    "default.nix", ".oxlintrc.json", "babel.config.js", "Session.vim",
    ".turbo/config.json", ".gradle/config.properties", ".newtool/.cache/x", ".lock/x",
    ".profile.d/x", ".template-lintrc.mjs", ".github/git-commit-instructions.md",
    ".dart_tool/package_config.json", "build/.cspell.json", "vendor/.toolrc", "dist/.x/.a.toml",
    "cspell.json", "irb.rc", "_irbrc", "CMakeUserPresets.json", "_FOSSIL_", "a.fossil", "CVS/Root",
]  # fmt: skip
PLAIN = [
    "README.md", "src/app.py", "tests/test_app.py", "conftest.py", "package.json", "Makefile",
    "model.pth", "build/compile_commands.json", "docs/agents/list.md",
    "docs/agents_of_change.md", "tools/bazel.md",
    "code/user/x.py", "contrib/systemd/user/x.service",
    "src/pytest/plugin.py", "META-INF/services/java.sql.Driver", "renv.lock",
    ".editorconfig", "HEAD", "refs/x", "objects/y", "config",
    ".pytest_cache/v/x", "web/.next/server/x.js", ".gitkeep", ".cache/tool/.toolrc", ".nvmrc",
    ".github/ISSUE_TEMPLATE/bug.md", ".eslintcache", ".main.c.swp", "libs/.deps/a.Po",
    "target/.rustc_info.json", "target/debug/.cargo-lock", "build/.ninja_log", "dist/.vite/m.json",
    "docs/_build/.doctrees/x", ".github/CODEOWNERS", ".clang-format", ".turbo/cache/x",
    ".ruff.toml", ".isort.cfg", ".browserslistrc", "coverage/.last_run.json", "cvs/x",
    "obj/.NETCoreApp,Version=v8.0.AssemblyAttributes.cs", "build/.cmake/api/v1/reply/index.json",
]  # fmt: skip


def script(names: list[str]) -> str:
    return "; ".join(f"mkdir -p '{Path(name).parent}'; echo 1 > '{name}'" for name in names)


async def test_each_is_held_for_the_user(bench: RunBench, root: Path) -> None:
    missed = []
    for name in ACTED_ON:
        outcome = await bench.changed(script([name]))
        if outcome.state != "held" or not await bench.runs.is_for_user(
            outcome.pending_id, bench.ctx()
        ):
            missed.append(name)
    assert missed == []
    assert list(root.iterdir()) == []
    plain = await bench.changed(script([name for name in PLAIN if name != "HEAD"]))
    assert plain.state == "applied", plain.notes


async def test_a_name_with_a_dot_that_nobody_knows(bench: RunBench, root: Path) -> None:
    """It is held until it is known for harmless; a folder is one question of a conversation."""
    outcome = await bench.changed("mkdir -p a/.tool; echo 1 > a/.tool/x; echo 2 > a/.tool/y")
    assert outcome.state == "held"
    assert any("a/.tool (a name that begins with a dot" in note for note in outcome.notes)
    assert (await bench.apply_pending(outcome.pending_id)).state == "applied"
    assert (await bench.changed("echo 3 > a/.tool/z")).state == "applied"
    assert (await bench.changed("echo 3 > a/.other")).state == "held"
    subprocess.run(["git", "init", "-q", "--template="], cwd=root, check=True)
    inner = await bench.changed("echo x > .git/lazygit.yml")
    assert IN_REPOSITORY in str(inner.notes)
    subprocess.run(["git", "init", "-q", "--bare", "--template=", ".bare"], cwd=root, check=True)
    assert (await bench.changed("mkdir .bare/logs; echo x > .bare/logs/HEAD")).state == "applied"
    assert (await bench.changed("echo x > .bare/main.js")).state == "held"
    (root / ".mine").symlink_to("real")
    (root / "real").mkdir()
    linked = await bench.changed("echo x > real/x")
    assert any("by the link .mine: a name that begins with" in note for note in linked.notes)


async def test_an_empty_folder_in_a_repository(bench: RunBench, root: Path) -> None:
    """Few act by one: some trust a repository by it (`PATH=.git/safe/../../bin`), git stops."""
    subprocess.run(["git", "init", "-q", "--template=", "."], cwd=root, check=True)
    for name in ("safe", "index.lock", "refs/heads/main.lock"):
        outcome = await bench.changed(f"mkdir .git/{name}")
        assert outcome.state == "held", name
        assert IN_REPOSITORY in str(outcome.notes)
    plain = "hooks info objects/ab refs/heads/topic logs/refs/heads modules branches rr-cache"
    outcome = await bench.changed(f"cd .git; mkdir -p {plain}")
    assert outcome.state == "applied", outcome.notes


async def test_a_folder_that_its_owner_may_not_read(bench: RunBench, root: Path) -> None:
    """A repository, or a folder of hooks, would be none any more."""
    subprocess.run(["git", "init", "-q", "--template=", "sub"], cwd=root, check=True)
    (root / "sub/.git/info").mkdir()
    (root / "open").mkdir()
    for script in (
        *("chmod 000 sub/.git/refs", "chmod 600 sub/.git/info", "chmod 200 sub/.git/HEAD"),
        *("chmod a-x sub", "rmdir open; mkdir -m 000 open", "rmdir open; > open; chmod 0 open"),
    ):
        outcome = await bench.changed(script)
        assert outcome.state == "held", script
        assert CLOSED in str(outcome.notes)
    made = "chmod 700 open; mkdir -m 000 new; chmod 600 sub/.git/HEAD; echo x > x; chmod 0 x"
    assert (await bench.changed(made)).state == "applied"


OPTIONS = [
    "-x", "+!sh x", "+so x", "+so.x.txt", "@x", "a|", "|a", "a --checkpoint=1", " |touch x",
    "touch x| ", "touch x|\\t", " >z.txt", "a -I sh", "a\\t-rf", 'a "-rf" b', "x;touch x;.c",
    "x`id`", "$(id)", "+so.tmp.ts", "+1so x", ":(top)x", "png:|id", "a<b",
    "a --to-command=x.sh", "a --x.y=z", "a --rsh x.y", "glob:.en?", "set:x", "listfile:x",
    "path:x", "~",
    "routes/-cmake", "routes/-kevil", "routes/-rf", "routes/-delete", "routes/-types x",
]  # fmt: skip


@each_case("name", OPTIONS)
async def test_names_that_programs_take_for_options(bench: RunBench, name: str) -> None:
    outcome = await bench.changed(f"mkdir -p routes; echo 1 > \"$(printf './%b' {quote(name)})\"")
    assert LIKE_AN_OPTION in str(outcome.notes)
    assert outcome.state == "held"


async def test_a_name_that_is_an_ending_is_not_said_to_be_more(bench: RunBench) -> None:
    outcome = await bench.changed("ln -s x .lnk")
    assert DOT_NAME in str(outcome.notes)


BRANCHES = {
    "a head": "printf 'ref: refs/heads/%s\\n' {} > .git/HEAD",
    "a packed branch": (
        "git update-ref refs/heads/{} HEAD; git pack-refs --all; find .git/refs -name '*x*' -delete"
    ),
    "a branch of Mercurial": "mkdir -p .hg; printf '\\n%s' {} > .hg/branch",
    "a bookmark of Mercurial": "mkdir -p .hg; printf '%040d %s\\n' 0 {} > .hg/bookmarks",
}


@each_case("name", ["--receive-pack=./x.sh", "$(sh<x)", "$(sh${IFS}x)"])
@each_case("kind", list(BRANCHES))
async def test_branches_that_programs_take_for_options(
    bench: RunBench, root: Path, kind: str, name: str
) -> None:
    if not (root / ".git").exists():
        assert (await bench.changed(COMMITTED)).state == "applied"
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    for branch, state in ((name, "held"), ("fix-1/a", "applied")):
        outcome = await bench.changed(BRANCHES[kind].format(quote(branch)))
        assert outcome.state == state, outcome.notes
        assert (LIKE_AN_OPTION in str(outcome.notes)) == (state == "held")


async def test_branches_of_the_user_may_have_such_names(bench: RunBench, root: Path) -> None:
    assert (await bench.changed(COMMITTED)).state == "applied"
    subprocess.run(["git", "branch", "a;b"], cwd=root, check=True)
    for script in ("git checkout -q 'a;b'", "git pack-refs --all", "echo 2 > b; git add b"):
        assert (await bench.changed(script)).state == "applied", script


async def test_routes_of_frameworks_are_no_options(bench: RunBench, root: Path) -> None:
    names = ("+page.svelte", "+page.server.ts", "+layout@.svelte", "+page@(app).svelte")
    names += ("+not-found.tsx", "routes/-utils.ts", "routes/-components/a.tsx", "a - b.md")
    names += ("+1.txt", "+49 15 2.vcf", "a; b.md", "R&D -- x.md", "t -3.csv", "lr=0.1.ckpt")
    names += (
        "re: offer.eml",
        "Re:x.eml",
        "glob.txt",
        "plan --old.txt",
        "~a.txt",
        "a~",
        "llama3:8b.gguf",
    )
    made = "mkdir -p @types routes/-components; >@types/x.ts; touch"
    outcome = await bench.changed(f"{made} {' '.join(map(repr, names))}")
    assert outcome.state == "applied", outcome.notes
    assert (root / "+page@(app).svelte").exists()


async def test_a_file_that_works_as_a_link_to_a_folder(bench: RunBench, root: Path) -> None:
    """As of Jujutsu, which reads the settings in the folder that it names."""
    outcome = await bench.changed("mkdir -p .jj foo; printf ../foo > .jj/repo; echo x > foo/config")
    assert outcome.state == "held"
    assert any(".jj/repo (a link, or what works as one" in note for note in outcome.notes)
    noted = "mkdir -p .jj/repo/op_store; echo x > .jj/repo/op_store/x"
    assert (await bench.changed(noted)).state == "applied"
    assert (await bench.changed("mkdir -p .jj/repo/op; echo x > .jj/repo/op/x")).state == "held"


async def test_a_root_that_is_itself_such_a_folder(bench: RunBench, root: Path) -> None:
    cases = {".config": "nvim/init.lua", ".github": "workflows/x.yml", ".cargo": "config.toml"}
    for name, inner in cases.items():
        (root / name).mkdir()
        own = RunBench.on(root / name)
        assert isinstance(own, RunBench)
        states = [(await own.changed(script([made]))).state for made in (inner, "plain/config")]
        await own.services.close()
        assert states == ["held", "applied"], name


async def test_its_diff_and_kind_are_told_and_the_user_makes_it(
    bench: RunBench, root: Path
) -> None:
    outcome = await bench.changed("echo 'do this' > AGENTS.md; echo x > plain.txt")
    assert "+do this" in outcome.diff
    assert any("AGENTS.md (instructions of coding agents)" in note for note in outcome.notes)
    made = await bench.apply_pending(outcome.pending_id)
    assert made.state == "applied"
    assert (root / "AGENTS.md").read_text() == "do this\n"
    removed = await bench.changed("rm AGENTS.md")
    assert removed.state == "applied", "what is gone makes nobody act"


@pytest.mark.parametrize(
    ("held", "beside"),
    [
        ("mkdir -p c/objects; echo 'ref: refs/heads/main' > c/HEAD", "c/refs/x c/config"),
        ("mkdir -p e/lib; echo 1 > e/lib/x.py", "e/pyvenv.cfg"),
    ],
    ids=["repository", "dependencies"],
)
async def test_what_others_made_meanwhile_counts_when_it_is_applied(
    bench: RunBench, root: Path, held: str, beside: str
) -> None:
    outcome = await bench.changed(held, commit="ask")
    assert not await bench.runs.is_for_user(outcome.pending_id, bench.ctx())
    for name in beside.split():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    again = await bench.apply_pending(outcome.pending_id)
    assert again.state == "held", again
    assert "only the user" in str(again.notes)
    assert await bench.runs.is_for_user(outcome.pending_id, bench.ctx())
    more = await bench.changed("mkdir -p e/bin; echo 1 > e/bin/python")
    assert more.state == ("held" if "lib" in held else "applied"), "nobody let it pass"
    assert (await bench.apply_pending(outcome.pending_id)).state == "applied"


async def test_what_was_let_pass_may_not_become_another_kind(bench: RunBench, root: Path) -> None:
    held = await bench.changed("mkdir .babelrc node_modules; echo > .babelrc/x; > node_modules/x")
    await bench.apply_pending(held.pending_id)
    assert (await bench.changed("echo > .babelrc/y; echo > node_modules/y")).state == "applied"
    for made in ("> .babelrc", "mkdir c; ln -s c .babelrc", "mkdir c; ln -s c node_modules"):
        assert (await bench.changed(f"rm -r .babelrc node_modules; {made}")).state == "held", made
    (root / "sub").mkdir()
    mark = await bench.changed("echo > sub/pyvenv.cfg")
    await bench.apply_pending(mark.pending_id)
    for name in ("sub/bin/git", "sub/etc/AGENTS.md", "sub/share/.foo/x"):
        assert (await bench.changed(script([name]))).state == "held", name


@each_case("folder", ["x.egg-info", "x-1.dist-info", "src/X.EGG-INFO"])
async def test_entry_points_that_tools_load(bench: RunBench, folder: str) -> None:
    place, programs = f"{folder}/entry_points.txt", r"[console_scripts]\n[gui_scripts]\nx = y\n"
    make = f"mkdir -p {folder}; printf '{{}}' > {place}"
    for content in (r"[pytest11]\n", programs + r"[ flake8.extension ]\nX = y:Z\n"):
        held = await bench.changed(make.format(content))
        assert PLUGINS in str(held.notes)
    by_a_link = await bench.changed(f"mkdir -p n {folder}; echo > n/e; ln -s $PWD/n/e {place}")
    assert PLUGINS in str(by_a_link.notes)
    outcome = await bench.changed(
        make.format(programs) + "; mkdir y; echo [z] > y/entry_points.txt"
    )
    assert outcome.state == "applied", outcome.notes


async def test_names_in_a_cache_count_by_a_new_link(bench: RunBench, root: Path) -> None:
    made = "mkdir -p .cache/s/a; echo 1 > .cache/s/a/.cspell.json"
    assert (await bench.changed(f"{made}; ln -s .cache/s notes")).state == "held"
    assert (await bench.changed(made)).state == "applied"
    assert (await bench.changed("ln -s .cache/s notes")).state == "held"
    assert (await bench.changed("mkdir .cache/t; echo 1 > .cache/t/a; ln -s .cache/t t")).state == (
        "applied"
    )
    assert (await bench.changed("echo 1 > .cache/t/.toolrc")).state == "held", "the link is there"
    assert (await bench.changed("echo 1 > .cache/t/b; echo 1 > .cache/.rc")).state == "applied"
    assert (await bench.changed("mkdir conf; echo > conf/a; ln -s conf .bashrc.d")).state == "held"
    (root / ".my.d").symlink_to("own")
    assert (await bench.changed("mkdir own; echo > own/a")).state == "held"


@pytest.mark.parametrize("level", ["auto", "kernel"])
async def test_a_dependency_folder_is_one_question(opened: Opened, root: Path, level: str) -> None:
    bench = opened(level)
    first = await bench.changed("mkdir -p node_modules/a; echo 1 > node_modules/a/i.js")
    assert first.state == "held"
    assert any("node_modules (" in note for note in first.notes)
    await bench.apply_pending(first.pending_id)
    again = await bench.changed("mkdir node_modules/b; echo 2 > node_modules/b/i.js")
    assert again.state == "applied"
    other = await bench.changed("mkdir -p .venv/bin; echo 1 > .venv/bin/python")
    assert other.state == "held", "another folder is another question"
    assert (root / "node_modules/b/i.js").exists()
    bench.session.id = "one/agent:1"
    of_agent = await bench.changed("mkdir node_modules/c; echo 3 > node_modules/c/i.js")
    assert of_agent.state == "applied", "what the user lets pass holds for agents of it"
    bench.session.id = "two"
    elsewhere = await bench.changed("mkdir node_modules/d; echo 4 > node_modules/d/i.js")
    assert elsewhere.state == "held", "another conversation is asked anew"


async def test_an_environment_of_any_name_is_a_dependency_folder(
    bench: RunBench, root: Path
) -> None:
    for name, mark in (("env", "pyvenv.cfg"), ("tools/conda", "conda-meta")):
        (root / name / "bin").mkdir(parents=True)
        (root / name / mark).touch()
        first = await bench.changed(script([f"{name}/bin/activate"]))
        assert first.state == "held"
        assert any(f"{name} (what programs" in note for note in first.notes), first.notes
        await bench.apply_pending(first.pending_id)
        assert (await bench.changed(script([f"{name}/lib/x.py"]))).state == "applied"
    for name, mark in (("new", "pyvenv.cfg"), ("new-conda", "conda-meta/history")):
        new = await bench.changed(script([f"{name}/{mark}", f"{name}/bin/x"]))
        assert new.state == "held"
        assert (await bench.apply_pending(new.pending_id)).state == "applied"
        again = await bench.changed(script([f"{name}/{mark}", f"{name}/lib/x.py"]))
        assert again.state == "applied", again.notes


async def test_what_tools_keep_in_dependencies_that_were_there(bench: RunBench, root: Path) -> None:
    (root / "node_modules/x").mkdir(parents=True)
    for name in (".cache/jiti/a.cjs", ".vite/deps/react.js"):
        outcome = await bench.changed(f"chmod 700 node_modules; {script([f'node_modules/{name}'])}")
        assert outcome.state == "held"


async def test_compiled_code_that_python_makes_again_is_left_out(
    bench: RunBench, root: Path
) -> None:
    (root / "mod.py").write_text("VALUE = 1\n")
    outcome = await bench.changed(
        "mkdir -p __pycache__ pkg/__pycache__ __pycache__/other; echo x > pkg/__init__.py;"
        "echo x > __pycache__/mod.cpython-311.pyc; echo x > pkg/__pycache__/a.pyc;"
        "echo x > __pycache__/other/b.pyc; mkdir elsewhere linked; echo x > elsewhere/c.pyc;"
        "ln -s ../elsewhere linked/__pycache__"
    )
    assert outcome.state == "applied"
    assert not list(root.rglob("__pycache__"))
    assert (root / "pkg/__init__.py").exists()
    assert "elsewhere/c.pyc" in [file.path for file in outcome.files]
    assert not any("pycache" in note for note in outcome.notes)
    (root / "__pycache__").mkdir()
    (root / "__pycache__/mod.cpython-311.pyc").write_text("old")
    only = await bench.changed("echo new > __pycache__/mod.cpython-311.pyc")
    assert only.state == "none", only.notes
    assert (root / "__pycache__/mod.cpython-311.pyc").read_text() == "old"
    assert (await bench.changed("rm -r __pycache__")).state == "applied"
    assert not (root / "__pycache__").exists()


@pytest.mark.parametrize("place", ["x", "x.git/inner", "x.git/a/b", "X.GIT/inner"])
@pytest.mark.parametrize("made", ["once", "bit by bit"])
async def test_a_bare_repository_of_any_name(
    bench: RunBench, root: Path, made: str, place: str
) -> None:
    parts = [
        f"mkdir -p {place}/refs; echo 'ref: refs/heads/main' > {place}/HEAD",
        f"printf '[core]\\n\\tfsmonitor = touch owned\\n\\tbare = false\\n' > {place}/config",
        f"mkdir {place}/objects",
    ]
    if made == "once":
        parts = ["; ".join(parts)]
    states = [(await bench.changed(part)).state for part in parts]
    assert states[-1] == "held"
    folder = root / place
    subprocess.run(["git", "status"], cwd=folder if folder.exists() else root)
    assert not list(root.rglob("owned"))


async def test_what_settings_of_git_point_at(bench: RunBench, root: Path) -> None:
    subprocess.run(["git", "init", "-q", root], check=True)
    for name, value in (("core.hooksPath", "tools/hooks"), ("include.path", "../shared.ini")):
        subprocess.run(["git", "-C", root, "config", name, value], check=True)
    subprocess.run(["git", "-C", root, "config", "alias.x", "!sh ./scripts/x.sh"], check=True)
    # As git reads it too: a name behind its head, and a value on two lines.
    with (root / ".git/config").open("a") as settings:
        settings.write(
            '[merge "x"] driver = scripts/z.sh %A\n[filter "y"]\n\tclean = \\\nscripts/w.sh\n'
        )
    (root / "scripts").mkdir()
    (root / "shared.ini").touch()
    scripts = ["scripts/x.sh", "scripts/z.sh", "scripts/w.sh"]
    for name in scripts:
        (root / name).touch()
    for name in ("tools/hooks/pre-commit", "shared.ini", *scripts):
        outcome = await bench.changed(script([name]))
        assert outcome.state == "held", name
    assert (await bench.changed(script(["scripts/y.sh"]))).state == "applied"


async def test_a_journal_that_names_a_file(bench: RunBench, root: Path) -> None:
    """SQLite plays it back where the database is opened next, and deletes that file."""
    held = await bench.changed("printf '\\331\\325\\5\\371\\40\\241c\\327' > x.db-journal")
    assert held.state == "held"
    stopped = """
import os, sqlite3
db = sqlite3.connect("y.db")
db.execute("pragma cache_size = 1")
db.execute("create table t (x)")
db.commit()
db.executemany("insert into t values (?)", [("x" * 900,)] * 999)
os._exit(0)
"""
    (root / "stop.py").write_text(stopped)
    outcome = await bench.changed("python3 stop.py; stat y.db-journal")
    assert outcome.state == "applied", outcome.notes


async def test_a_folder_on_path(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{root}/tools{os.pathsep}{os.environ['PATH']}")
    assert (await bench.changed(script(["tools/ls"]))).state == "held"


async def test_without_overlays_it_is_put_back_and_held(bare: RunBench, root: Path) -> None:
    outcome = await bare.changed("echo x > AGENTS.md")
    assert outcome.state == "held"
    assert list(root.iterdir()) == []
    with pytest.raises(NoResults):  # that would make it, and nobody was asked
        await bare.undo()
    assert await bare.steps() == []
    await bare.apply_pending(outcome.pending_id)
    assert (root / "AGENTS.md").exists()
    await bare.undo()
    assert list(root.iterdir()) == []


async def test_settings_of_git_that_are_a_pipe_hold_nothing_up(bench: RunBench, root: Path) -> None:
    (root / ".git").mkdir()
    os.mkfifo(root / ".git/config")
    async with asyncio.timeout(60):
        assert (await bench.changed("echo x > x")).state == "applied"


async def test_a_file_that_acts_is_shown_whatever_its_folder_and_however_many_come_before(
    bench: RunBench, root: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "config", "core.hooksPath", "build/hooks"], check=True)
    many = "for i in $(seq 300); do echo $i > a$i.txt; done"
    hook = "mkdir -p build/hooks; echo run-this > build/hooks/pre-commit; chmod +x build/hooks/*"
    outcome = await bench.changed(f"{many}; {hook}")
    assert outcome.state == "held"
    assert "+run-this" in outcome.diff
    assert outcome.files[0].path == "build/hooks/pre-commit"
    assert outcome.files[0].extent == "+1 -0, it can be run now"


@pytest.mark.parametrize(
    "script", ["rm .gitattributes", "mv .gitattributes x", "rm hooks/pre-push"]
)
async def test_what_is_taken_away_from_git_is_held(
    bench: RunBench, root: Path, script: str
) -> None:
    """A filter that encrypts, a hook that guards."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "config", "core.hooksPath", "hooks"], check=True)
    (root / "hooks").mkdir()
    (root / "hooks/pre-push").write_text("#!/bin/sh\n")
    (root / ".gitattributes").write_text("*.key filter=crypt\n")
    outcome = await bench.changed(script)
    assert outcome.state == "held", outcome


async def test_a_mark_of_an_environment_makes_no_dependencies_of_sources(
    bench: RunBench, root: Path
) -> None:
    """What is there by a yes lets nothing else pass."""
    (root / "svc/src").mkdir(parents=True)
    (root / "svc/pyvenv.cfg").write_text("")
    assert (await bench.changed("echo x > svc/src/a.py")).state == "applied"
    held = await bench.changed("mkdir svc/lib; echo x > svc/lib/a.py")
    assert held.state == "held"
    await bench.apply_pending(held.pending_id)
    outcome = await bench.changed("echo x > svc/AGENTS.md")
    assert outcome.state == "held"
    assert "instructions of coding agents" in str(outcome.notes)


async def test_a_name_like_an_option_is_held(bench: RunBench, root: Path) -> None:
    outcome = await bench.changed("echo x > ./--checkpoint-action=exec=sh; echo x > a-b")
    assert outcome.state == "held"
    assert "--checkpoint-action=exec=sh" in str(outcome.notes)


async def test_the_version_of_python_may_be_no_program(bench: RunBench) -> None:
    versions = ("3.12", "3.12.1\\n3.11", "cpython@3.13", "# ours\\npypy3.10-7.3.12", "3.13t")
    for version in (*versions, "3.14.0rc1", "3.13-dev", "miniconda3-22.11.1-1"):
        assert (await bench.changed(f"printf '{version}' > .python-version")).state == "applied"
    assert (
        await bench.changed("echo lts/iron > .nvmrc; echo 1.21 > .go-version")
    ).state == "applied"
    for script in (
        *("echo ./tools/py > .python-version", "echo evil > .python-version"),
        *("echo 3evil > .python-version", "echo python3evil > .python-version"),
        *("echo path:evil > .node-version", "echo ../../.. > .java-version"),
        *("yes '' | head -c 2000 > .python-version", "echo 3 > pin; ln -sf pin .python-version"),
    ):
        assert (await bench.changed(script)).state == "held", script


async def test_what_goes_as_a_whole_or_belongs_to_dependencies_is_not_missed(
    bench: RunBench, root: Path
) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(root / "store")], check=True)
    (root / "node_modules/a").mkdir(parents=True)
    (root / "node_modules/a/.gitattributes").write_text("* text\n")
    outcome = await bench.changed("rm -r store node_modules/a/.gitattributes")
    assert outcome.state == "applied", outcome.notes
