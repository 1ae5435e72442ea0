"""Reads what calls to known Yearn V3 vaults do from their bytes; written from the contract's interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.core.units import BPS
from tools_app.protocols.yearn.addresses import find_vault
from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.erc4626 import TO_ASSETS, VaultFamily
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

_LEAVE: Final = "function redeem(uint256,address,address,uint256)"
_MOST_JUMP_BPS: Final = 25


class VaultEffects:
    """Reads deposits, and redemptions that say how much loss is taken; one that does not say takes any, and is none."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        vault = find_vault(chain.chain_id, call.to)
        if vault is None or call.value:
            raise UnknownCall(f"{call.to} is no known vault of Yearn, or is sent coin")
        if not calls(call.data, _LEAVE):
            if call.data[:4] in _TAKE_ANY_LOSS:
                raise UnknownCall("a way out that takes any loss is not signed")
            VaultFamily("yearn").read_effects(call, vault, account, chain, into)
            return
        shares, receiver, owner, most_loss = read_exactly(call.data, _LEAVE)
        if owner != account:
            raise UnknownCall(f"the shares of {owner} would be given back")
        if most_loss > BPS:
            raise UnknownCall("more than everything would be lost")
        assets = int(chain.call(vault.address, TO_ASSETS, shares)[0])
        least = assets - assets * _MOST_JUMP_BPS // BPS
        into.receives[vault.asset] += least * (BPS - most_loss) // BPS
        into.recipients.append(receiver)
        ref = PositionRef("yearn", "vault", chain.chain_id, vault.address)
        into.changes.append(ChangeRead("yearn", "vault", vault.asset, -assets, ref, is_exact=False))


_TAKE_ANY_LOSS: Final = frozenset({bytes.fromhex("ba087652")})
"""`redeem` without a bound: Yearn takes any loss there."""
