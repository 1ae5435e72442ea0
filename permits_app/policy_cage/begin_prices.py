"""Predicts the prices a batch begins with: `_keepPrices` and `notePrices` of CageFeeds.sol. Pure.

The contract keeps the prices of the last batch in one word: 20 bits for each asset in the order of the list (an
exponent of 7 above a mantissa of 13, 0 for none), and above 200 bits the time before which no batch runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from permits_app.policy_cage.contract import RuleKind
from permits_app.policy_cage.preflight_types import Observed, Refusal, Refused
from permits_app.policy_cage.state import CageState

_BITS: Final = 20
_MANTISSA: Final = 13
_TIME_AT: Final = 200


def keep_prices(state: CageState, observed: Observed) -> Observed:
    """What was observed, with a refusal in the place of every price that jumped.

    Raises Refused where the chain's sequencer was not up for long enough, or prices that jumped were noted just now.
    """
    _check_sequencer(state, observed)
    settled_at = observed.seen_prices >> _TIME_AT
    if observed.now < settled_at:
        raise Refused("PricesNotSettled", observed.now, settled_at)
    jumped = {asset: Refusal("PriceJumped", (asset,)) for asset in list_jumped(state, observed)}
    return replace(observed, prices={**observed.prices, **jumped})


def list_jumped(state: CageState, observed: Observed) -> list[str]:
    """The assets whose price differs from that of the last batch by more than the owners let it."""
    found = []
    for index, asset in enumerate(state.assets):
        rule, price = state.asset(asset), observed.prices[asset]
        if rule is None or isinstance(price, Refusal) or not rule.most_jump_percent:
            continue
        last = read_price(observed.seen_prices, index)
        if last and abs(price[0] - last) * 100 > last * rule.most_jump_percent:
            found.append(asset)
    return found


def read_price(word: int, index: int) -> int:
    """The last batch's price of the asset at that place, rounded down to 13 bits; 0 where none is known."""
    packed = word >> _BITS * index & (1 << _BITS) - 1
    return (packed & (1 << _MANTISSA) - 1) << (packed >> _MANTISSA)


def _check_sequencer(state: CageState, observed: Observed) -> None:
    rule = state.rule(RuleKind.SEQUENCER, bytes(32))
    if not rule:
        return
    answer, since = observed.sequencer or (0, 0)
    is_up = answer == 0 and 0 < since <= observed.now
    if not is_up or observed.now - since < rule >> 160:
        raise Refused("SequencerNotUp", answer, since)
