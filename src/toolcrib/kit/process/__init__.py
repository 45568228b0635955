"""Child processes: started in a clean environment, bounded, and never left behind."""

from toolcrib.kit.process.child import Chunk, Process
from toolcrib.kit.process.output import Output
from toolcrib.kit.process.processes import Finished, Mark, Processes

__all__ = ["Chunk", "Finished", "Mark", "Output", "Process", "Processes"]
