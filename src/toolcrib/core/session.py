"""What belongs to one conversation."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

MAX_REMEMBERED = 4000


def _short(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass(slots=True)
class Session:
    """The state of one conversation, kept in the store and loaded for each call.

    `untrusted` and `private` are the taint flags: something from outside, or
    something of the user's own, has been read. `reads` maps an absolute path to
    the fingerprint that the file had when it was read. `links` holds short
    hashes of URLs that the conversation has already seen. `single` says that it is this one
    call: what would have to be named in a later one is of no use. That is not kept.
    """

    id: str
    directory: str = ""
    untrusted: bool = False
    private: bool = False
    reads: dict[str, str] = field(default_factory=dict)
    links: dict[str, None] = field(default_factory=dict)
    changed: bool = False
    single: bool = False

    def taint(self, *, untrusted: bool = False, private: bool = False) -> None:
        """Raise the flags; they never fall within a conversation."""
        if (untrusted and not self.untrusted) or (private and not self.private):
            self.untrusted |= untrusted
            self.private |= private
            self.changed = True

    @property
    def tainted(self) -> bool:
        """Both flags are up: private things could now be carried out by injected text."""
        return self.untrusted and self.private

    def remember_read(self, path: str, fingerprint: str) -> None:
        """Note how a file looked when it was read, for the stale-edit check."""
        if self.reads.get(path) == fingerprint:
            return
        self.reads.pop(path, None)
        self.reads[path] = fingerprint
        _trim(self.reads)
        self.changed = True

    def remember_link(self, url: str) -> None:
        """Note a URL that the conversation has seen as it stands."""
        key = _short(url)
        if key not in self.links:
            self.links[key] = None
            _trim(self.links)
            self.changed = True

    def has_seen(self, url: str) -> bool:
        """Whether this very URL came up before."""
        return _short(url) in self.links


def _trim(entries: dict[str, str] | dict[str, None]) -> None:
    while len(entries) > MAX_REMEMBERED:
        del entries[next(iter(entries))]
