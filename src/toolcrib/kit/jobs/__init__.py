"""Work that outlives its call: one contract for processes, tests, agents and slow tools."""

from toolcrib.kit.jobs.handle import JobHandle
from toolcrib.kit.jobs.jobs import Jobs
from toolcrib.kit.jobs.view import JobView, Record

__all__ = ["JobHandle", "JobView", "Jobs", "Record"]
