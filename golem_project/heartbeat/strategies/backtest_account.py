"""A made-up account for dry runs: a wallet, what it lends, a range of liquidity and loans, at given prices. No chain.

Everything is in base units; what it is worth is told as holdings tell it. Loans bear no interest and a range earns no
fees here: neither is known of the past.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from golem_project.heartbeat.debt_health import Alarm, WatchedDebt
from golem_project.heartbeat.liquidity_plan import RuleWish
from golem_project.heartbeat.liquidity_rule import LiquidityRule
from golem_project.heartbeat.observation import Observation, ObservedPosition, ObservedToken
from golem_project.heartbeat.strategies.backtest_market import DryLoan, DryRange, PlaceKey, PricesAt, feed_of
from golem_project.heartbeat.strategies.strategy import SeenPlace, Sight
from golem_project.heartbeat.strategies.yield_rotation import MOVE_IN, MOVE_OUT, YieldRotation
from tools_app.core.units import BPS
from tools_app.portfolio.holdings import HeldPosition, Holdings, value_of
from tools_app.standards.concentrated import (
    amounts_for_liquidity,
    ceil_to_spacing,
    floor_to_spacing,
    liquidity_for_amounts,
    sqrt_price_at_tick,
    sqrt_price_of_ratio,
    sqrt_price_of_text,
    tick_at_sqrt_price,
)
from tools_app.subsystems.intel.gas_advice import TYPICAL_GAS
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.lending import PPM
from tools_app.toolkit.markets import Pool, sort_tokens
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import NATIVE, BlockRef, TokenMeta
from tools_app.toolkit.yields import YieldOffer

YEAR_SECONDS: Final = 365 * 86_400
_SPACING: Final = {100: 1, 500: 10, 3_000: 60, 10_000: 200}
"""Between usable ticks, by the fee of a pool."""
_GAS: Final[Mapping[str, int]] = {
    "swap": TYPICAL_GAS["APPROVE"] + TYPICAL_GAS["SWAP"],
    "add_liquidity": 2 * TYPICAL_GAS["APPROVE"] + TYPICAL_GAS["ADD_LIQUIDITY"],
    "remove_liquidity": TYPICAL_GAS["REMOVE_LIQUIDITY"],
    "auto_deleverage": TYPICAL_GAS["SWAP"] + TYPICAL_GAS["REPAY"] + TYPICAL_GAS["SUPPLY"],
}
_GAS_OF_A_MOVE: Final = TYPICAL_GAS["APPROVE"] + TYPICAL_GAS["SUPPLY"]


@dataclass
class DryAccount:
    """`held` is the wallet by symbol, `lent` base units by place. `offers` are where the token that rotates could
    earn. `gas_wei` is what a unit of gas costs, and `paid_micro_usd` what was paid for it.
    """

    tokens: Sequence[TokenMeta]
    held: dict[str, int]
    rotation: YieldRotation | None = None
    offers: Sequence[YieldOffer] = ()
    lent: dict[PlaceKey, int] = field(default_factory=dict)
    loans: list[DryLoan] = field(default_factory=list)
    rule: LiquidityRule | None = None
    range: DryRange | None = None
    gas_wei: int = 0
    cost_bps: int = 0
    paid_micro_usd: int = 0

    def look(self, point: PricesAt, done: Mapping[str, datetime]) -> Sight:
        """What strategies see of it."""
        return Sight(
            now=point.at,
            account="dry",
            phase=Phase.THRIVING,
            tokens=self._observe(point),
            debts=tuple(self._watch(each, point) for each in self.loans),
            whole=Holdings((), tuple(self._as_held(each) for each in self.loans)),
            last_done=done,
            places=tuple(
                SeenPlace(
                    replace(each, yearly_ppm=self._rate(each, point)), self._rotating(), self.lent.get(_key(each), 0)
                )
                for each in self.offers
            ),
            gas_wei=self.gas_wei,
        )

    def observe(self, point: PricesAt) -> Observation:
        """What the rule of liquidity sees of it: its pool stands where the feeds do."""
        pool = self._pool(point)
        if pool is None:
            return Observation()
        ranges = (replace(self.range, pool=pool),) if self.range is not None else ()
        return Observation(
            block=BlockRef(0, "", int(point.at.timestamp()), self.gas_wei // 2),
            holdings=self._observe(point),
            positions=tuple(ObservedPosition(each, self._weigh_range(each, point), 0) for each in ranges),
            pool=pool,
            deviation_bps=0,
        )

    def pass_time(self, before: PricesAt, point: PricesAt) -> int:
        """What lies at places earns what they paid since `before`; micro-USD of it at the prices of now."""
        seconds = int((point.at - before.at).total_seconds())
        first = self.worth(point)
        for each in self.offers:
            raw = self.lent.get(_key(each), 0)
            if raw:
                rate = max(0, self._rate(each, before) or 0)
                self.lent[_key(each)] = raw + raw * rate * seconds // (PPM * YEAR_SECONDS)
        return self.worth(point) - first

    def worth(self, point: PricesAt) -> int:
        """Micro-USD of all of it, less the gas that was paid."""
        wallet = sum(each.micro_usd or 0 for each in self._observe(point))
        token = self._find(self.rotation.token) if self.rotation is not None else None
        lent = sum(self.lent.values())
        lent_usd = value_of(lent, token, feed_of(point, token)) if token is not None else 0
        loans = sum(sum(self._micro(each, point).values()) for each in self.loans)
        pool = self._pool(point) if self.range is not None else None
        in_range = (
            self._weigh_range(replace(self.range, pool=pool), point)
            if self.range is not None and pool is not None
            else 0
        )
        return wallet + lent_usd + loans + in_range - self.paid_micro_usd

    def list_liquidated(self, point: PricesAt) -> list[str]:
        """Labels of the loans whose cover is less than what is owed against it."""
        return [each.held.position.label for each in self.loans if each.health_bps(self._micro(each, point)) < BPS]

    def carry_out(self, wish: RuleWish, sight: Sight, point: PricesAt) -> tuple[str, int, str, int] | None:
        """Do what is wished at the prices of now: what was given and got, by name and base units. None for what cannot
        be done, or brings nothing.
        """
        if wish.key in (MOVE_IN, MOVE_OUT):
            done = self._move(sight)
        elif wish.action_type == "swap":
            done = self._swap(wish, sight)
        elif wish.action_type == "auto_deleverage":
            done = self._lower(wish, point)
        elif wish.action_type == "add_liquidity":
            done = self._open(wish, point)
        elif wish.action_type == "remove_liquidity":
            done = self._close(point)
        else:
            done = None
        if done is not None:
            self.paid_micro_usd += self._gas_of(wish, point)
        return done

    def _swap(self, wish: RuleWish, sight: Sight) -> tuple[str, int, str, int] | None:
        sold, bought = (sight.token(str(wish.params.get(name, ""))) for name in ("token_in", "token_out"))
        if sold is None or bought is None:
            return None
        raw = int(wish.params["amount"])
        given = replace(sold, raw=raw).micro_usd or 0
        got = bought.raw_worth(given * (BPS - self.cost_bps) // BPS) or 0
        if not 0 < raw <= self.held[sold.token.symbol] or not got:
            return None
        self.held[sold.token.symbol] -= raw
        self.held[bought.token.symbol] += got
        return sold.token.symbol, raw, bought.token.symbol, got

    def _move(self, sight: Sight) -> tuple[str, int, str, int] | None:
        move = self.rotation.choose(sight) if self.rotation is not None else None
        token = self._find(self.rotation.token) if self.rotation is not None else None
        if move is None or token is None:
            return None
        key, taken = _key(move.place.offer), move.raw * move.place.offer.entry_ppm // PPM
        where = f"{token.symbol} at {move.place.offer.label}"
        if move.is_leaving:
            self.lent[key] -= move.raw
            self.held[token.symbol] += move.raw
            return where, move.raw, token.symbol, move.raw
        self.held[token.symbol] -= move.raw
        self.lent[key] = self.lent.get(key, 0) + move.raw - taken
        return token.symbol, move.raw, where, move.raw - taken

    def _lower(self, wish: RuleWish, point: PricesAt) -> tuple[str, int, str, int] | None:
        """Sell so much of the largest cover and pay the largest debt that its health is as it was wished."""
        loan = next((each for each in self.loans if str(each.held.ref) == wish.params["position"]), None)
        if loan is None:
            return None
        whole, _, parts = str(wish.params["target_health_factor"]).partition(".")
        target = int(whole) * BPS + int(parts)
        micro = self._micro(loan, point)
        covers = [leg for leg in loan.legs if leg.raw > 0 and leg.cover_bps]
        debts = [leg for leg in loan.legs if leg.raw < 0]
        if not covers or not debts:
            return None
        cover, debt = (max(legs, key=lambda leg: abs(micro[leg.token])) for legs in (covers, debts))
        counted = sum(micro[leg.token] * leg.cover_bps for leg in loan.legs if leg.raw > 0)
        owed = -sum(micro[leg.token] for leg in loan.legs if leg.raw < 0)
        keeps = BPS - self.cost_bps
        per_dollar = target * keeps - cover.cover_bps * BPS
        if per_dollar <= 0:
            return None
        sold_usd = min((target * owed - counted) * BPS // per_dollar + 1, micro[cover.token])
        sold = cover.raw * sold_usd // max(1, micro[cover.token])
        paid = min(-debt.raw, -debt.raw * (sold_usd * keeps // BPS) // max(1, -micro[debt.token]))
        if sold <= 0 or paid <= 0:
            return None
        changed = {cover: cover.with_raw(cover.raw - sold), debt: debt.with_raw(debt.raw + paid)}
        loan.legs = tuple(changed.get(leg, leg) for leg in loan.legs)
        return self._name(cover.token), sold, f"debt in {self._name(debt.token)}", paid

    def _open(self, wish: RuleWish, point: PricesAt) -> tuple[str, int, str, int] | None:
        pool, params = self._pool(point), wish.params
        if pool is None or self.rule is None or self.range is not None:
            return None
        first, second = (self._by_address(each) for each in (pool.token0, pool.token1))
        lower, upper = (
            tick_at_sqrt_price(sqrt_price_of_text(params[name], decimals0=first.decimals, decimals1=second.decimals))
            for name in ("price_lower", "price_upper")
        )
        spacing = _SPACING[self.rule.fee_tier]
        ends = floor_to_spacing(lower, spacing), ceil_to_spacing(upper, spacing)
        roots = tuple(map(sqrt_price_at_tick, ends))
        given = int(params["amount0"]), int(params["amount1"])
        liquidity = liquidity_for_amounts(pool.sqrt_price, roots[0], roots[1], *given)
        taken = amounts_for_liquidity(pool.sqrt_price, roots[0], roots[1], liquidity, round_up=True)
        if not liquidity or taken[0] > self.held[first.symbol] or taken[1] > self.held[second.symbol]:
            return None
        self.held[first.symbol] -= taken[0]
        self.held[second.symbol] -= taken[1]
        self.range = DryRange(pool, *ends, liquidity)
        return first.symbol, taken[0], second.symbol, taken[1]

    def _close(self, point: PricesAt) -> tuple[str, int, str, int] | None:
        pool = self._pool(point)
        if pool is None or self.range is None:
            return None
        first, second = (self._by_address(each) for each in (pool.token0, pool.token1))
        got = replace(self.range, pool=pool).amounts()
        self.held[first.symbol] += got[0]
        self.held[second.symbol] += got[1]
        self.range = None
        return first.symbol, got[0], second.symbol, got[1]

    def _gas_of(self, wish: RuleWish, point: PricesAt) -> int:
        coin = next((each for each in self.tokens if each.address == NATIVE), None)
        if coin is None:
            return 0
        gas = _GAS.get(wish.action_type, _GAS_OF_A_MOVE)
        return value_of(gas * self.gas_wei, coin, feed_of(point, coin))

    def _observe(self, point: PricesAt) -> tuple[ObservedToken, ...]:
        return tuple(ObservedToken(each, self.held[each.symbol], feed_of(point, each)) for each in self.tokens)

    def _rotating(self) -> str:
        token = self._find(self.rotation.token) if self.rotation is not None else None
        return token.address if token is not None else ""

    def _rate(self, offer: YieldOffer, point: PricesAt) -> int | None:
        return point.yearly_ppm.get(_key(offer), offer.yearly_ppm)

    def _micro(self, loan: DryLoan, point: PricesAt) -> dict[str, int]:
        found: dict[str, int] = {}
        for leg in loan.legs:
            token = self._by_address(leg.token)
            found[leg.token] = found.get(leg.token, 0) + value_of(leg.raw, token, feed_of(point, token))
        return found

    def _watch(self, loan: DryLoan, point: PricesAt) -> WatchedDebt:
        health = loan.health_bps(self._micro(loan, point))
        return WatchedDebt(str(loan.held.ref), loan.held.position.label, health, 0, Alarm.CALM)

    def _as_held(self, loan: DryLoan) -> HeldPosition:
        return replace(loan.held, position=replace(loan.held.position, legs=loan.legs, health_bps=None))

    def _pool(self, point: PricesAt) -> Pool | None:
        if self.rule is None:
            return None
        pair = self._find(self.rule.token_a), self._find(self.rule.token_b)
        if pair[0] is None or pair[1] is None:
            return None
        token0, token1 = (self._by_address(each) for each in sort_tokens(pair[0].address, pair[1].address))
        root = sqrt_price_of_ratio(
            point.micro_usd[token0.symbol] * 10**token1.decimals, point.micro_usd[token1.symbol] * 10**token0.decimals
        )
        return Pool(
            "v3",
            PoolId("dry"),
            token0.address,
            token1.address,
            self.rule.fee_tier,
            sqrt_price=root,
            pool_tick=tick_at_sqrt_price(root),
            liquidity=1,
            protocol="dry",
        )

    def _weigh_range(self, held: DryRange, point: PricesAt) -> int:
        pair = (self._by_address(each) for each in (held.pool.token0, held.pool.token1))
        return sum(value_of(raw, token, feed_of(point, token)) for token, raw in zip(pair, held.amounts(), strict=True))

    def _find(self, name: str) -> TokenMeta | None:
        wanted = name.casefold()
        return next((each for each in self.tokens if wanted in (each.symbol.casefold(), each.address.casefold())), None)

    def _by_address(self, address: str) -> TokenMeta:
        return next(each for each in self.tokens if each.address == address)

    def _name(self, address: str) -> str:
        return self._by_address(address).symbol


def _key(offer: YieldOffer) -> PlaceKey:
    return (offer.protocol, offer.place)
