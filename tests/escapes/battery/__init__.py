"""All attempts, by what they go at."""

from __future__ import annotations

from tests.escapes.attempt import Attempt
from tests.escapes.battery.floods import FLOODS
from tests.escapes.battery.javascript import JAVASCRIPT
from tests.escapes.battery.kernel import KERNEL
from tests.escapes.battery.leaving import LEAVING
from tests.escapes.battery.processes import PROCESSES
from tests.escapes.battery.reading import READING
from tests.escapes.battery.second import SECOND
from tests.escapes.battery.shell import SHELL
from tests.escapes.battery.sockets import SOCKETS
from tests.escapes.battery.third import THIRD
from tests.escapes.battery.writing import WRITING

__all__ = ["ATTEMPTS", "ROUNDS", "SECOND", "THIRD"]

ATTEMPTS: tuple[Attempt, ...] = (
    *READING,
    *WRITING,
    *LEAVING,
    *PROCESSES,
    *SOCKETS,
    *KERNEL,
    *FLOODS,
    *JAVASCRIPT,
    *SHELL,
)
ROUNDS: dict[str, tuple[Attempt, ...]] = {"first": ATTEMPTS, "second": SECOND, "third": THIRD}
