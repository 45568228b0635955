"""Started as a program: takes a picture of the screens, and writes it as PNG in base64.

    python -I -S -B screen_child.py

A screen may hang, so that this is a process that can be killed. stdin brings JSON: where
modules are, and which monitor is meant, 0 for all of them.
"""

import base64
import json
import os
import sys
from typing import Any


def main() -> None:
    """Take the picture, or say in JSON why there is none."""
    request = json.load(sys.stdin)
    sys.path[:] = request["path"]
    print(json.dumps(_picture(request["monitor"])))  # noqa: T201 - the answer


def _picture(number: int) -> dict[str, Any]:
    if sys.platform.startswith("linux"):
        if os.environ.get("WAYLAND_DISPLAY"):
            return {"error": "wayland"}
        if not os.environ.get("DISPLAY"):
            return {"error": "none"}
    import mss
    import mss.tools

    try:
        with mss.MSS() as screen:
            count = len(screen.monitors) - 1
            if number > count:
                return {"error": "monitor", "monitors": count}
            shot = screen.grab(screen.monitors[number])
    except Exception as error:  # noqa: BLE001 - each system has its own
        return {"error": "failed", "reason": str(error)[:200] or type(error).__name__}
    content = mss.tools.to_png(shot.rgb, shot.size, level=1)
    picture = base64.b64encode(content or b"").decode("ascii")
    return {"picture": picture, "monitors": count, "size": list(shot.size)}


if __name__ == "__main__":
    main()
