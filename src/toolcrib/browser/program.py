"""Which browser is on this machine, and how it is started so that nothing gets past the guard."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolcrib.core.config import environment
from toolcrib.core.errors import NotConfigured
from toolcrib.core.names import name_set

HOW_TO_GET_ONE = (
    "Install one, on Debian or Ubuntu: sudo apt install chromium; on macOS: brew install "
    "--cask google-chrome; on Windows: winget install Google.Chrome. Or set browser.executable."
)
# Folders of the system only, never PATH: what stands on that may be a project's own.
_LINUX = tuple(
    f"{folder}/{name}"
    for name in (
        "chromium",
        "chromium-browser",
        "google-chrome-stable",
        "google-chrome",
        "microsoft-edge-stable",
        "microsoft-edge",
        "brave-browser",
    )
    for folder in ("/usr/bin", "/usr/local/bin", "/snap/bin")
)
_MAC = tuple(
    f"/Applications/{name}.app/Contents/MacOS/{name}"
    for name in ("Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser")
)
_WINDOWS = (
    "Google/Chrome/Application/chrome.exe",
    "Chromium/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
)
_WINDOWS_FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")

# Each line closes a way by which a page could reach the network beside the proxy, or by which
# the browser itself would. Contexts are given the proxy; the browser as a whole has none that
# answers.
CLOSED_WAYS = (
    "--disable-quic",  # UDP
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # the name in headless shells
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    # No name is ever looked up here: the proxy is named by its address, and looks up itself.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--safebrowsing-disable-auto-update",
    "--no-pings",
    "--disable-print-preview",
    "--deny-permission-prompts",
    "--disable-notifications",
    # Which fields the forms of a page have is no one's business. Its feature cannot be disabled
    # here: of two --disable-features the last one holds, and playwright has a list of its own.
    "--autofill-server-url=about:blank",
)
NOWHERE = "http://127.0.0.1:9"
"""The proxy of what belongs to no conversation: nothing listens there."""
PASSED_ON = name_set("""
PATH HOME LANG LC_* TZ TMPDIR DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_RUNTIME_DIR
SYSTEMROOT TEMP TMP LOCALAPPDATA APPDATA PROGRAMFILES
""")
"""What the browser sees of our environment: keys and tokens live in the rest of it."""


def find_program(configured: str) -> Path:
    """The browser to start.

    Args:
        configured: `browser.executable`; empty takes the first that is there.

    Raises:
        NotConfigured: the configured one is none, or there is none on this machine.
    """
    if configured:
        path = Path(configured).expanduser()
        if not path.is_file() or not os.access(path, os.X_OK):
            raise NotConfigured(f"browser.executable: {path} is no program.", hint=HOW_TO_GET_ONE)
        return path
    for candidate in _candidates():
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    raise NotConfigured(
        "No Chromium, Chrome or Edge was found on this machine.", hint=HOW_TO_GET_ONE
    )


def _candidates() -> Iterator[Path]:
    if sys.platform == "win32":
        folders = environment(_WINDOWS_FOLDERS).values()
        yield from (Path(folder) / name for name in _WINDOWS for folder in folders)
    else:
        yield from map(Path, _MAC if sys.platform == "darwin" else _LINUX)


def has_screen() -> bool:
    """Whether a window could be shown."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(environment(("DISPLAY", "WAYLAND_DISPLAY")))


def own_sandbox() -> bool:
    """Whether Chromium's own sandbox can be on: it refuses to be root's."""
    return not hasattr(os, "geteuid") or os.geteuid() != 0


def variables(mark: Mapping[str, str]) -> dict[str, str]:
    """The environment of the browser, with the mark by which its processes are found."""
    return {**environment(PASSED_ON), **mark}
