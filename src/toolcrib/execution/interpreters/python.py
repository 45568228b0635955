"""Python interpreters: which one runs the code, and the few lines in it that take the code."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotConfigured, ToolError, Unavailable
from toolcrib.execution.interpreters.lmstudio import lmstudio_python
from toolcrib.execution.interpreters.programs import find_program, is_program, prefix_of
from toolcrib.execution.toolchains import environment_settings, is_among
from toolcrib.files.handles import read_plain
from toolcrib.files.paths import SafePath
from toolcrib.files.real_paths import real_path

# Code as models hand it over: in a fence of Markdown, with a line of prose around it.

WHOLE = re.compile(r"\s*(?:```|~~~)[\w+-]*[ \t]*\n(.*?)\n?(?:```|~~~)\s*", re.DOTALL)
OPENED = re.compile(
    r"(?P<before>(?:[^\n]*\n){0,4}?)[ \t]*```[\w+-]*[ \t]*\n(?P<code>.*?)"
    r"(?:^[ \t]*```[ \t]*$(?P<after>.*)|\Z)",
    re.DOTALL | re.MULTILINE,
)
CODE = re.compile(r"[=(){}\[\]\"`#;<>|$\\]|'''")
"""What a line of prose before a fence has none of."""
MAX_CHARS = 200_000
"""Characters up to which a fence in the middle is looked for."""


def unfenced(text: str) -> str:
    """The code of a text, with the line ends of Unix."""
    text = text.replace("\r\n", "\n")
    whole = WHOLE.fullmatch(text)
    if whole:
        return whole[1]
    if "```" not in text or len(text) > MAX_CHARS:
        return text
    opened = OPENED.match(text)
    if opened is None or CODE.search(opened["before"]):
        return text
    return opened["code"]


Origin = Literal["run.python", "workspace", "toolcrib", "lmstudio"]
LM_STUDIO = "lmstudio"
"""What names its Python in `run.python`."""
DATA_PACKAGES = ("numpy", "pandas", "matplotlib")
"""Those of the extra `data`."""
ENVIRONMENTS = (".venv", "venv")
MAX_SETTINGS = 10_000
QUOTED = re.compile(r"\s*`([^`\n]+)`\s*")
NO_PACKAGES = (
    'To install, use run_command with network=["packages"], about which the user is asked: '
    "python3 -m venv .venv; .venv/bin/pip install NAME"
)
PACKAGES = {
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "MySQLdb": "mysqlclient",
    "OpenGL": "PyOpenGL",
    "OpenSSL": "pyOpenSSL",
    "PIL": "pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "github": "PyGithub",
    "jwt": "PyJWT",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "nacl": "PyNaCl",
    "pkg_resources": "setuptools",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "pylab": "matplotlib",
    "pythoncom": "pywin32",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "socks": "PySocks",
    "speech_recognition": "SpeechRecognition",
    "usb": "pyusb",
    "websocket": "websocket-client",
    "win32api": "pywin32",
    "win32com": "pywin32",
    "wx": "wxPython",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
"""The packages of modules that have other names: of theirs, some are somebody else's."""
INSTALLS = re.compile(r"\s*[!%]?\s*(?:python3? -m )?pip3?\s+install\b[^\n]*\s*")
HINT = "Install Python 3.8 or later, or name one with run.python in the configuration."

# It reads the code from its input, so that no file has to lie anywhere, and runs it as
# `__main__`. A traceback shows the lines of the code and nothing of this. The value of a last
# expression is shown, as an interactive Python would. Of a method that writes or moves in a
# file (`quiet`) it is not: how many characters it wrote is not asked for.
# Standard modules are loaded before the current folder can hide them.
BOOT = r"""
def _run():
    import ast, builtins, inspect, io, linecache, os, sys, traceback
    main = sys.modules["__main__"].__dict__
    with io.open(0, "rb", closefd=False) as file:
        code = file.read().decode("utf-8", "replace")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.path.insert(0, os.getcwd())
    sys.argv = ["<code>"]
    linecache.cache["<code>"] = (len(code), None, code.splitlines(True), "<code>")
    packages = os.environ.pop("TOOLCRIB_PACKAGES", "")
    if packages:
        sys.path.append(packages)
    folder = os.environ.pop("TOOLCRIB_PICTURES", "")
    drawn = {"saved": 0, "shown": 0}

    def show(*given, **more):
        plt = sys.modules["matplotlib.pyplot"]
        for number in plt.get_fignums():
            drawn["shown"] += 1
            name = os.path.join(folder, "figure-%03d.png" % drawn["shown"])
            drawn["savefig"](plt.figure(number), name, bbox_inches="tight")
        plt.close("all")

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name != "matplotlib.pyplot":
                return None
            import importlib.machinery
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            if spec is None or spec.loader is None:
                return spec
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                drawn["savefig"] = module.Figure.savefig

                def savefig(figure, *given, **more):
                    drawn["saved"] += 1
                    return drawn["savefig"](figure, *given, **more)
                module.Figure.savefig = savefig
                module.show = show
            spec.loader.exec_module = exec_module
            return spec

    if folder:
        sys.meta_path.insert(0, Finder)
    waits = getattr(ast, "PyCF_ALLOW_TOP_LEVEL_AWAIT", 0)
    quiet = {"write", "writelines", "write_text", "write_bytes", "seek", "truncate", "writerow"}

    def shown(tree):
        if not tree.body or not isinstance(tree.body[-1], ast.Expr):
            return None
        value = tree.body[-1].value
        call = value.value if isinstance(value, ast.Await) else value
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in quiet:
            return None
        return ast.copy_location(ast.Expression(tree.body.pop().value), value)

    def started(compiled):
        result = eval(compiled, main)
        if inspect.iscoroutine(result) and compiled.co_flags & inspect.CO_COROUTINE:
            import asyncio
            result = asyncio.run(result)
        return result

    def reported(kind, error, trace):
        if sys.excepthook is not sys.__excepthook__:
            sys.excepthook(kind, error, trace)
        else:
            traceback.print_exception(kind, error, trace)
        sys.stderr.flush()

    def within(trace):
        while trace is not None and trace.tb_frame.f_code.co_filename == "<string>":
            trace = trace.tb_next
        return trace

    main.pop("_run", None)
    builtins.exit, builtins.quit = sys.exit, sys.exit
    try:
        tree = compile(code, "<code>", "exec", ast.PyCF_ONLY_AST | waits, dont_inherit=True)
        last = shown(tree)
        if tree.body:
            started(compile(tree, "<code>", "exec", waits, dont_inherit=True))
        if last is not None:
            value = started(compile(last, "<code>", "eval", waits, dont_inherit=True))
            if value is not None:
                print(repr(value))
        if "savefig" in drawn and not drawn["saved"]:
            show()
    except SystemExit:
        raise
    except BaseException:
        kind, error, trace = sys.exc_info()
        reported(kind, error.with_traceback(within(trace)), within(trace))
        sys.exit(130 if kind is KeyboardInterrupt else 1)
_run()
"""


@dataclass(frozen=True, slots=True)
class Python:
    """An interpreter: `origin` says who chose it, `label` how a result names it."""

    program: str
    origin: Origin
    label: str
    readable: tuple[Path, ...]
    packages: str = ""
    """A folder with more packages that it finds, after its own."""

    @property
    def argv(self) -> list[str]:
        """The command that runs the code on its input, with UTF-8 and no byte code written."""
        return [self.program, "-I", "-B", "-u", "-X", "utf8", "-c", BOOT]


def clean_code(code: str) -> str:
    """Code without the fence of Markdown around it and without a common indentation.

    Raises:
        BadInput: it is nothing, or no text.
    """
    quoted = QUOTED.fullmatch(code)
    code = quoted[1] if quoted else unfenced(code)
    if not code.strip():
        raise BadInput("The code is empty.")
    if "\0" in code:
        raise BadInput(
            "The code is not text: it holds NUL characters.",
            hint="Send source code. A program that is a file is started with run_command.",
        )
    if INSTALLS.fullmatch(code):
        raise BadInput("That is a command, not Python.", hint=NO_PACKAGES)
    first = next(line for line in code.splitlines() if line.strip())
    return textwrap.dedent(code) if first[0] in " \t" else code


def python_for(ctx: Ctx, cwd: SafePath) -> Python:
    """The configured interpreter, else that of the workspace, else our own. It blocks.

    Raises:
        Unavailable: the configured one is not there, or there is none.
    """
    named = ctx.config.run.python
    if named:
        program = lmstudio_python() if named == LM_STUDIO else find_program(ctx, named)
        if not program:
            raise NotConfigured(
                f"The Python of run.python is not there: {named}.",
                hint="Mend run.python in the configuration, or leave it out.",
            )
        return Python(program, "run.python", program, tuple(needed_folders(program)))
    for folder in cwd.upwards():
        found = _of_environment(folder)
        if found is not None:
            return found
    return _own()


def needed_folders(program: str) -> list[Path]:
    """What has to be readable for an interpreter: its installation, and that of its base."""
    folders = prefix_of(program)
    for prefix in (Path(program).parent.parent, Path(program).resolve().parent.parent):
        base = _base_of(prefix / "pyvenv.cfg")
        if base:
            folders += prefix_of(base)
    return list(dict.fromkeys(folders))


def _of_environment(folder: SafePath) -> Python | None:
    for name in ENVIRONMENTS:
        inside = folder.child(name)
        program = f"{inside.absolute}/bin/python"
        if not os.access(program, os.X_OK):  # most have none, and the gate takes longer
            continue
        try:
            inside.child("pyvenv.cfg").stat()
        except ToolError:
            continue
        if is_program(program):
            return Python(program, "workspace", f"{inside.display}/bin/python", _bases(inside))
    return None


def _bases(inside: SafePath) -> tuple[Path, ...]:
    """What an environment of the workspace needs outside of it: the Python that it is made of."""
    try:
        with inside.child("pyvenv.cfg").open_read() as handle:
            text = handle.file.read(MAX_SETTINGS)
    except ToolError:
        return ()
    base = _named_base(text)
    linked = real_path(f"{inside.absolute}/bin/python")
    named = [*(prefix_of(base) if base else ()), *prefix_of(linked)]
    # Files of a workspace must not open folders: only what is a Python where it really lies,
    # since a link on the way could lead anywhere.
    found = dict.fromkeys(Path(real_path(p)) for p in named)
    return tuple(p for p in found if not is_among(p, [inside.root.real]) and _is_python(p))


def _is_python(prefix: Path) -> bool:
    """Whether a folder belongs to the installation of a Python: it has its standard library."""
    above = prefix.parent if prefix.name in ("bin", "lib") else prefix
    return any((above / "lib").glob("python3*/os.py"))


def _base_of(settings: Path) -> str:
    with suppress(OSError):
        return _named_base(read_plain(settings, MAX_SETTINGS))
    return ""


def _named_base(text: bytes) -> str:
    """The program that an environment was made with, by its `pyvenv.cfg`."""
    settings = environment_settings(text)
    if settings.get("executable", "").startswith("/"):
        return settings["executable"]
    return f"{settings['home']}/python3" if settings.get("home", "").startswith("/") else ""


def has_package(program: str, package: str) -> bool:
    """Whether an installation has a package, by where packages are put."""
    prefix = Path(program).parent.parent
    return any(prefix.glob(f"lib/python3*/*-packages/{package}/__init__.py"))


@cache
def _own() -> Python:
    """The Python that toolcrib's own environment was made of: without our packages."""
    base: str = getattr(sys, "_base_executable", "") or sys.executable or ""
    program = real_path(base) if base else ""
    if not program or not is_program(program):
        program = lmstudio_python()
        if program:
            return Python(program, "lmstudio", program, tuple(needed_folders(program)))
        raise Unavailable("There is no Python on this machine to run the code with.", hint=HINT)
    version = ".".join(map(str, sys.version_info[:2]))
    folders = tuple(needed_folders(program))
    packages = data_packages()
    if not packages:
        return Python(program, "toolcrib", f"Python {version}", folders)
    return Python(program, "toolcrib", f"Python {version}", (*folders, Path(packages)), packages)


def data_packages() -> str:
    """Where the packages of the extra `data` are, in an environment of ours; "" without them."""
    if sys.prefix == sys.base_prefix:
        return ""  # the interpreter has them itself, or not
    specs = [find_spec(name) for name in DATA_PACKAGES]
    folders = [str(Path(spec.origin).parent.parent) for spec in specs if spec and spec.origin]
    return folders[0] if folders else ""
