"""A third round: masks, owners of descriptors, calls that are seldom used, repositories of jobs."""

from __future__ import annotations

from tests.escapes.attempt import Attempt, Twin
from tests.escapes.battery.second import FILES, OWN, PAIR, PLAIN, PROC, SIGNAL, table

SAME = Twin(body="os.chmod('notes.txt', 0o640); os.utime('notes.txt', (1, 1)); say('ok')")

MASKS = table("BM", r"""
# by a copy of the mount beneath the mask
fd = sc(428, -100, b'.', 1 | 0o2000000)
say(os.read(os.open('.env', os.O_RDONLY, dir_fd=fd), 500))
# by taking the mask away
libc.umount2(b'.env', 2); say(open('.env').read())
# by a second name of what a descriptor holds
fd = os.open('.env', os.O_PATH)
libc.linkat(fd, b'', -100, b'taken', 0x1000); say(open('taken').read())
# by a second name, through /proc
fd = os.open('.env', os.O_PATH)
libc.linkat(-100, b'/proc/self/fd/%d' % fd, -100, b'taken', 0x400); say(open('taken').read())
# by opening again what a descriptor names
fd = os.open('.env', os.O_PATH); say(open('/proc/self/fd/%d' % fd).read())
# by handing the folder to a child that has left its root
pid = os.fork()
if not pid:
    os.chdir('/proc/self/cwd/..'); say(open('ws/.env').read()); os._exit(0)
os.waitpid(pid, 0)
# by a folder that is opened before another has its name
d = os.open('inner', os.O_PATH)
os.rename('inner', 'i2'); os.mkdir('inner')
say(os.read(os.open('.env.local', os.O_RDONLY, dir_fd=d), 500))
# by an exchange with a plain file, and back
sc(316, -100, b'.env', -100, b'notes.txt', 2); say(open('notes.txt').read())
# by one that is shared with a later program
m = os.memfd_create('x'); os.set_inheritable(m, True)
subprocess.run(['cp', '.env', '/proc/self/fd/%d' % m], close_fds=False)
say(os.pread(m, 500, 0))
""", twin=OWN, target="env", more={})  # fmt: skip

CHANGING = table("BC", r"""
# the mode of what is hidden
os.chmod('.env', 0o666)
# an attribute of what is hidden
os.setxattr('.env', 'user.x', b'x')
# a hook, by a nameless file of a job
os.makedirs('.git/hooks', exist_ok=True)
t = os.open('.git/hooks', os.O_TMPFILE | os.O_RDWR, 0o755); os.write(t, b'#!/bin/sh\n')
libc.linkat(-100, b'/proc/self/fd/%d' % t, -100, F.encode(), 0x400)
# a hook, through a folder that a job holds open
d = os.open('.git', os.O_DIRECTORY)
with __import__('contextlib').suppress(OSError): os.rename('.git', '.g')
os.makedirs('.g/hooks', exist_ok=True) if os.path.exists('.g') else os.mkdir('hooks', dir_fd=d)
os.close(os.open('hooks/pre-commit', os.O_CREAT | os.O_WRONLY, 0o755, dir_fd=d))
os.rename('.g', '.git')
# the folder itself, opened to all
os.chmod('.', 0o777)
""", twin=SAME, more={
    1: {"target": "env"},
    2: {"target": "env"},
    3: {"target": "hook", "background": True},
    4: {"target": "hook", "background": True},
    5: {"leaves": "."},
})  # fmt: skip

LEAVING = table("BL", r"""
# a whiteout, by a rename
sc(316, -100, b'plain.txt', -100, b'moved.txt', 4)
# a whiteout, by a rename of a job
sc(316, -100, b'plain.txt', -100, b'moved.txt', 4)
# a whiteout over what is hidden
os.remove('.env'); os.mknod('.env', 0o020000, 0)
# capabilities of a file
os.setxattr('plain.txt', 'security.capability', bytes.fromhex('0100000200200000') + bytes(12))
# marks of an overlay, by a job
os.setxattr('sub', 'trusted.overlay.redirect', b'/outside')
os.setxattr('plain.txt', 'trusted.overlay.metacopy', b'')
# a pipe in the place of a file
os.remove('notes.txt'); os.mkfifo('notes.txt')
# a link in the place of a folder
os.rename('sub', 'sub2'); os.symlink(T['BASE'] + '/outside', 'sub')
# a picture that is a link
os.symlink(F, 'chart.png')
# a repository of a job, without settings, that has a hook
os.makedirs('n/.git/objects'); os.makedirs('n/.git/refs'); os.makedirs('n/.git/hooks')
open('n/.git/hooks/pre-commit', 'w').write('#!/bin/sh\ntouch owned\n')
os.chmod('n/.git/hooks/pre-commit', 0o755)
open('n/.git/HEAD', 'w').write('ref: refs/heads/main\n'); hold(1.2)
# a working tree of a job, whose repository is a false one
os.makedirs('evil/objects'); os.makedirs('evil/refs')
open('evil/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
os.makedirs('f/.git/worktrees/x')
open('f/.git/worktrees/x/HEAD', 'w').write('ref: refs/heads/main\n')
open('f/.git/worktrees/x/commondir', 'w').write('../../../../evil\n')
open('sub/.git', 'w').write('gitdir: ../f/.git/worktrees/x\n'); hold(1.2)
# a working tree of a job, whose repository has no head
os.makedirs('f/.git/objects'); os.makedirs('f/.git/refs')
open('f/.git/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
os.makedirs('f/.git/worktrees/x')
open('f/.git/worktrees/x/HEAD', 'w').write('ref: refs/heads/main\n')
open('f/.git/worktrees/x/commondir', 'w').write('../..\n')
open('sub/.git', 'w').write('gitdir: ../f/.git/worktrees/x\n'); hold(1.2)
# a working tree of a job, in a repository that was there
os.makedirs('evil/objects'); os.makedirs('evil/refs')
open('evil/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
os.makedirs('t/x')
open('t/x/HEAD', 'w').write('ref: refs/heads/main\n')
open('t/x/commondir', 'w').write('../../../evil\n')
os.rename('t', '.git/worktrees')
open('sub/.git', 'w').write('gitdir: ../.git/worktrees/x\n'); hold(1.2)
# a repository that a job moves into its place
os.makedirs('t/objects'); os.mkdir('t/refs')
open('t/HEAD', 'w').write('ref: refs/heads/main\n')
open('t/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
os.mkdir('n'); os.rename('t', 'n/.git'); hold(1.2)
# a repository of a job, whose head is a link
os.makedirs('n/.git/objects'); os.makedirs('n/.git/refs')
open('n/.git/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
os.symlink('refs/heads/main', 'n/.git/HEAD'); hold(1.2)
# a repository of a job, through a link
os.makedirs('x/objects'); os.mkdir('x/refs')
open('x/HEAD', 'w').write('ref: refs/heads/main\n')
open('x/config', 'w').write('[core]\n\tfsmonitor = touch owned\n')
os.symlink('../x', 'sub/.git'); hold(1.2)
""", twin=PLAIN, more={
    1: {"leaves": "plain.txt"},
    2: {"leaves": "plain.txt", "background": True},
    3: {"target": "env"},
    4: {"leaves": "plain.txt"},
    5: {"leaves": "plain.txt", "background": True},
    6: {"leaves": "notes.txt"},
    7: {"leaves": "sub"},
    8: {"leaves": "chart.png", "target": "key"},
    9: {"leaves": "n/.git/hooks/pre-commit", "background": True},
    10: {"leaves": "sub/.git", "background": True},
    11: {"leaves": "sub/.git", "background": True},
    12: {"leaves": "sub/.git", "background": True},
    13: {"leaves": "n/.git/HEAD", "background": True},
    14: {"leaves": "n/.git/HEAD", "background": True},
    15: {"leaves": "x/HEAD", "background": True},
})  # fmt: skip

OTHERS = table("BO", r"""
# a signal to another program, by the owner of a socket
import fcntl
a, b = socket.socketpair()
fcntl.fcntl(a, 10, 9); fcntl.fcntl(a, 8, int(T['VICTIM']))
fcntl.fcntl(a, 4, fcntl.fcntl(a, 3) | 0o20000); b.send(b'x'); hold()
# a signal to a thread of another program, by the owner of a pipe
import fcntl
r, w = os.pipe()
fcntl.fcntl(r, 10, 9); fcntl.fcntl(r, 15, struct.pack('ii', 0, int(T['VICTIM'])))
fcntl.fcntl(r, 4, fcntl.fcntl(r, 3) | 0o20000); os.write(w, b'x'); hold()
# a signal to another program, by a request to a socket
import fcntl
a, b = socket.socketpair()
fcntl.ioctl(a, 0x8901, struct.pack('i', int(T['VICTIM'])))
fcntl.fcntl(a, 10, 9); fcntl.ioctl(a, 0x5452, struct.pack('i', 1)); b.send(b'x'); hold()
# a signal to all of its group, by the owner of a socket
import fcntl
a, b = socket.socketpair()
fcntl.fcntl(a, 10, 9); fcntl.fcntl(a, 8, -os.getpgid(int(T['VICTIM'])))
fcntl.fcntl(a, 4, fcntl.fcntl(a, 3) | 0o20000); b.send(b'x'); hold()
# datagrams to a path, by one of a pair
a, b = socket.socketpair(1, 2); a.sendto(b'x', T['UNIX_DATAGRAM'])
# datagrams to a path, by one of a raw pair, connected anew
a, b = socket.socketpair(1, 3); a.connect(T['UNIX_DATAGRAM']); a.send(b'x')
# sockets of all other families
held = []
for family in range(1, 47):
    for kind in (1, 2, 3, 5) if family not in (1, 2, 10, 16) else ():
        try: held.append(socket.socket(family, kind))
        except OSError: pass
hold()
# netlink of other kinds
held = []
for protocol in range(1, 23):
    try: held.append(socket.socket(16, 3, protocol))
    except OSError: pass
hold()
# robust locks of another program
a, n = ctypes.c_void_p(), ctypes.c_size_t()
sc(274, int(T['VICTIM']), ctypes.byref(a), ctypes.byref(n)); say('PUSHED')
# messages in queues, which nobody counts
made = []
for n in range(400):
    q = libc.msgget(0, 0o600)
    if q < 0: break
    made.append(q)
    while libc.msgsnd(q, struct.pack('l', 1) + bytes(8000), 8000, 0o4000) == 0: pass
if len(made) > 300: say('PUSHED')
for q in made: libc.msgctl(q, 0, None)
# what is done in a folder, told as it happens
fd, place = libc.inotify_init1(0o4000), T['BASE'] + '/home'
if libc.inotify_add_watch(fd, place.encode(), 0xfff) > 0: say('PUSHED')
""", twin=PAIR, more={
    1: {"victim": True},
    2: {"victim": True, "twin": SIGNAL},
    3: {"victim": True},
    4: {"victim": True},
    7: {"held": ("^(own|host):(?!UNIX|TCP|UDP|NETLINK|TCPv6|UDPv6)", True)},
    8: {"held": ("^own:NETLINK$|^host:NETLINK$", True)},
    9: {"victim": True, "machine": "x86_64", "twin": PROC, "sees": frozenset({"pushed"})},
    10: {"twin": FILES, "sees": frozenset({"pushed"})},
    11: {"twin": FILES, "sees": frozenset({"pushed"})},
})  # fmt: skip

THIRD: tuple[Attempt, ...] = (*MASKS, *CHANGING, *LEAVING, *OTHERS)
