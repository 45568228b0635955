"""The guarded network: nothing else in toolcrib opens a connection to the outside.

`Egress` fetches, `GuardProxy` lets other programs out, both under one `EgressPolicy`
and one `Resolver`. `PublicUrl` is the parameter type of tools that take a URL;
`References` gives short names for long ones.
"""
