"""The family of the `hook_*` reads, and who on a chain has pools with hooks."""

from __future__ import annotations

from tools_app.chain.networks import ChainNotSupported
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.hooked_pools import HookedPools
from tools_app.toolkit.markets import Markets
from tools_app.toolkit.protocol import SHELF

hook = ToolFamily(prefix="hook", category=Category.HOOK, picks_chain=True)


def hooked_on(chain_id: int) -> tuple[HookedPools, Markets]:
    """Those whose pools run hooks there. Raises ChainNotSupported."""
    for protocol in SHELF.on(chain_id):
        if protocol.hooked is not None and protocol.markets is not None:
            return protocol.hooked, protocol.markets
    chains = sorted({each for one in SHELF if one.hooked and one.markets for each in one.markets.chains})
    raise ChainNotSupported(f"no pools with hooks are known on chain {chain_id}", chain_id=chain_id, chains=chains)
