"""Reads what calls to Compound V3 do from their bytes; written from the contracts' interfaces, not from the tools.

`supply` of what a market lends repays before it lends, `withdraw` takes out before it borrows: either way the position
moves by as much, and how it moves is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tools_app.protocols.compound_v3.addresses import Comet, find_comet, known_comets
from tools_app.standards.calldata import calls, most_taken, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, RightRead, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

_SUPPLY: Final = "function supply(address,uint256)"
_WITHDRAW: Final = "function withdraw(address,uint256)"
_ALLOW: Final = "function allow(address,bool)"
_CLAIM: Final = "function claim(address,address,bool)"
_LENT: Final = "function balanceOf(address) view returns (uint256)"
_COVER: Final = (
    "function getAssetInfoByAddress(address) view returns ((uint8,address,address,uint64,uint64,uint64,uint64,uint128))"
)
_DUE: Final = "function getRewardOwed(address,address) returns ((address,uint256))"
_ALL: Final = 2**256 - 1
_EVERYTHING: Final = -1


class CometEffects:
    """Reads calls to markets and to who pays their rewards."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        if call.value:
            raise UnknownCall("Compound V3 is sent coin, which it does not take")
        comet = find_comet(chain.chain_id, call.to)
        if comet is not None and calls(call.data, _SUPPLY):
            _supply(comet, read_exactly(call.data, _SUPPLY), earlier, account, chain, into)
        elif comet is not None and calls(call.data, _WITHDRAW):
            _withdraw(comet, read_exactly(call.data, _WITHDRAW), account, chain, into)
        elif comet is not None and calls(call.data, _ALLOW):
            manager, is_given = read_exactly(call.data, _ALLOW)
            into.rights.append(RightRead(call.to, manager, _EVERYTHING if is_given else 0))
        elif any(each.rewards == call.to for each in known_comets(chain.chain_id)) and calls(call.data, _CLAIM):
            _claim(read_exactly(call.data, _CLAIM), call.to, account, chain, into)
        else:
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")


def _supply(
    comet: Comet, args: tuple[Any, ...], earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects
) -> None:
    asset, amount = args
    _check_asset(comet, asset, chain)
    is_all = amount == _ALL
    if is_all and asset != comet.base:
        raise UnknownCall("of a cover the largest number is no amount")
    most = most_taken(comet.base, comet.address, earlier=earlier, account=account, chain=chain) if is_all else amount
    into.spends[asset] += most
    into.changes.append(_change(comet, asset, most, chain, is_exact=not is_all))


def _withdraw(comet: Comet, args: tuple[Any, ...], account: str, chain: ChainReader, into: Effects) -> None:
    asset, amount = args
    _check_asset(comet, asset, chain)
    is_all = amount == _ALL
    if is_all and asset != comet.base:
        raise UnknownCall("of a cover the largest number is no amount")
    least = int(chain.call(comet.address, _LENT, account)[0]) if is_all else amount
    into.receives[asset] += least
    into.recipients.append(account)
    if is_all:
        into.open_minimums.add(asset)
    into.changes.append(_change(comet, asset, -least, chain, is_exact=not is_all))


def _claim(args: tuple[Any, ...], rewards: str, account: str, chain: ChainReader, into: Effects) -> None:
    market, whose, is_counted_first = args
    comet = find_comet(chain.chain_id, market)
    if comet is None or comet.rewards != rewards:
        raise UnknownCall(f"{market} is no known market of Compound V3")
    if whose != account:
        raise UnknownCall(f"the rewards of {whose} would be claimed")
    if not is_counted_first:
        raise UnknownCall("what was earned since the last look would be left out")
    token, due = chain.call(rewards, _DUE, market, account)[0]
    into.receives[token] += due
    into.open_minimums.add(token)
    into.recipients.append(account)
    into.changes.append(_change(comet, token, -due, chain, is_exact=False))


def _change(comet: Comet, token: str, raw: int, chain: ChainReader, *, is_exact: bool) -> ChangeRead:
    ref = PositionRef("compound_v3", "market", chain.chain_id, comet.address)
    return ChangeRead("compound_v3", "market", token, raw, ref, is_exact)


def _check_asset(comet: Comet, asset: str, chain: ChainReader) -> None:
    if asset != comet.base and chain.call(comet.address, _COVER, asset)[0][1] != asset:
        raise UnknownCall(f"{asset} is no asset of the {comet.label}")
