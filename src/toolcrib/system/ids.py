"""Short ids that a person can read out and type."""

from __future__ import annotations

import hashlib
import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Base 32 without i, l, o and u, which are misread."""


def random_id(length: int = 6) -> str:
    """A random id, five bits a character."""
    return _spell(secrets.randbits(5 * length), length)


def content_id(*parts: str, length: int = 8) -> str:
    """An id that is the same for the same texts."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return _spell(int.from_bytes(digest.digest(), "big"), length)


def plain_id(typed: str) -> str:
    """An id as somebody typed it, brought to the form that is stored."""
    return typed.strip().lower().translate(str.maketrans("ilo", "110"))


def _spell(number: int, length: int) -> str:
    return "".join(ALPHABET[(number >> (5 * place)) & 31] for place in range(length))
