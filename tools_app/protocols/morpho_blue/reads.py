"""Reads of Morpho Blue: markets with the interest up to the block, and what an account has in them.

Written without I/O, so that tools, the state after a simulated plan and many protocols at once are read by the same
lines. What does not answer raises PositionsUnreadable; an oracle that does not is told as no price.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tools_app.chain.networks import MULTICALL3
from tools_app.protocols.morpho_blue.addresses import MORPHO, deployments
from tools_app.protocols.morpho_blue.market import NOBODY, Holding, Market, MarketParams
from tools_app.protocols.morpho_blue.math import MarketState
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import PositionsUnreadable, Reads, gather

PARAMS: Final = "(address loanToken, address collateralToken, address oracle, address irm, uint256 lltv)"
STATE: Final = (
    "(uint128 totalSupplyAssets, uint128 totalSupplyShares, uint128 totalBorrowAssets, uint128 totalBorrowShares,"
    " uint128 lastUpdate, uint128 fee)"
)
POSITION: Final = (
    "function position(bytes32 id, address user) view"
    " returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral)"
)
MARKET: Final = f"function market(bytes32 id) view returns {STATE}"
MARKET_PARAMS: Final = f"function idToMarketParams(bytes32 id) view returns {PARAMS}"
PRICE: Final = "function price() view returns (uint256)"
BORROW_RATE: Final = f"function borrowRateView({PARAMS} marketParams, {STATE} market) view returns (uint256)"
NOW: Final = "function getCurrentBlockTimestamp() view returns (uint256 timestamp)"


def address_on(chain_id: int) -> str:
    """The contract on a chain. Raises PositionsUnreadable where there is none."""
    found = deployments(chain_id)
    if found is None:
        raise PositionsUnreadable(f"Morpho Blue is not on chain {chain_id}")
    return found[MORPHO]


def ask_holdings(chain_id: int, account: str, ids: Sequence[str]) -> Reads[tuple[Holding, ...]]:
    """What `account` has in each market, in order, empty ones included; one batch."""
    morpho = address_on(chain_id)
    outcomes = yield [ReadCall(morpho, POSITION, (bytes.fromhex(each[2:]), account)) for each in ids]
    return tuple(
        Holding(*_answer(outcome, f"what the account has in market {market}"))
        for market, outcome in zip(ids, outcomes, strict=True)
    )


def ask_markets(chain_id: int, ids: Sequence[str]) -> Reads[tuple[Market | None, ...]]:
    """The markets of these ids, in order, None for one that was never created; two batches."""
    morpho = address_on(chain_id)
    keys = [bytes.fromhex(each[2:]) for each in ids]
    params_found, states_found, (time,) = yield from gather(
        [ReadCall(morpho, MARKET_PARAMS, (key,)) for key in keys],
        [ReadCall(morpho, MARKET, (key,)) for key in keys],
        [ReadCall(MULTICALL3, NOW)],
    )
    (now,) = _answer(time, "what time it is")
    states = [MarketState(*_answer(outcome, "a market's state")) for outcome in states_found]
    created = [
        (_check(market, _read_params(outcome)), state) if state.last_update else None
        for market, outcome, state in zip(ids, params_found, states, strict=True)
    ]
    asked: list[ReadCall] = []
    for each in created:
        if each is not None:
            params, state = each
            asked.append(ReadCall(params.oracle, PRICE))
            asked.append(ReadCall(params.irm, BORROW_RATE, (params.as_tuple, _as_tuple(state))))
    answers = iter((yield asked) if asked else ())
    return tuple(None if each is None else _make_market(*each, now, answers) for each in created)


def _make_market(params: MarketParams, state: MarketState, now: int, answers: Iterator[ReadOutcome]) -> Market:
    priced, rated = next(answers), next(answers)
    has_price = params.oracle != NOBODY and priced.ok and priced.values[0] > 0
    rate = 0 if params.irm == NOBODY else int(_answer(rated, "a market's interest rate")[0])
    return Market(
        params=params,
        state=state.accrue(rate, now),
        rate=rate,
        price=int(priced.values[0]) if has_price else None,
        now=now,
    )


def _read_params(outcome: ReadOutcome) -> MarketParams:
    if not outcome.ok:
        raise PositionsUnreadable(f"Morpho Blue does not tell a market's parameters: {outcome.revert_reason}")
    return MarketParams(*outcome.values)


def _check(market: str, params: MarketParams) -> MarketParams:
    if params.id != market:
        raise PositionsUnreadable(f"the node tells parameters of market {market} that have another id")
    return params


def _as_tuple(state: MarketState) -> tuple[int, ...]:
    return (
        state.supply_assets,
        state.supply_shares,
        state.borrow_assets,
        state.borrow_shares,
        state.last_update,
        state.fee,
    )


def _answer(outcome: ReadOutcome, what: str) -> tuple[int, ...]:
    if not outcome.ok:
        raise PositionsUnreadable(f"Morpho Blue does not tell {what}: {outcome.revert_reason}")
    return outcome.values
