"""Reads what a market says of itself and of an account, without I/O: batches out, outcomes in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

from tools_app.chain.abi import checksum
from tools_app.protocols.compound_v3 import signatures
from tools_app.protocols.compound_v3.addresses import Comet
from tools_app.standards import erc20
from tools_app.standards.aave_like.reads import MOST_HEALTH_BPS
from tools_app.toolkit.context import AbiValues, ReadCall, ReadOutcome
from tools_app.toolkit.lending import PPM
from tools_app.toolkit.positions import PositionsUnreadable, Reads, gather


@dataclass(frozen=True, slots=True)
class Cover:
    """One asset that covers debts in a market. Factors are 1e18, `price` has the decimals of the base asset's price,
    `scale` is base units of a whole token.
    """

    asset: str
    feed: str
    scale: int
    borrow_factor: int
    liquidate_factor: int
    cap: int
    price: int
    total: int = 0

    @property
    def threshold_bps(self) -> int:
        """How much of its value counts before a debt is liquidated."""
        return self.liquidate_factor * 10_000 // signatures.FACTOR

    @property
    def ltv_bps(self) -> int:
        """How much of its value may be borrowed."""
        return self.borrow_factor * 10_000 // signatures.FACTOR


@dataclass(frozen=True, slots=True)
class Market:
    """A market at one block. Amounts are base units of what it lends, rates per second in 1e18."""

    comet: Comet
    supplied: int
    borrowed: int
    held: int
    supply_rate: int
    borrow_rate: int
    price: int
    base_scale: int
    feed: str
    least_debt: int
    reward_speed: int
    is_supply_paused: bool
    is_withdraw_paused: bool
    covers: tuple[Cover, ...]

    @property
    def liquidity(self) -> int:
        """What can be taken out now."""
        return 0 if self.is_withdraw_paused else self.held

    def cover_of(self, asset: str) -> Cover | None:
        """One of its covers."""
        return next((each for each in self.covers if each.asset == asset), None)

    def in_base(self, cover: Cover, raw: int) -> int:
        """Base units of what is lent that so much of a cover is worth at the market's prices, rounded down."""
        return raw * cover.price * self.base_scale // (cover.scale * self.price)


@dataclass(frozen=True, slots=True)
class Account:
    """What an account has in a market: lent, owed, and its covers by asset. `reward` is owed to it beside."""

    supplied: int
    owed: int
    covers: tuple[tuple[Cover, int], ...] = ()
    reward_token: str = ""
    reward: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.supplied or self.owed or self.covers or self.reward)

    def held(self, asset: str) -> int:
        """Base units of one cover."""
        return next((raw for cover, raw in self.covers if cover.asset == asset), 0)


def counted(market: Market, covers: Sequence[tuple[Cover, int]], *, to_borrow: bool = False) -> int:
    """Convert covers into base units of the lent token, at the factors for liquidation or for borrowing."""
    return sum(
        market.in_base(cover, raw) * (cover.borrow_factor if to_borrow else cover.liquidate_factor) // signatures.FACTOR
        for cover, raw in covers
    )


def health_of(cover: int, owed: int) -> int | None:
    """Cover over debt in basis points; None without debt."""
    return min(cover * 10_000 // owed, MOST_HEALTH_BPS) if owed > 0 else None


def yearly_ppm(rate: int) -> int:
    """A rate per second in 1e18 as millionths a year, compounded."""
    with localcontext(prec=40):
        return int(((Decimal(rate) * signatures.SECONDS_PER_YEAR / signatures.FACTOR).exp() - 1) * PPM)


def interest_in(raw: int, rate: int, seconds: int) -> int:
    """The most that `raw` grows by at a rate per second, rounded up, and a unit for each of two roundings."""
    return -(-raw * rate * seconds // signatures.FACTOR) + 2


def account_calls(comet: Comet, account: str) -> list[ReadCall]:
    """What the first look at an account asks."""
    return [
        ReadCall(comet.address, signatures.BALANCE, (account,)),
        ReadCall(comet.address, signatures.OWED, (account,)),
        ReadCall(comet.address, signatures.BASIC, (account,)),
        ReadCall(comet.rewards, signatures.REWARD_OWED, (comet.address, account)),
    ]


def ask_accounts(comets: Sequence[Comet], account: str) -> Reads[tuple[Account, ...]]:
    """What an account has in each market: one batch where it has nothing, three where it has covers.

    Raises PositionsUnreadable.
    """
    told = yield from gather(*(account_calls(each, account) for each in comets))
    places = [
        (number, bit)
        for number, outcomes in enumerate(told)
        for bit in _bits(answer_of(outcomes[2], comets[number].label))
    ]
    infos = (
        yield [ReadCall(comets[number].address, signatures.ASSET, (bit,)) for number, bit in places] if places else []
    )
    asked: list[ReadCall] = []
    for (number, _), info in zip(places, infos, strict=True):
        at, (data,) = comets[number].address, answer_of(info, comets[number].label)
        asked += [ReadCall(at, signatures.COVER, (account, data[1])), ReadCall(at, signatures.PRICE, (data[2],))]
    held = yield asked
    covers: dict[int, list[tuple[Cover, int]]] = {}
    for index, ((number, _), info) in enumerate(zip(places, infos, strict=True)):
        raw = int(answer_of(held[2 * index], "a market")[0])
        [price] = answer_of(held[2 * index + 1], "a market's price feed")
        if raw:
            covers.setdefault(number, []).append((_make_cover(answer_of(info, "a market")[0], price), raw))
    return tuple(
        _make_account(comets[number], outcomes, tuple(covers.get(number, ()))) for number, outcomes in enumerate(told)
    )


def ask_market(comet: Comet, *, with_covers: bool = True) -> Reads[Market]:
    """A market with all its covers in three batches; without them in two. Raises PositionsUnreadable."""
    at = comet.address
    words_asked = (
        signatures.COUNT,
        signatures.SUPPLIED,
        signatures.BORROWED,
        signatures.UTILIZATION,
        signatures.BASE_FEED,
        signatures.LEAST_DEBT,
        signatures.SUPPLY_SPEED,
        signatures.SUPPLY_PAUSED,
        signatures.WITHDRAW_PAUSED,
        signatures.BASE_SCALE,
    )
    first, (balance,) = yield from gather(
        [ReadCall(at, each) for each in words_asked],
        [erc20.balance_call(comet.base, at)],
    )
    values = [answer_of(each, comet.label)[0] for each in first]
    count, supplied, borrowed, used, feed, least, speed, is_in_paused, is_out_paused, scale = values
    infos, rates = yield from gather(
        [ReadCall(at, signatures.ASSET, (number,)) for number in range(count if with_covers else 0)],
        [
            ReadCall(at, signatures.SUPPLY_RATE, (used,)),
            ReadCall(at, signatures.BORROW_RATE, (used,)),
            ReadCall(at, signatures.PRICE, (feed,)),
        ],
    )
    data = [answer_of(each, comet.label)[0] for each in infos]
    prices: Sequence[ReadOutcome] = ()
    totals: Sequence[ReadOutcome] = ()
    if data:
        prices, totals = yield from gather(
            [ReadCall(at, signatures.PRICE, (each[2],)) for each in data],
            [ReadCall(at, signatures.COVERS, (each[1],)) for each in data],
        )
    earns, costs, price = (int(answer_of(each, comet.label)[0]) for each in rates)
    return Market(
        comet=comet,
        supplied=supplied,
        borrowed=borrowed,
        held=int(answer_of(balance, comet.label)[0]),
        supply_rate=earns,
        borrow_rate=costs,
        price=price,
        base_scale=scale,
        feed=checksum(feed),
        least_debt=least,
        reward_speed=speed,
        is_supply_paused=is_in_paused,
        is_withdraw_paused=is_out_paused,
        covers=tuple(
            _make_cover(each, answer_of(told, comet.label)[0], int(answer_of(total, comet.label)[0]))
            for each, told, total in zip(data, prices, totals, strict=True)
        ),
    )


def answer_of(outcome: ReadOutcome, who: str) -> AbiValues:
    """What was answered. Raises PositionsUnreadable."""
    if not outcome.ok:
        raise PositionsUnreadable(f"{who} does not answer: {outcome.revert_reason}")
    return outcome.values


def _make_cover(data: Any, price: int, total: int = 0) -> Cover:  # Any: a value of the ABI's type
    _, asset, feed, scale, borrow, liquidate, _, cap = data
    return Cover(checksum(asset), checksum(feed), scale, borrow, liquidate, cap, int(price), total)


def _make_account(comet: Comet, outcomes: Sequence[ReadOutcome], covers: tuple[tuple[Cover, int], ...]) -> Account:
    supplied, owed = (int(answer_of(each, comet.label)[0]) for each in outcomes[:2])
    # Who pays rewards may be out of order while the market is not: nothing of them counts then.
    token, reward = outcomes[3].values[0] if outcomes[3].ok else ("", 0)
    return Account(supplied, owed, covers, checksum(token) if token else "", int(reward))


def _bits(basic: AbiValues) -> list[int]:
    """Numbers of the covers that an account has; of newer markets the upper ones stand in the last word."""
    bits = int(basic[3]) | int(basic[4]) << 16
    return [number for number in range(24) if bits >> number & 1]
