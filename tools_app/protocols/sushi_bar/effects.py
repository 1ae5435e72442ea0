"""Reads what calls to the bar do from their bytes; written from the contract's source, not from the tools."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.sushi_bar.addresses import ENTRY, NAME, deployments, place_on
from tools_app.standards.call_table import CallTable, Reading
from tools_app.toolkit.effects import UnknownCall

_SUPPLY: Final = "function totalSupply() view returns (uint256)"
_INSIDE: Final = "function balanceOf(address) view returns (uint256)"


def _enter(reading: Reading, raw: int) -> None:
    token, inside, supply = _read_bar(reading)
    reading.spend(token, raw)
    _change(reading, token, raw, inside, supply)


def _leave(reading: Reading, shares: int) -> None:
    token, inside, supply = _read_bar(reading)
    if shares > supply:
        raise UnknownCall("more shares would be given back than there are")
    given = shares * inside // supply if supply else 0
    reading.receive(token, given)
    # What is left of the account's shares is worth a rounding more or less.
    _change(reading, token, -given, inside, supply)


def _change(reading: Reading, token: str, raw: int, inside: int, supply: int) -> None:
    # An entry gives whole shares: what is left over of the last one is worth less than one.
    reading.change("stake", token, raw, "bar", rounding=-(-inside // supply) if supply else 0)


def _read_bar(reading: Reading) -> tuple[str, int, int]:
    """The token that goes in, how much of it is inside, and how many shares there are."""
    place = place_on(reading.chain.chain_id)
    return place.token, int(reading.ask(place.token, _INSIDE, place.bar)), int(reading.ask(ENTRY, _SUPPLY))


EFFECTS: Final = CallTable(
    NAME,
    deployments,
    {(ENTRY, "function enter(uint256)"): _enter, (ENTRY, "function leave(uint256)"): _leave},
)
