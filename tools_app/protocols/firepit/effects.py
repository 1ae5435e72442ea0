"""Reads what a release does from its bytes; written from the releaser's interface, not from the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.protocols.firepit.addresses import COIN, deployments
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE

_RELEASE: Final = "function release(uint256,address[],address)"
_COST: Final = "function threshold() view returns (uint256)"
_GIVEN_UP: Final = "function RESOURCE() view returns (address)"
_TURN: Final = "function nonce() view returns (uint256)"
_INSIDE: Final = "function balanceOf(address) view returns (uint256)"


class JarEffects:
    """Reads releases."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """The threshold leaves for good; all the jar holds of each asset comes to the recipient. Raises UnknownCall."""
        at = deployments(chain.chain_id)
        if at is None or call.to != at["releaser"] or call.value or not calls(call.data, _RELEASE):
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is no release, or is sent coin")
        turn, assets, recipient = read_exactly(call.data, _RELEASE)
        if turn != int(chain.call(at["releaser"], _TURN)[0]):
            raise UnknownCall("the release's number is not the next one, so it cannot run")
        if not assets or len(set(assets)) != len(assets):
            raise UnknownCall("the release names no asset, or one twice")
        into.spends[str(chain.call(at["releaser"], _GIVEN_UP)[0])] += int(chain.call(at["releaser"], _COST)[0])
        into.recipients.append(recipient)
        for asset in assets:
            if asset == COIN:
                into.receives[NATIVE] += chain.native_balance(at["jar"])
            else:
                into.receives[asset] += int(chain.call(asset, _INSIDE, at["jar"])[0])
