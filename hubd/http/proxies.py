"""Requests that a trusted proxy passed on: who sent them, and whether they came over TLS.

Only what a proxy of the configuration says is believed, or anybody could choose an address.
"""

import ipaddress
from collections.abc import Sequence

from aiohttp import web

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
PROXIES = web.AppKey("proxies", list[Network])
HOPS_LIMIT = 20


def forwarded(request: web.Request) -> web.Request:
    """The request with its sender's own address and scheme; unchanged from anybody else."""
    proxies = request.app[PROXIES]
    if not proxies or not _is_one_of(request.remote or "", proxies):
        return request
    hops = ",".join(request.headers.getall("X-Forwarded-For", [])).split(",")
    scheme = request.headers.get("X-Forwarded-Proto", request.scheme).strip().casefold()
    return request.clone(
        remote=sender(request.remote or "", [hop.strip() for hop in hops], proxies),
        scheme=scheme if scheme in ("http", "https") else request.scheme,
    )


def sender(peer: str, hops: Sequence[str], proxies: Sequence[Network]) -> str:
    """The nearest address that is no trusted proxy; what stands behind it may be invented."""
    found = peer
    for hop in list(reversed(hops))[:HOPS_LIMIT]:
        try:
            ipaddress.ip_address(hop)
        except ValueError:
            return found
        found = hop
        if not _is_one_of(hop, proxies):
            return found
    return found


def _is_one_of(address: str, networks: Sequence[Network]) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)
