"""Moonwell for those who know no lender by name: any two of its markets that pay out what they lend are a pair.

The market of the wrapped coin pays coin, which the next step of a plan could not put in again: no pair has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tools_app.chain.abi import encode_call
from tools_app.protocols.moonwell import signatures
from tools_app.protocols.moonwell.addresses import NAME, Market, Place, find_place
from tools_app.protocols.moonwell.positions import ref_of
from tools_app.protocols.moonwell.reads import Account, Held, ask_account, ask_markets, interest_in, yearly_ppm
from tools_app.standards.aave_like.plans import PLAN_SECONDS
from tools_app.standards.loan_refusals import NoFlashLoans
from tools_app.toolkit.lending import LendingMarket, LendingPair, MarketNotFound, Verb
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Position, PositionsUnreadable, Reads
from tools_app.toolkit.yields import Door


class MoonwellLending(NoFlashLoans):
    """Rates and rooms of the known markets."""

    label = "Moonwell"

    def markets(self, chain_id: int, asset: str) -> Reads[tuple[LendingMarket, ...]]:
        """The market that lends `asset`, if one is known. Raises PositionsUnreadable."""
        place = find_place(chain_id)
        if place is None or place.market_of(asset) is None:
            return ()
        states = yield from ask_markets(place)
        state = next(each for each in states if each.market.asset == asset)
        return (
            LendingMarket(
                protocol=NAME,
                market=state.market.address,
                label=state.market.label,
                asset=asset,
                supply_ppm=yearly_ppm(state.supply_rate),
                borrow_ppm=yearly_ppm(state.borrow_rate),
                supplied=state.supplied,
                borrowed=state.borrowed,
                liquidity=state.cash,
                ltv_bps=state.factor_bps,
                threshold_bps=state.factor_bps,
                supply_room=0 if state.is_in_paused else state.room,
                borrow_room=0 if state.is_borrow_paused else state.borrow_room,
                # What comes out as coin is not what goes in again.
                way_in=None if state.market.pays_coin else Door("moonwell_supply", {"asset": asset}),
                way_out=None if state.market.pays_coin else Door("moonwell_withdraw", {"asset": asset}),
            ),
        )

    def pair(
        self, chain_id: int, account: str, collateral: str, debt: str, market: str | None = None
    ) -> Reads[LendingPair]:
        """Two markets of one account. Raises MarketNotFound, PositionsUnreadable."""
        place = find_place(chain_id)
        covers = place.market_of(collateral) if place is not None else None
        lends = place.market_of(debt) if place is not None else None
        if place is None or covers is None or lends is None or market not in (None, lends.address):
            raise MarketNotFound("Moonwell has no known markets of both", collateral=collateral, debt=debt)
        if covers.pays_coin or lends.pays_coin:
            raise MarketNotFound(
                "the market pays out coin, which it does not take back unwrapped", collateral=collateral, debt=debt
            )
        found = yield from ask_account(place, account)
        if found is None:
            states = yield from ask_markets(place)
            found = Account(tuple(Held(each, 0, 0, is_member=False) for each in states))
        cover, owed = found.of(covers), found.of(lends)
        price, factor = owed.state.price, cover.state.factor_bps
        other_cover = found.cover - cover.cover
        other_debt = found.debt - owed.debt
        return LendingPair(
            ref=ref_of(chain_id, account),
            market=lends.address,
            collateral=collateral,
            debt=debt,
            collateral_raw=cover.supplied,
            debt_raw=owed.owed,
            rate=Fraction(cover.state.price, price) if price else Fraction(0),
            ltv_bps=factor,
            threshold_bps=factor,
            supply_ppm=yearly_ppm(cover.state.supply_rate),
            borrow_ppm=yearly_ppm(owed.state.borrow_rate),
            supply_room=cover.state.room if cover.state.room is not None else 2**128,
            borrow_room=min(owed.state.cash, owed.state.borrow_room if owed.state.borrow_room is not None else 2**128),
            withdraw_room=min(cover.supplied, cover.state.cash),
            other_cover=_in_debt(other_cover, price),
            other_ltv=_in_debt(other_cover, price),
            other_debt=_in_debt(other_debt, price),
            closed=_closed(cover, owed),
            interest_room=interest_in(owed.owed, owed.state.borrow_rate, PLAN_SECONDS),
        )

    def leg_rates(self, position: Position) -> Reads[tuple[int, ...]]:
        """What is lent earns, what is owed costs; rewards do neither."""
        place = find_place(position.ref.chain_id)
        if place is None:
            raise PositionsUnreadable("Moonwell is not known on that chain")
        states = {each.market.asset: each for each in (yield from ask_markets(place))}
        known = set(position.facts["supplied"])
        return tuple(
            yearly_ppm(states[leg.token].borrow_rate)
            if leg.raw < 0
            else yearly_ppm(states[leg.token].supply_rate)
            if leg.token in known
            else 0
            for leg in position.legs
        )

    def spender(self, pair: LendingPair, verb: Verb) -> str:
        """The market of what is moved."""
        return _market(pair, verb).address

    def calls(
        self,
        pair: LendingPair,
        verb: Verb,
        amount: int | None,
        *,
        earlier: Sequence[int] = (),
        clears: bool = False,
    ) -> tuple[Call, ...]:
        """More than is owed reverts, so that what clears a debt says everything. Raises ValueError."""
        if verb is Verb.SUPPLY and amount is not None:
            data = encode_call(signatures.MINT, amount)
        elif verb is Verb.WITHDRAW:
            named = pair.collateral_raw - sum(earlier) if amount is None else amount
            data = encode_call(signatures.REDEEM_UNDERLYING, named)
        elif verb is Verb.BORROW and amount is not None:
            data = encode_call(signatures.BORROW, amount)
        elif verb is Verb.REPAY:
            is_all = amount is None or sum(earlier) + amount >= pair.debt_raw
            data = encode_call(signatures.REPAY, signatures.EVERYTHING if is_all or amount is None else amount)
        else:
            raise ValueError("how much is not said")
        return (Call(_market(pair, verb).address, data, 0, f"{verb.capitalize()} at Moonwell"),)


def _market(pair: LendingPair, verb: Verb) -> Market:
    place: Place | None = find_place(pair.ref.chain_id)
    token = pair.collateral if verb in (Verb.SUPPLY, Verb.WITHDRAW) else pair.debt
    found = place.market_of(token) if place is not None else None
    if found is None:
        raise MarketNotFound("Moonwell has no known market of it", asset=token)
    return found


def _in_debt(dollars: int, price: int) -> Fraction:
    """Base units of the debt's token that dollars in 1e18 are."""
    return Fraction(dollars * signatures.FACTOR, price) if price else Fraction(0)


def _closed(cover: Held, owed: Held) -> str:
    if cover.state.is_in_paused or owed.state.is_borrow_paused:
        return "the market is paused"
    return "" if cover.is_member else "what is supplied does not cover debts yet: moonwell_supply sees to that"
