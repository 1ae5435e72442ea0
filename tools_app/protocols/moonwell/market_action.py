"""One verb at Moonwell in the making: the account, the market, and what would be refused, told before it is tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from tools_app.chain.abi import encode_call
from tools_app.core.json_types import JsonObject
from tools_app.protocols.moonwell import signatures
from tools_app.protocols.moonwell.addresses import NAME, Market, Place, place_on
from tools_app.protocols.moonwell.positions import ref_of
from tools_app.protocols.moonwell.reads import Account, Held, State, ask_account, ask_markets, health_of, interest_in
from tools_app.standards.aave_like.plans import PLAN_SECONDS, ROUNDING
from tools_app.standards.format_loan_figures import show, show_health_of
from tools_app.standards.loan_refusals import close_market, refuse_health
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS, LEAST_FREE_BPS, MarketNotFound
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import ACCOUNT, PositionChange, drive
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class Desk:
    """A market as an account meets it, with all else the account has."""

    reader: ChainReader
    place: Place
    account: str
    whole: Account
    held: Held
    token: TokenMeta

    @property
    def market(self) -> Market:
        return self.held.state.market

    @property
    def state(self) -> State:
        return self.held.state

    @property
    def has_others(self) -> bool:
        """Whether the account has anything in another market."""
        return any(each is not self.held and not each.is_empty for each in self.whole.held)

    def draft(self) -> PlanDraft:
        return PlanDraft(self.reader.chain_id, self.account)

    def call(self, signature: str, amount: int, verb: str, shown: int) -> Call:
        """A call to the market; `shown` is the amount in words."""
        return Call(
            self.market.address, encode_call(signature, amount), 0, f"{verb} {show(shown, self.token)} at Moonwell"
        )

    def change(self, expected: int, bound: int, *, keeps_health: bool = False) -> PositionChange:
        """What is promised of the account's legs of the token."""
        least = DEFAULT_HEALTH_FLOOR_BPS if keeps_health else None
        ref = ref_of(self.reader.chain_id, self.account)
        return PositionChange(NAME, ACCOUNT, self.token.address, expected, bound, ref, least)

    def paid_in(self) -> TokenMeta:
        """What comes out of the market: the chain's coin where it lends that wrapped."""
        return self.reader.native() if self.market.pays_coin else self.token

    def rounding(self) -> int:
        """Base units that one receipt stands for, and what rounding may take besides."""
        return self.state.rate // signatures.FACTOR + ROUNDING

    def debt_in_a_while(self) -> int:
        """The debt in this market with the interest until a plan is carried out."""
        return self.held.owed + interest_in(self.held.owed, self.state.borrow_rate, PLAN_SECONDS)

    def debts_in_a_while(self) -> int:
        """Dollars in 1e18 of all debts then."""
        return sum(
            each.state.worth(each.owed + interest_in(each.owed, each.state.borrow_rate, PLAN_SECONDS))
            for each in self.whole.held
        )

    def check_supply(self, amount: int) -> None:
        """Raises MarketClosed."""
        if self.state.is_in_paused:
            self.close("paused", "takes nothing in: its guardians paused it")
        if self.state.room is not None and amount > self.state.room:
            self.close(
                "supply_cap", f"takes {show(self.state.room, self.token)} more under its cap", room=self.state.room
            )
        self.check_used()

    def check_used(self) -> None:
        """Nothing enters a market that has next to nothing to give out. Raises MarketClosed."""
        if self.state.cash * 10_000 < self.state.supplied * LEAST_FREE_BPS:
            self.close("used", f"is lent out whole: {show(self.state.cash, self.token)} can be taken out now")

    def check_cash(self, amount: int) -> None:
        """Raises MarketClosed."""
        if amount > self.state.cash:
            room = self.state.cash
            self.close("liquidity", f"has {show(room, self.token)} to take out now", room=room)

    def check_borrow(self, amount: int) -> None:
        """Raises MarketClosed, HealthTooLow naming the most that passes."""
        if self.state.is_borrow_paused:
            self.close("paused", "lends nothing out: its guardians paused that; debts may be repaid")
        if self.state.borrow_room is not None and amount > self.state.borrow_room:
            room = min(self.state.borrow_room, self.state.cash, self.most_borrowed())
            self.close("borrow_cap", f"lends {show(room, self.token)} more to this account under its cap", room=room)
        self.check_used()
        self.check_cash(amount)
        room = self.most_borrowed()
        if amount > room:
            refuse_health(f"borrowing {show(amount, self.token)}", room, self.token)

    def most_borrowed(self) -> int:
        """Base units that the floor of health lets through beside what is owed."""
        spare = self.whole.cover * 10_000 // DEFAULT_HEALTH_FLOOR_BPS - self.debts_in_a_while()
        most = max(0, spare) * signatures.FACTOR // self.state.price if self.state.price else 0
        return max(0, most - interest_in(most, self.state.borrow_rate, PLAN_SECONDS))

    def most_released(self) -> int:
        """Base units of the supply that no debt needs."""
        if not self.held.is_member or not self.whole.debt or not self.state.factor:
            return self.held.supplied
        spare = self.whole.cover - -(-self.debts_in_a_while() * DEFAULT_HEALTH_FLOOR_BPS // 10_000)
        worth = self.state.price * self.state.factor // signatures.FACTOR
        return min(self.held.supplied, max(0, max(0, spare) * signatures.FACTOR // worth - self.rounding()))

    def check_release(self, amount: int) -> None:
        """Raises HealthTooLow naming the most that passes."""
        room = self.most_released()
        if amount > room:
            refuse_health(f"taking {show(amount, self.token)} out", room, self.token)

    def ratio_bps(self, *, more: int = 0, less: int = 0) -> int | None:
        """What covers, at its whole worth, over debts, with dollars in 1e18 of debt more and of cover less."""
        worth = sum(each.state.worth(each.supplied) for each in self.whole.held if each.is_member)
        debt = self.whole.debt + more
        return max(0, worth - less) * 10_000 // debt if debt > 0 else None

    def details(self, *, cover: int, debt: int) -> JsonObject:
        """What the permit tells, with cover and debts (dollars in 1e18) as they are afterwards."""
        return {
            "venue": NAME,
            "asset": self.token.symbol,
            "market": self.market.address,
            "supply_rate": self.state.supply_rate,
            "borrow_rate": self.state.borrow_rate,
            "health_factor_before": show_health_of(self.whole.health_bps),
            "health_factor_after": show_health_of(health_of(cover, debt)),
        }

    def close(self, reason: str, why: str, *, room: int | None = None) -> NoReturn:
        """Raises MarketClosed."""
        close_market(self.market.label, self.token.symbol, reason, why, room=room)


def find_market(reader: ChainReader, asset: str) -> tuple[Place, Market, TokenMeta]:
    """The market that lends a token. Raises MarketNotFound, ChainNotSupported."""
    place = place_on(reader.chain_id)
    token = reader.token(asset)
    market = place.market_of(token.address)
    if market is None:
        known = [reader.token(each.asset).symbol for each in place.markets]
        raise MarketNotFound(
            f"no known market of Moonwell lends {token.symbol}; known here: {', '.join(known) or 'none'}", markets=known
        )
    return place, market, token


def open_desk(ctx: WriteContext, asset: str) -> Desk:
    """What a write reads first. Raises MarketNotFound, ChainNotSupported, PositionsUnreadable."""
    reader = ctx.begin("Reading the market")
    place, market, token = find_market(reader, asset)
    whole = read_account(reader, place, ctx.account)
    return Desk(reader, place, ctx.account, whole, whole.of(market), token)


def read_account(reader: ChainReader, place: Place, account: str) -> Account:
    """An account over all markets, which may hold nothing."""
    found = drive(ask_account(place, account), reader.call_many)
    if found is not None:
        return found
    states = drive(ask_markets(place), reader.call_many)
    return Account(tuple(Held(each, 0, 0, is_member=False) for each in states))
