"""How many planted secrets scan_secrets finds, and how many look-alikes it takes for some.

    python -m bench.secret_scan

The secrets and look-alikes of tests/tools/system/secret_samples.py, by part: the half on which
the rules were tuned, and the half that was kept aside. The gate is in test_scan_secrets.py.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))


async def main() -> None:
    from tests.tools.system import secret_samples as samples
    from tests.tools.system.test_scan_secrets import planted
    from toolcrib import Toolbox

    for part in ("tune", "held"):
        with tempfile.TemporaryDirectory() as folder:
            places = planted(Path(folder), part)
            config = {"store": {"url": "sqlite://"}}
            async with Toolbox(config, workspace=folder) as box:
                found = (await box.call("scan_secrets", {})).raise_for_error().data["found"]
        reported = {(one["file"], one["line"]) for one in found}
        lines = {
            (name, line + more): (name, line)
            for (name, line), text in places.items()
            for more in range(1 + text.count("\n"))
        }
        right = [place for place in reported if place in lines]
        recall = len({lines[place] for place in right}) / len(places)
        alike = len(samples.look_alikes(part))
        print(
            f"{part}: {len(places)} secrets among {alike:,} look-alikes, "
            f"recall {recall:.3f}, precision {len(right) / max(1, len(reported)):.3f}"
        )


if __name__ == "__main__":
    asyncio.run(main())
