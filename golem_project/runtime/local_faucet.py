"""Mints test money on the local chains for tools that ask."""

from __future__ import annotations

from typing import Final

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.fund import fund
from golem_project.embedded.world.node import CHAIN_ID, SECOND_CHAIN_ID
from golem_project.embedded.world.rpc import RpcError
from tools_app.chain.networks import Network, configured_networks
from tools_app.toolkit.faucets import FaucetMissing, FaucetRefused, Gift

_LOCAL: Final = frozenset({CHAIN_ID, SECOND_CHAIN_ID})


class LocalFaucet:
    """See Faucet. Only local chains have one; another chain of their number, without our tokens, refuses."""

    def gives_on(self, chain_id: int) -> bool:
        """A local chain of which this server knows a node."""
        return _find(chain_id) is not None

    def give(self, *, chain_id: int, account: str, gift: Gift) -> None:
        """Mint it. Raises FaucetMissing, FaucetRefused."""
        network = _find(chain_id)
        if network is None:
            raise FaucetMissing(f"chain {chain_id} has no faucet here", chain_id=chain_id)
        wei, tokens = (gift.raw, {}) if gift.is_native else (0, {gift.symbol: gift.raw})
        try:
            fund(network.rpc_urls[0].reveal(), account, wei, tokens)
        except (EmbeddedError, RpcError) as error:
            raise FaucetRefused(f"the local chain gave nothing: {error}") from None


def _find(chain_id: int) -> Network | None:
    local = (each for each in configured_networks() if each.chain_id in _LOCAL)
    return next((each for each in local if each.chain_id == chain_id), None)
