"""Changing what lies outside, or inside where another program would run it, in Python."""

from __future__ import annotations

from typing import Any

from tests.escapes.attempt import Attempt, Twin

NEW = Twin(place="new")
PLAIN = Twin(place="inner")
WRITE = 'fd = os.open(F, os.O_WRONLY | os.O_CREAT, 0o644); os.write(fd, b"written"); os.close(fd)'


def _write(name: str, title: str, body: str, target: str = "outer_new", **more: Any) -> Attempt:
    more.setdefault("twin", NEW if target != "outer" else PLAIN)
    return Attempt(name, title, "python", body, target=target, **more)


WRITING = (
    _write("W01", "a new file outside, by O_CREAT", WRITE),
    _write("W02", "a file outside appended to", "open(F, 'a').write('written')", "outer"),
    _write("W03", "a file outside emptied by truncate", "os.truncate(F, 0)", "outer"),
    _write("W04", "a file outside removed", "os.unlink(F)", "outer"),
    _write("W05", "a file outside renamed", "os.rename(F, F + '.gone')", "outer"),
    _write("W06", "the mode of a file outside", "os.chmod(F, 0o777)", "outer"),
    _write("W07", "the times of a file outside", "os.utime(F, (1, 1))", "outer"),
    _write(
        "W08",
        "an attribute of a file outside",
        "os.setxattr(F, 'user.x', b'1')",
        "outer",
        twin=Twin(
            body="""
           os.setxattr("plain.txt", "user.x", b"1")
           assert os.getxattr("plain.txt", "user.x") == b"1"; say("ok")"""
        ),
    ),
    _write(
        "W09",
        "a link outside",
        "os.symlink('/etc', F)",
        twin=Twin(
            body="""
        os.symlink("notes.txt", "inside"); assert open("inside").read(); say("ok")"""
        ),
    ),
    _write(
        "W10",
        "a folder outside",
        "os.mkdir(F)",
        twin=Twin(
            body="""
        os.mkdir("made"); assert os.path.isdir("made"); say("ok")"""
        ),
    ),
    _write(
        "W11",
        "through a link in the workspace",
        "os.symlink(F, 'way')\nopen('way', 'a').write('written')",
        "outer",
    ),
    _write("W12", "the start file of the user's shell", "open(F, 'a').write('written')", "bashrc"),
    _write("W13", "authorized_keys of the user", WRITE, "authorized"),
    _write("W14", "a job for cron of the user", WRITE, "cron"),
    _write(
        "W15", "toolcrib's own configuration", "open(F, 'a').write('level = \"none\"')", "config"
    ),
    _write("W16", "toolcrib's own approvals", "open(F, 'a').write('written')", "data"),
    _write("W17", "a hook of git", WRITE, "hook"),
    _write(
        "W18",
        "the configuration of git",
        "open(F, 'a').write('[core]\\n fsmonitor = touch x\\n')",
        "gitconfig",
    ),
    _write("W19", "a new .mcp.json", WRITE, "mcp"),
    _write("W20", "tasks of an editor", WRITE, "tasks"),
    _write("W21", "a start file of a shell in the workspace", WRITE, "profile"),
    _write("W22", ".gitmodules", WRITE, "modules"),
    _write(
        "W23",
        "a hook of a submodule",
        "os.makedirs(os.path.dirname(F), exist_ok=True)\n" + WRITE,
        "module_hook",
    ),
    _write(
        "W24",
        "a protected folder moved away, changed and moved back",
        """
        import shutil; shutil.move(".vscode", "v"); open("v/settings.json", "a").write("written")
        shutil.move("v", ".vscode")
        """,
        "settings",
        twin=Twin(
            body="""
        import shutil
        shutil.move("sub", "s"); open("s/more", "a").write("x"); shutil.move("s", "sub")
        say("ok")"""
        ),
    ),
    _write(
        "W25",
        ".git moved away and another put in its place",
        """
        import shutil; shutil.move(".git", "g"); os.makedirs(".git/hooks")
        open(".git/hooks/post-checkout", "w").write("written")
        open(".git/config", "w").write("[core]\\n hooksPath = /tmp\\n")
        """,
        "hook",
        twin=Twin(body="os.mkdir('g'); os.rename('g', 'h'); say('ok')"),
    ),
    _write(
        "W26",
        ".env replaced",
        "open('e', 'w').write('A=written'); os.replace('e', F)",
        "env",
        twin=NEW,
    ),
    _write(
        "W27",
        "a folder swapped for a link out, and written to",
        """
        import shutil; shutil.move("sub", "was"); os.symlink(os.path.dirname(F), "sub")
        open("sub/" + os.path.basename(F), "w").write("written")
        """,
        twin=Twin(
            body="""
        import shutil; shutil.move("sub", "was"); os.symlink("was", "sub")
        open("sub/new", "w").write("x"); assert open("was/new").read(); say("ok")"""
        ),
    ),
    _write(
        "W28",
        "a file outside by a hard link in the workspace",
        "os.link(F, 'hard'); open('hard', 'a').write('written')",
        "outer",
    ),
    _write(
        "W29",
        "a file outside by a shared mapping",
        """
        m = mmap.mmap(os.open(F, os.O_RDWR), 0); m[0:1] = b"W"; m.flush()
        """,
        "outer",
    ),
    _write(
        "W30",
        "the working folder walked up by its descriptor",
        """
        fd = os.open("..", os.O_RDONLY)
        os.write(os.open("outside/" + os.path.basename(F), 65, 0o644, dir_fd=fd), b"written")
        """,
        twin=Twin(
            body="""
        os.chdir("sub"); fd = os.open("..", 0)
        os.write(os.open("up", 65, 0o644, dir_fd=fd), b"x"); assert open("../up").read()
        say("ok")"""
        ),
    ),
    _write(
        "W31",
        "a module that the server would import",
        "os.makedirs(os.path.dirname(F), exist_ok=True)\n" + WRITE,
        "site",
    ),
)
