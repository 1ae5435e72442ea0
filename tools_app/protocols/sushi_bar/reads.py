"""Reads what is told of the bar: one batch."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.sushi_bar.addresses import Place
from tools_app.protocols.sushi_bar.math import Bar
from tools_app.standards import erc20
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import PositionsUnreadable, Reads

TOTAL_SUPPLY: Final = "function totalSupply() view returns (uint256)"


def ask_bar(place: Place, account: str) -> Reads[Bar]:
    """The bar as it stands for `account`. Raises PositionsUnreadable."""
    outcomes = yield [
        ReadCall(place.bar, TOTAL_SUPPLY),
        erc20.balance_call(place.token, place.bar),
        erc20.balance_call(place.bar, account),
    ]
    if not all(each.ok for each in outcomes):
        raise PositionsUnreadable("the bar does not tell its shares, or its token what lies in it")
    shares, inside, held = (int(each.values[0]) for each in outcomes)
    return Bar(shares, inside, held)
