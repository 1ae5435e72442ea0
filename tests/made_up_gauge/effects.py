"""What the gauge's calls do, read from their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

from .addresses import DEPLOYED

NAME = "made_up_gauge"
_DEPOSIT = "function deposit(uint256)"
_WITHDRAW = "function withdraw(uint256)"
_CLAIM = bytes.fromhex("4e71d92d")
"""The selector of claim(), which takes nothing."""


class GaugeEffects:
    """One reader for all calls."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        at = DEPLOYED[chain.chain_id]
        if call.to != at["gauge"] or call.value:
            raise UnknownCall("the gauge takes no coin")
        ref = PositionRef(NAME, "stake", chain.chain_id, account)
        into.recipients.append(account)
        if calls(call.data, _DEPOSIT):
            (amount,) = read_exactly(call.data, _DEPOSIT)
            into.spends[at["token"]] += amount
            into.changes.append(ChangeRead(NAME, "stake", at["token"], amount, ref))
        elif calls(call.data, _WITHDRAW):
            (amount,) = read_exactly(call.data, _WITHDRAW)
            into.receives[at["token"]] += amount
            into.changes.append(ChangeRead(NAME, "stake", at["token"], -amount, ref))
        elif call.data == _CLAIM:
            into.open_minimums.add(at["reward"])
            into.changes.append(ChangeRead(NAME, "stake", at["reward"], 0, ref, is_exact=False))
        else:
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of the gauge is not known")
