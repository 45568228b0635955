"""Programs in the language of jq over a JSON text, in a process of their own."""

from toolcrib.kit.jq.run import MAX_RESULTS, run_program

__all__ = ["MAX_RESULTS", "run_program"]
