"""Reads what calls to sUSDe do from their bytes; written from the contract's interface, not from the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.protocols.ethena.addresses import find_vault
from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.erc4626 import TO_ASSETS, VaultFamily
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

_COOL: Final = "function cooldownShares(uint256)"
_CLAIM: Final = "function unstake(address)"
_APPROVE: Final = "function approve(address,uint256)"
_WAITS: Final = "function cooldowns(address) view returns (uint104,uint152)"


class StakedEffects:
    """Reads stakes, exits, cooldowns and claims."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        vault = find_vault(chain.chain_id)
        if vault is None or call.to != vault.address or call.value:
            raise UnknownCall(f"{call.to} is not sUSDe, or is sent coin, which it does not take")
        stake = PositionRef("ethena", "stake", chain.chain_id, vault.address)
        waits = PositionRef("ethena", "request", chain.chain_id, "cooldown")
        if calls(call.data, _COOL):
            (shares,) = read_exactly(call.data, _COOL)
            worth = int(chain.call(vault.address, TO_ASSETS, shares)[0])
            # Rewards drip in until the call, and what a share stands for grows with them.
            into.changes.append(ChangeRead("ethena", "stake", vault.asset, -worth, stake, is_exact=False))
            into.changes.append(ChangeRead("ethena", "request", vault.asset, worth, waits, is_exact=False))
        elif calls(call.data, _CLAIM):
            (receiver,) = read_exactly(call.data, _CLAIM)
            if receiver != account:
                raise UnknownCall(f"what cooled down would be {receiver}'s")
            cooled = int(chain.call(vault.address, _WAITS, account)[1])
            if not cooled:
                raise UnknownCall("nothing cools down")
            into.receives[vault.asset] += cooled
            into.changes.append(ChangeRead("ethena", "request", vault.asset, -cooled, waits))
        elif calls(call.data, _APPROVE):
            spender, amount = read_exactly(call.data, _APPROVE)
            into.approvals.append((call.to, spender, amount))
        else:
            VaultFamily("ethena", "stake").read_effects(call, vault, account, chain, into)

    def read_claim(self, token: str, raw: int, *, chain: ChainReader) -> ChangeRead | None:
        """What sUSDe that is traded takes from the position, or brings to it."""
        vault = find_vault(chain.chain_id)
        if vault is None or token != vault.address:
            return None
        worth = (1 if raw > 0 else -1) * int(chain.call(token, TO_ASSETS, abs(raw))[0])
        ref = PositionRef("ethena", "stake", chain.chain_id, vault.address)
        return ChangeRead("ethena", "stake", vault.asset, worth, ref, is_exact=False)
