"""Reads what calls to the bar do from their bytes; written from the contract's source, not from the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.protocols.sushi_bar.addresses import find_place
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

_ENTER: Final = "function enter(uint256)"
_LEAVE: Final = "function leave(uint256)"
_SUPPLY: Final = "function totalSupply() view returns (uint256)"
_INSIDE: Final = "function balanceOf(address) view returns (uint256)"


class BarEffects:
    """Reads entries and exits."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        place = find_place(chain.chain_id)
        if place is None or call.to != place.bar or call.value:
            raise UnknownCall(f"{call.to} is no bar, or is sent coin, which it does not take")
        supply = int(chain.call(place.bar, _SUPPLY)[0])
        inside = int(chain.call(place.token, _INSIDE, place.bar)[0])
        # An entry gives whole shares: what is left over of the last one is worth less than one.
        rounding = -(-inside // supply) if supply else 0
        if calls(call.data, _ENTER):
            (raw,) = read_exactly(call.data, _ENTER)
            into.spends[place.token] += raw
        elif calls(call.data, _LEAVE):
            (shares,) = read_exactly(call.data, _LEAVE)
            if shares > supply:
                raise UnknownCall("more shares would be given back than there are")
            given = shares * inside // supply if supply else 0
            into.receives[place.token] += given
            # What is left of the account's shares is worth a rounding more or less.
            raw = -given
        else:
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of the bar is not known")
        ref = PositionRef("sushi_bar", "stake", chain.chain_id, "bar")
        into.changes.append(ChangeRead("sushi_bar", "stake", place.token, raw, ref, rounding=rounding))
