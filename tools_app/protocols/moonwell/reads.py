"""Reads what markets say of themselves and of an account, without I/O: batches out, outcomes in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.protocols.moonwell import signatures
from tools_app.protocols.moonwell.addresses import Market, Place
from tools_app.standards import erc20
from tools_app.standards.aave_like.reads import MOST_HEALTH_BPS
from tools_app.toolkit.context import AbiValues, ReadCall, ReadOutcome
from tools_app.toolkit.lending import PPM
from tools_app.toolkit.positions import PositionsUnreadable, Reads, gather

_STATE_CALLS: Final = 12


@dataclass(frozen=True, slots=True)
class State:
    """A market at one block. Amounts are base units of what it lends, `rate` of them for a receipt in 1e18, rates a
    second in 1e18. `factor` is how much of a supply covers debts, in 1e18; `price` dollars in 1e36 over a base unit.
    A cap of 0 is none.
    """

    market: Market
    rate: int
    cash: int
    borrowed: int
    reserves: int
    supply_rate: int
    borrow_rate: int
    factor: int
    price: int
    supply_cap: int
    borrow_cap: int
    is_in_paused: bool
    is_borrow_paused: bool

    @property
    def supplied(self) -> int:
        """What all suppliers have together."""
        return max(0, self.cash + self.borrowed - self.reserves)

    @property
    def factor_bps(self) -> int:
        """How much of a supply covers debts; as much may be borrowed as is liquidated at."""
        return self.factor * 10_000 // signatures.FACTOR

    @property
    def room(self) -> int | None:
        """What the supply cap leaves."""
        return max(0, self.supply_cap - self.supplied - 1) if self.supply_cap else None

    @property
    def borrow_room(self) -> int | None:
        """What the borrow cap leaves."""
        return max(0, self.borrow_cap - self.borrowed - 1) if self.borrow_cap else None

    def worth(self, raw: int) -> int:
        """Dollars in 1e18 of base units of what it lends, rounded down."""
        return raw * self.price // signatures.FACTOR

    def amount_of(self, receipts: int) -> int:
        """Base units of what it lends for receipts, rounded down."""
        return receipts * self.rate // signatures.FACTOR


@dataclass(frozen=True, slots=True)
class Held:
    """What an account has in one market. `reward` is owed to it beside, in base units of `reward_token`."""

    state: State
    receipts: int
    owed: int
    is_member: bool
    reward_token: str = ""
    reward: int = 0

    @property
    def supplied(self) -> int:
        """Base units of what the market lends."""
        return self.state.amount_of(self.receipts)

    @property
    def cover(self) -> int:
        """Dollars in 1e18 that its supply covers of debts."""
        return self.state.worth(self.supplied) * self.state.factor // signatures.FACTOR if self.is_member else 0

    @property
    def debt(self) -> int:
        """Dollars in 1e18 that are owed."""
        return self.state.worth(self.owed)

    @property
    def is_empty(self) -> bool:
        return not (self.receipts or self.owed or self.reward)


@dataclass(frozen=True, slots=True)
class Account:
    """An account over all markets. `is_whole` is off where it has entered a market that is not known here."""

    held: tuple[Held, ...]
    is_whole: bool = True

    @property
    def cover(self) -> int:
        """Dollars in 1e18 that cover debts."""
        return sum(each.cover for each in self.held)

    @property
    def debt(self) -> int:
        """Dollars in 1e18 that are owed."""
        return sum(each.debt for each in self.held)

    @property
    def health_bps(self) -> int | None:
        """Cover over debt in basis points; None without debt."""
        return health_of(self.cover, self.debt)

    @property
    def is_empty(self) -> bool:
        return all(each.is_empty for each in self.held) and self.is_whole

    def of(self, market: Market) -> Held:
        """What it has in one market."""
        return next(each for each in self.held if each.state.market == market)


def health_of(cover: int, debt: int) -> int | None:
    """Cover over debt in basis points; None without debt."""
    return min(cover * 10_000 // debt, MOST_HEALTH_BPS) if debt > 0 else None


def yearly_ppm(rate: int) -> int:
    """A rate per second in 1e18 as millionths a year, compounded."""
    with localcontext(prec=40):
        return int(((Decimal(rate) * signatures.SECONDS_PER_YEAR / signatures.FACTOR).exp() - 1) * PPM)


def interest_in(raw: int, rate: int, seconds: int) -> int:
    """The most that `raw` grows by at a rate per second, rounded up, and a unit for each of two roundings."""
    return -(-raw * rate * seconds // signatures.FACTOR) + 2 if raw else 0


def ask_markets(place: Place) -> Reads[tuple[State, ...]]:
    """Every known market, in one batch. Raises PositionsUnreadable."""
    told = yield from gather(*(_state_calls(place, each) for each in place.markets))
    return tuple(_make_state(market, outcomes) for market, outcomes in zip(place.markets, told, strict=True))


def ask_account(place: Place, account: str) -> Reads[Account | None]:
    """An account over all known markets: a batch where it has nothing, two where it has. Raises PositionsUnreadable."""
    (entered,), *about = yield from gather(
        [ReadCall(place.comptroller, signatures.ASSETS_IN, (account,))],
        *(_first_calls(place, each, account) for each in place.markets),
    )
    members = {checksum(each) for each in answer_of(entered, "Moonwell")[0]}
    firsts = [[answer_of(each, "a market of Moonwell")[0] for each in outcomes[:2]] for outcomes in about]
    rewards = [_reward_of(outcomes[2]) for outcomes in about]
    if not members and not any(any(first) for first in firsts) and not any(raw for _, raw in rewards):
        return None
    told = yield from gather(
        *(
            [*_state_calls(place, each), ReadCall(each.address, signatures.OWED_NOW, (account,))]
            for each in place.markets
        )
    )
    held = tuple(
        Held(
            state=_make_state(market, outcomes[:_STATE_CALLS]),
            receipts=int(first[0]),
            owed=int(answer_of(outcomes[_STATE_CALLS], market.label)[0]),
            is_member=market.address in members,
            reward_token=reward[0],
            reward=reward[1],
        )
        for market, outcomes, first, reward in zip(place.markets, told, firsts, rewards, strict=True)
    )
    return Account(held, is_whole=members <= {each.address for each in place.markets})


def answer_of(outcome: ReadOutcome, who: str) -> AbiValues:
    """What was answered. Raises PositionsUnreadable."""
    if not outcome.ok:
        raise PositionsUnreadable(f"{who} does not answer: {outcome.revert_reason}")
    return outcome.values


def _first_calls(place: Place, market: Market, account: str) -> list[ReadCall]:
    return [
        erc20.balance_call(market.address, account),
        ReadCall(market.address, signatures.OWED, (account,)),
        ReadCall(place.rewards, signatures.REWARDS_DUE, (market.address, account)),
    ]


def _state_calls(place: Place, market: Market) -> list[ReadCall]:
    at, rules = market.address, place.comptroller
    return [
        ReadCall(at, signatures.RATE_NOW),
        *(
            ReadCall(at, each)
            for each in (
                signatures.CASH,
                signatures.BORROWED,
                signatures.RESERVES,
                signatures.SUPPLY_RATE,
                signatures.BORROW_RATE,
            )
        ),
        ReadCall(rules, signatures.ABOUT, (at,)),
        ReadCall(place.oracle, signatures.PRICE, (at,)),
        *(
            ReadCall(rules, each, (at,))
            for each in (signatures.SUPPLY_CAP, signatures.BORROW_CAP, signatures.MINT_PAUSED, signatures.BORROW_PAUSED)
        ),
    ]


def _make_state(market: Market, outcomes: Sequence[ReadOutcome]) -> State:
    told = [answer_of(each, market.label) for each in outcomes]
    rate, cash, borrowed, reserves, earns, costs = (int(each[0]) for each in told[:6])
    about, (price,), (supply_cap,), (borrow_cap,), (in_paused,), (borrow_paused,) = told[6:]
    return State(
        market=market,
        rate=rate,
        cash=cash,
        borrowed=borrowed,
        reserves=reserves,
        supply_rate=earns,
        borrow_rate=costs,
        factor=int(about[1]),
        price=int(price),
        supply_cap=int(supply_cap),
        borrow_cap=int(borrow_cap),
        is_in_paused=bool(in_paused),
        is_borrow_paused=bool(borrow_paused),
    )


def _reward_of(outcome: ReadOutcome) -> tuple[str, int]:
    """The reward with most of it due. Who pays them may be out of order while the market is not: then none counts."""
    due = outcome.values[0] if outcome.ok else ()
    best = max(due, key=lambda each: int(each[1]), default=None)
    return ("", 0) if best is None or not best[1] else (checksum(best[0]), int(best[1]))
