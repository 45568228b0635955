"""What every call passes through: one file each, one order.

Errors stand outermost and turn every exception into a result. History comes next,
so that refused and malformed calls are recorded too. Shape is innermost: what goes on
as a job is shaped as well.
"""

from __future__ import annotations

from toolcrib.core.context import Middleware
from toolcrib.middleware.activity import activity
from toolcrib.middleware.auto_commit import auto_commit
from toolcrib.middleware.errors import errors, recovery
from toolcrib.middleware.history import history
from toolcrib.middleware.limits import limits
from toolcrib.middleware.policy import policy
from toolcrib.middleware.repeats import repeats
from toolcrib.middleware.shape import shape
from toolcrib.middleware.validate import validate

PIPELINE: tuple[Middleware, ...] = (
    *(errors, history, repeats, recovery),
    *(validate, policy, limits, activity, auto_commit, shape),
)
UNRESOLVED: tuple[Middleware, ...] = (errors, history)
"""For a call whose tool is not known: there is nothing to check, but it is recorded."""
