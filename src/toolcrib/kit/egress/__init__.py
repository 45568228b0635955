"""The guarded network: nothing else in toolcrib opens a connection to the outside.

`Egress` fetches, `GuardProxy` lets other programs out, both under one `EgressPolicy`
and one `Resolver`. `PublicUrl` is the parameter type of tools that take a URL;
`References` gives short names for long ones.
"""

from toolcrib.kit.egress.client import PAGES, Egress
from toolcrib.kit.egress.guard_proxy import GuardProxy, Lease
from toolcrib.kit.egress.headers import Headers
from toolcrib.kit.egress.policy import EgressPolicy
from toolcrib.kit.egress.public_url import PublicUrl
from toolcrib.kit.egress.redirects import Redirect
from toolcrib.kit.egress.references import References
from toolcrib.kit.egress.response import Response

__all__ = [
    "PAGES",
    "Egress",
    "EgressPolicy",
    "GuardProxy",
    "Headers",
    "Lease",
    "PublicUrl",
    "Redirect",
    "References",
    "Response",
]
