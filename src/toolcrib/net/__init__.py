"""The network: the egress guard, pages, the cache, pacing, the client of model servers."""
