"""Ports that no web server uses: reaching them over HTTP is an attack on another service."""

from __future__ import annotations

from typing import Final

# The list of the Fetch standard ("bad ports").
_FETCH = (
    "0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 "
    "111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 "
    "540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 "
    "6000 6566 6665 6666 6667 6668 6669 6679 6697 10080"
)
# Services that act on text sent to them: databases, caches, brokers, remote control.
_SERVICES = (
    "445 873 1433 1521 2181 2375 2376 2379 2380 3306 3389 4369 5432 5672 5900 5984 5985 5986 6379 "
    "6380 7199 9042 9092 9200 9300 10250 10255 11211 27017 27018 27019"
)
BLOCKED_PORTS: Final = frozenset(int(port) for port in f"{_FETCH} {_SERVICES}".split())
