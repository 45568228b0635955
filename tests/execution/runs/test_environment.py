"""What variables of the user's environment name in the workspace waits for the user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.execution.runs.conftest import RunBench
from toolcrib.execution.runs.triggers import FOR_A_MODULE, IN_VARIABLES

NAMED = {
    "a shell's start": ("BASH_ENV", "{root}/conf/env.sh", "mkdir conf; echo x > conf/env.sh"),
    "a module of node": ("NODE_OPTIONS", "--require ./hook.js", "echo x > hook.js"),
    "one with an equals sign": ("NODE_OPTIONS", "--require={root}/h.js", "echo x > h.js"),
    "an agent of Java": ("JAVA_TOOL_OPTIONS", "-javaagent:{root}/a.jar", "echo x > a.jar"),
    "an editor": ("GIT_EDITOR", "'{root}/my editor' --wait", "echo x > 'my editor'"),
    "libraries": ("LD_LIBRARY_PATH", "/usr/lib:{root}/lib", "mkdir lib; echo x > lib/libc.so.6"),
    "libraries here": ("LD_LIBRARY_PATH", "/usr/lib:", "echo x > libc.so.6"),
    "relative libraries": ("LD_LIBRARY_PATH", "./out/lib", "mkdir -p out/lib; echo > out/lib/x.so"),
    "modules of Perl": ("PERL5LIB", "{root}/perl", "mkdir -p perl/A; echo x > perl/A/B.pm"),
    "a template of git": ("GIT_TEMPLATE_DIR", "{root}/t", "mkdir -p t/hooks; echo > t/hooks/x"),
    "settings": ("XDG_CONFIG_HOME", "{root}/c", "mkdir -p c/x; echo x > c/x/y"),
    "one without its ending": ("NODE_OPTIONS", "--require {root}/boot", "echo x > boot.js"),
    "one that is a folder": ("NODE_OPTIONS", "-r {root}/b", "mkdir b; echo x > b/index.js"),
    "behind an option": ("PERL5OPT", "-I{root}/pl", "mkdir pl; echo x > pl/A.pm"),
    "a path without a slash": ("BASH_ENV", "env.sh", "mkdir a; echo x > a/env.sh"),
    "a compiler's wrapper": ("CARGO_BUILD_RUSTC_WRAPPER", "{root}/w", "echo x > w"),
    "options of a compiler": ("CFLAGS", "-O2 -fplugin={root}/p.so", "echo x > p.so"),
    "a folder with a blank": ("JAVA_HOME", "{root}/my jdk", "mkdir 'my jdk'; echo > 'my jdk/x'"),
    "archives of a folder": ("CLASSPATH", "{root}/lib/*", "mkdir -p lib; echo x > lib/new.jar"),
    "one beside, without a slash": ("GIT_EDITOR", "python3 ed.py", "echo x > ed.py"),
    "an agent beside": ("JAVA_TOOL_OPTIONS", "-javaagent:a2.jar", "echo x > a2.jar"),
    "a relative one without ending": ("NODE_OPTIONS", "-r ./t/h", "mkdir t; echo x > t/h.js"),
    "a relative folder": ("PERL5OPT", "-I./pm -MFoo", "mkdir pm; echo x > pm/Foo.pm"),
    "options in a file": ("CFLAGS", "-O2 @{root}/flags", "echo x > flags"),
    "an address of a file": ("NODE_OPTIONS", "--import file://{root}/a%20b.mjs", "> 'a b.mjs'"),
    "by a link before `..`": ("BASH_ENV", "{root}/up/../env2.sh", "mkdir -p e/f; ln -s e/f up"),
    "from the home folder": ("ENV", "$HOME/shrc", "echo x > shrc"),
    "a relative one by a link": ("LD_LIBRARY_PATH", "out/lib", "mkdir x; ln -s x out"),
    "compiled code": ("PYTHONPYCACHEPREFIX", "{root}/c", "mkdir c; echo x > c/a.pyc"),
    "a module of a later Python": ("PYTHONPATH", "{root}/src2", "mkdir src2; > src2/_colorize.py"),
    "an archive of modules": ("PYTHONPATH", "{root}/libs.zip", "echo x > libs.zip"),
    "modules by a link": ("PYTHONPATH", "{root}/src", "mkdir gen; ln -s gen src"),
    "modules by a link above": ("PYTHONPATH", "a/src", "mkdir gen; ln -s gen a"),
    "by a link": ("BASH_ENV", "{root}/env.sh", "echo x > there; ln -s there env.sh"),
    "by a link above": ("PERL5LIB", "{root}/a/perl", "mkdir -p b/perl; ln -s b a"),
    "a module of Python's own": ("PYTHONPATH", "{root}/src", "mkdir src; echo x > src/json.py"),
    "a module by a link": ("PYTHONPATH", "{root}/src", "mkdir src; ln -s ../x src/json.py"),
    "a package of Python's own": (
        "PYTHONPATH",
        "src",
        "mkdir -p src/json; echo > src/json/__init__.py",
    ),
    "a compiled one here": ("PYTHONPATH", ".", "echo x > json.cpython-311-x86_64-linux-gnu.so"),
}
OTHERS = {
    "no variable": ("TOOL_LOG", "{root}/log", "echo x > log"),
    "a file beside": ("BASH_ENV", "{root}/env.sh", "echo x > env.sh2"),
    "an editor on PATH": ("EDITOR", "vim", "echo x > vim"),
    "other modules": ("PYTHONPATH", "{root}/src", "mkdir src; echo x > src/own.py"),
    "one elsewhere": ("PYTHONPATH", "{root}/src", "mkdir -p src/own; echo x > src/own/json.py"),
    "headers": ("CFLAGS", "-I{root}/include", "mkdir include; echo x > include/x.h"),
    "no library of a relative one": ("LD_LIBRARY_PATH", "lib", "mkdir -p a/lib; echo > a/lib/x.py"),
    "no library": ("LD_LIBRARY_PATH", "/usr/lib:", "echo x > a.sol; echo x > app.sock"),
    "no module": ("PYTHONPATH", ".", "echo x > json.md; echo x > types.d.ts; mkdir json"),
    "no package": ("PYTHONPATH", "src", "mkdir -p src/json; echo x > src/json/a.py"),
    "one that is not here": ("PYTHONPATH", "", "mkdir own; echo x > own/json.py"),
    "folders outside": ("LD_LIBRARY_PATH", "/usr/lib", "echo x > libc.so.6"),
}


@each_case("name,value,script", NAMED.values(), ids=NAMED)
async def test_it_is_held(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, script: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("HOME", str(root))
        patched.setenv(name, value.format(root=root))
        outcome = await bench.changed(script)
    assert outcome.state == "held", outcome
    assert IN_VARIABLES in str(outcome.notes)


@each_case("name,value,script", OTHERS.values(), ids=OTHERS)
async def test_other_changes_are_made(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, script: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv(name, value.format(root=root))
        assert (await bench.changed(f"rm -rf *; {script}")).state == "applied"


LOADED = ["argparse.py", "random.pyc", "sub/logging/__init__.py", "socketserver.so", "json.py"]


@each_case("name", LOADED)
async def test_modules_that_commands_of_python_load(bench: RunBench, root: Path, name: str) -> None:
    (root / "sub/.git").mkdir(parents=True, exist_ok=True)
    outcome = await bench.changed(f"mkdir -p sub/logging; echo x > {name}")
    assert FOR_A_MODULE in str(outcome.notes)
    by_a_link = await bench.changed("mkdir lib; ln -s lib random; ln -s x string.py")
    assert FOR_A_MODULE in str(by_a_link.notes)


async def test_modules_of_the_users_elsewhere_and_of_other_names(
    bench: RunBench, root: Path
) -> None:
    (root / "random.py").write_text("")
    names = "calendar.py statistics.py queue.py platform.py code.py test/__init__.py json/a.json"
    names += " src/json.py src/p/logging/__init__.py types.d.ts random.py types/index.ts test.py"
    made = f"for f in {names}; do mkdir -p $(dirname $f); echo x > $f; done"
    outcome = await bench.changed(made)
    assert outcome.state == "applied", outcome.notes


async def test_a_module_of_the_users_by_such_a_name_can_be_changed(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "src")
    (root / "src/calendar").mkdir(parents=True)
    for name in ("calendar/__init__.py", "types.py"):
        (root / "src" / name).write_text("")
    outcome = await bench.changed("for f in calendar/__init__ types; do echo x > src/$f.py; done")
    assert outcome.state == "applied", outcome.notes


async def test_modules_of_the_users_can_be_changed(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is new in their folders alone is taken for another module's place."""
    monkeypatch.setenv("PERL5LIB", f"{root}/lib")
    (root / "lib").mkdir()
    (root / "lib/Own.pm").write_text("1;\n")
    assert (await bench.changed("echo '2;' >> lib/Own.pm")).state == "applied"
    assert (await bench.changed("echo '2;' > lib/Strict.pm")).state == "held"


async def test_a_root_that_is_named_is_not_held_whole(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/usr/lib{os.pathsep}{root}/")
    assert (await bench.changed("echo x > main.c")).state == "applied"
    assert (await bench.changed("echo x > libc.so.6")).state == "held"
