"""Reads what calls to Compound V3 do from their bytes; written from the contracts' interfaces, not from the tools.

`supply` of what a market lends repays before it lends, `withdraw` takes out before it borrows: either way the position
moves by as much, and how it moves is measured.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.compound_v3.addresses import COMETS, NAME, REWARDS, Comet, deployments, find_comet
from tools_app.standards.call_table import CallTable, Reading
from tools_app.toolkit.effects import RightRead, UnknownCall

_KIND: Final = "market"
_LENT: Final = "function balanceOf(address) view returns (uint256)"
_COVER: Final = (
    "function getAssetInfoByAddress(address) view returns ((uint8,address,address,uint64,uint64,uint64,uint64,uint128))"
)
_DUE: Final = "function getRewardOwed(address,address) returns ((address,uint256))"
_ALL: Final = 2**256 - 1
_EVERYTHING: Final = -1


def _supply(reading: Reading, asset: str, amount: int) -> None:
    comet, is_all = _enter(reading, asset, amount)
    most = reading.most_taken(comet.base) if is_all else amount
    reading.spend(asset, most)
    reading.change(_KIND, asset, most, comet.address, is_exact=not is_all)


def _withdraw(reading: Reading, asset: str, amount: int) -> None:
    comet, is_all = _enter(reading, asset, amount)
    least = int(reading.ask(comet.address, _LENT, reading.account)) if is_all else amount
    reading.pay_out(asset, least, is_open=is_all)
    reading.change(_KIND, asset, -least, comet.address, is_exact=not is_all)


def _allow(reading: Reading, manager: str, is_given: bool) -> None:
    _comet_at(reading, reading.call.to)
    reading.into.rights.append(RightRead(reading.call.to, manager, _EVERYTHING if is_given else 0))


def _claim(reading: Reading, market: str, whose: str, is_counted_first: bool) -> None:
    comet = _comet_at(reading, market)
    reading.check_own(whose, "the rewards")
    if not is_counted_first:
        raise UnknownCall("what was earned since the last look would be left out")
    token, due = reading.ask(REWARDS, _DUE, market, reading.account)
    reading.pay_out(token, due, is_open=True)
    reading.change(_KIND, token, -due, comet.address, is_exact=False)


def _enter(reading: Reading, asset: str, amount: int) -> tuple[Comet, bool]:
    """The market, and whether the call says the largest number, which means everything of what it lends."""
    comet, is_all = _comet_at(reading, reading.call.to), amount == _ALL
    if asset != comet.base:
        if reading.ask(comet.address, _COVER, asset)[1] != asset:
            raise UnknownCall(f"{asset} is no asset of the {comet.label}")
        if is_all:
            raise UnknownCall("of a cover the largest number is no amount")
    return comet, is_all


def _comet_at(reading: Reading, address: str) -> Comet:
    comet = find_comet(reading.chain.chain_id, address)
    if comet is None:
        raise UnknownCall(f"{address} is no known market of Compound V3")
    return comet


_OF_A_MARKET: Final = {
    "function supply(address,uint256)": _supply,
    "function withdraw(address,uint256)": _withdraw,
    "function allow(address,bool)": _allow,
}
EFFECTS: Final = CallTable(
    NAME,
    deployments,
    {
        **{(key, signature): say for key in COMETS for signature, say in _OF_A_MARKET.items()},
        (REWARDS, "function claim(address,address,bool)"): _claim,
    },
)
