"""One verb at a market in the making: the market, the account, and what would be refused, told before it is tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from tools_app.chain.abi import encode_call
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.protocols.compound_v3 import signatures
from tools_app.protocols.compound_v3.addresses import NAME, Comet, comets_on
from tools_app.protocols.compound_v3.errors import DebtTooSmall, LendsHere, OwesHere
from tools_app.protocols.compound_v3.positions import KIND, ref_of
from tools_app.protocols.compound_v3.reads import (
    Account,
    Cover,
    Market,
    ask_accounts,
    ask_market,
    counted,
    health_of,
    interest_in,
    yearly_ppm,
)
from tools_app.standards.aave_like.plans import PLAN_SECONDS, ROUNDING
from tools_app.standards.format_loan_figures import percent, show, show_health_of
from tools_app.standards.loan_refusals import close_market, refuse_health
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS, LEAST_FREE_BPS, MarketNotFound
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionChange, drive, side_by_side
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class Desk:
    """A market as an account meets it."""

    reader: ChainReader
    account: str
    market: Market
    own: Account
    base: TokenMeta

    @property
    def comet(self) -> Comet:
        return self.market.comet

    @property
    def cover(self) -> int:
        """Base units of what is lent that the account's covers count for before it is liquidated."""
        return counted(self.market, self.own.covers)

    def draft(self) -> PlanDraft:
        return PlanDraft(self.reader.chain_id, self.account)

    def chosen(self, asset: str | None) -> tuple[TokenMeta, Cover | None]:
        """The token that is meant, and the cover it is; without a word what the market lends. Raises InvalidParams."""
        if asset is None:
            return self.base, None
        token = self.reader.token(asset)
        cover = self.market.cover_of(token.address)
        if token.address != self.base.address and cover is None:
            known = [self.base.symbol, *(self.reader.token(each.asset).symbol for each in self.market.covers)]
            raise InvalidParams(
                f"{token.symbol} is no asset of the {self.comet.label}; it has {', '.join(known)}",
                fields={"asset": "not of this market"},
                fill={"asset": {"one_of": known}},
            )
        return token, cover

    def call(self, signature: str, token: TokenMeta, amount: int, verb: str, shown: int) -> Call:
        """A call to the market; `shown` is the amount in words."""
        data = encode_call(signature, token.address, amount)
        return Call(self.comet.address, data, 0, f"{verb} {show(shown, token)} at Compound V3")

    def change(self, token: str, expected: int, bound: int, *, keeps_health: bool = False) -> PositionChange:
        """What is promised of the account's legs of a token."""
        least = DEFAULT_HEALTH_FLOOR_BPS if keeps_health else None
        return PositionChange(NAME, KIND, token, expected, bound, ref_of(self.reader.chain_id, self.comet), least)

    def debt_in_a_while(self, owed: int) -> int:
        """A debt with the interest until a plan is carried out."""
        return owed + interest_in(owed, self.market.borrow_rate, PLAN_SECONDS) if owed else 0

    def before(self, action: str) -> dict[str, str]:
        """The call that has to come before another one: all of what is lent or owed there."""
        return {"action_type": action, "venue": NAME, "market": self.base.symbol, "amount": "max"}

    def check_supply(self, amount: int, token: TokenMeta, cover: Cover | None) -> None:
        """Raises MarketClosed, OwesHere."""
        if self.market.is_supply_paused:
            self.close("paused", "takes nothing in: its guardians paused it")
        if cover is None:
            if self.own.owed:
                raise OwesHere(
                    f"{show(self.own.owed, self.base)} is owed there, and what is put in would repay"
                    " it: compound_v3_repay with max first",
                    owed=str(self.own.owed),
                    next=self.before("repay"),
                )
            self.check_used()
        elif cover.total + amount > cover.cap:
            room = max(0, cover.cap - cover.total)
            self.close("supply_cap", f"takes {show(room, token)} more under its supply cap", room=room)

    def check_used(self) -> None:
        """Nothing enters a market that has next to nothing to give out. Raises MarketClosed."""
        if self.market.held * 10_000 < self.market.supplied * LEAST_FREE_BPS:
            self.close("used", f"is lent out whole: {show(self.market.held, self.base)} can be taken out now")

    def check_open_out(self) -> None:
        """Raises MarketClosed."""
        if self.market.is_withdraw_paused:
            self.close("paused", "gives nothing out: its guardians paused it; debts may be repaid")

    def check_liquidity(self, amount: int) -> None:
        """Raises MarketClosed."""
        if amount > self.market.liquidity:
            room = self.market.liquidity
            self.close("liquidity", f"has {show(room, self.base)} to take out now", room=room)

    def most_borrowed(self) -> int:
        """Base units that both the market and the floor let through beside what is owed."""
        by_floor = self.cover * 10_000 // DEFAULT_HEALTH_FLOOR_BPS
        by_market = counted(self.market, self.own.covers, to_borrow=True)
        most = min(by_floor, by_market) - self.debt_in_a_while(self.own.owed)
        return max(0, most - interest_in(max(0, most), self.market.borrow_rate, PLAN_SECONDS))

    def check_borrow(self, amount: int) -> None:
        """Raises MarketClosed, LendsHere, DebtTooSmall, HealthTooLow naming the most that passes."""
        self.check_open_out()
        self.check_used()
        self.check_liquidity(amount)
        if self.own.supplied:
            raise LendsHere(
                f"{show(self.own.supplied, self.base)} is lent there and would be taken out first:"
                " compound_v3_withdraw with max does that",
                supplied=str(self.own.supplied),
                next=self.before("withdraw"),
            )
        if self.own.owed + amount < self.market.least_debt:
            raise DebtTooSmall(
                f"the market lends {show(self.market.least_debt, self.base)} or more to one account",
                least=str(self.market.least_debt),
                fill={
                    "amount": {
                        "least": str(self.market.least_debt - self.own.owed),
                        "unit": f"base units of {self.base.symbol}",
                    }
                },
            )
        room = self.most_borrowed()
        if amount > room:
            refuse_health(f"borrowing {show(amount, self.base)}", room, self.base)

    def most_released(self, cover: Cover) -> int:
        """Base units of a cover that the debt does not need."""
        held, owed = self.own.held(cover.asset), self.debt_in_a_while(self.own.owed)
        if not owed:
            return held
        spare = self.cover - -(-owed * DEFAULT_HEALTH_FLOOR_BPS // 10_000)
        spare_to_borrow = counted(self.market, self.own.covers, to_borrow=True) - owed
        rooms = [
            max(0, left - ROUNDING) * signatures.FACTOR // factor
            for left, factor in ((spare, cover.liquidate_factor), (spare_to_borrow, cover.borrow_factor))
            if factor
        ]
        room = min(rooms, default=0)
        return min(held, room * self.market.price * cover.scale // (cover.price * self.market.base_scale))

    def check_release(self, amount: int, token: TokenMeta, cover: Cover) -> None:
        """Raises HealthTooLow naming the most that passes."""
        room = self.most_released(cover)
        if amount > room:
            refuse_health(f"taking {show(amount, token)} out", room, token)

    def ratio_bps(self, *, owed: int, less: int = 0) -> int | None:
        """Covers over debt by value, with `less` base units of cover taken out; None without debt."""
        worth = sum(self.market.in_base(cover, raw) for cover, raw in self.own.covers) - less
        return max(0, worth) * 10_000 // owed if owed > 0 else None

    def details(self, *, cover: int, owed: int) -> JsonObject:
        """What the permit tells, with cover and debt as they are afterwards."""
        before, after = health_of(self.cover, self.own.owed), health_of(cover, owed)
        return {
            "venue": NAME,
            "market": self.base.symbol,
            "comet": self.comet.address,
            "supply_apy_pct": percent(yearly_ppm(self.market.supply_rate)),
            "borrow_apy_pct": percent(yearly_ppm(self.market.borrow_rate)),
            "health_factor_before": show_health_of(before),
            "health_factor_after": show_health_of(after),
            "owed_after": str(owed),
        }

    def close(self, reason: str, why: str, *, room: int | None = None) -> NoReturn:
        """Raises MarketClosed."""
        close_market(self.comet.label, self.base.symbol, reason, why, room=room)


def find_market(reader: ChainReader, market: str) -> tuple[Comet, TokenMeta]:
    """The market that lends a token. Raises MarketNotFound, ChainNotSupported."""
    comets = comets_on(reader.chain_id)
    token = reader.token(market)
    found = next((each for each in comets if each.base == token.address), None)
    if found is None:
        known = [reader.token(each.base).symbol for each in comets]
        raise MarketNotFound(
            f"no known market of Compound V3 lends {token.symbol}; known here: {', '.join(known) or 'none'}",
            markets=known,
        )
    return found, token


def open_desk(ctx: WriteContext, market: str) -> Desk:
    """What a write reads first. Raises MarketNotFound, ChainNotSupported, PositionsUnreadable."""
    reader = ctx.begin("Reading the market")
    comet, base = find_market(reader, market)
    state, account = read_both(reader, comet, ctx.account)
    return Desk(reader, ctx.account, state, account, base)


def read_both(reader: ChainReader, comet: Comet, account: str) -> tuple[Market, Account]:
    """A market and what an account has there, side by side."""

    def of_account() -> Any:  # Any: a value of the ABI's type
        # Generators of one list have one type; the two answers differ.
        (found,) = yield from ask_accounts((comet,), account)
        return found

    state, own = drive(side_by_side([ask_market(comet), of_account()]), reader.call_many)
    return state, own
