"""Compound V3 for those who know no lender by name: a pair is a cover of a market and what the market lends."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tools_app.chain.abi import encode_call
from tools_app.protocols.compound_v3 import signatures
from tools_app.protocols.compound_v3.addresses import NAME, find_comet, known_comets
from tools_app.protocols.compound_v3.positions import ref_of
from tools_app.protocols.compound_v3.reads import (
    Market,
    ask_accounts,
    ask_market,
    counted,
    interest_in,
    yearly_ppm,
)
from tools_app.standards.aave_like.plans import PLAN_SECONDS
from tools_app.standards.loan_refusals import NoFlashLoans
from tools_app.toolkit.lending import LendingMarket, LendingPair, MarketNotFound, Verb
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Position, PositionsUnreadable, Reads
from tools_app.toolkit.yields import Door


class CometLending(NoFlashLoans):
    """Rates and rooms of the known markets."""

    label = "Compound V3"

    def markets(self, chain_id: int, asset: str) -> Reads[tuple[LendingMarket, ...]]:
        """The market that lends `asset`, if one is known. Raises PositionsUnreadable."""
        comet = next((each for each in known_comets(chain_id) if each.base == asset), None)
        if comet is None:
            return ()
        market = yield from ask_market(comet, with_covers=False)
        return (
            LendingMarket(
                protocol=NAME,
                market=comet.address,
                label=comet.label,
                asset=asset,
                supply_ppm=yearly_ppm(market.supply_rate),
                borrow_ppm=yearly_ppm(market.borrow_rate),
                supplied=market.supplied,
                borrowed=market.borrowed,
                liquidity=market.liquidity,
                supply_room=0 if market.is_supply_paused else None,
                borrow_room=0 if market.is_withdraw_paused else None,
                way_in=Door("compound_v3_supply", {"market": asset}),
                way_out=Door("compound_v3_withdraw", {"market": asset}),
            ),
        )

    def pair(
        self, chain_id: int, account: str, collateral: str, debt: str, market: str | None = None
    ) -> Reads[LendingPair]:
        """A cover in the market that lends `debt`. Raises MarketNotFound, PositionsUnreadable."""
        comet = next((each for each in known_comets(chain_id) if each.base == debt), None)
        if comet is None or market not in (None, comet.address):
            raise MarketNotFound("no known market of Compound V3 lends this", debt=debt)
        state = yield from ask_market(comet)
        (own,) = yield from ask_accounts((comet,), account)
        cover = state.cover_of(collateral)
        if cover is None:
            raise MarketNotFound(f"the {comet.label} takes no such cover", collateral=collateral, debt=debt)
        others = [(each, raw) for each, raw in own.covers if each.asset != collateral]
        return LendingPair(
            ref=ref_of(chain_id, comet),
            market=comet.address,
            collateral=collateral,
            debt=debt,
            collateral_raw=own.held(collateral),
            debt_raw=own.owed,
            rate=Fraction(cover.price * state.base_scale, cover.scale * state.price),
            ltv_bps=cover.ltv_bps,
            threshold_bps=cover.threshold_bps,
            supply_ppm=0,
            borrow_ppm=yearly_ppm(state.borrow_rate),
            supply_room=max(0, cover.cap - cover.total),
            borrow_room=0 if own.supplied else state.liquidity,
            withdraw_room=0 if state.is_withdraw_paused else own.held(collateral),
            other_cover=Fraction(counted(state, others)),
            other_ltv=Fraction(counted(state, others, to_borrow=True)),
            closed=_closed(state, is_lent=own.supplied > 0),
            least_debt=state.least_debt,
            interest_room=interest_in(own.owed, state.borrow_rate, PLAN_SECONDS) if own.owed else 0,
            is_collateral_exact=True,
        )

    def leg_rates(self, position: Position) -> Reads[tuple[int, ...]]:
        """What is lent earns, what is owed costs; covers and rewards do neither."""
        comet = find_comet(position.ref.chain_id, position.ref.id)
        if comet is None:
            raise PositionsUnreadable(f"{position.ref.id} is no known market of Compound V3")
        market = yield from ask_market(comet)
        earns, costs = yearly_ppm(market.supply_rate), yearly_ppm(market.borrow_rate)
        return tuple(
            costs if leg.raw < 0 else earns if leg.token == comet.base and not leg.cover_bps else 0
            for leg in position.legs
        )

    def spender(self, pair: LendingPair, verb: Verb) -> str:
        """The market."""
        return pair.market

    def calls(
        self,
        pair: LendingPair,
        verb: Verb,
        amount: int | None,
        *,
        earlier: Sequence[int] = (),
        clears: bool = False,
    ) -> tuple[Call, ...]:
        """More than is owed would be lent, so that what clears a debt says everything. Raises ValueError."""
        if verb in (Verb.SUPPLY, Verb.WITHDRAW):
            named = pair.collateral_raw - sum(earlier) if amount is None else amount
            signature = signatures.SUPPLY if verb is Verb.SUPPLY else signatures.WITHDRAW
            data = encode_call(signature, pair.collateral, named)
        elif verb is Verb.BORROW:
            if amount is None:
                raise ValueError("how much is not said")
            data = encode_call(signatures.WITHDRAW, pair.debt, amount)
        else:
            is_all = amount is None or sum(earlier) + amount >= pair.debt_raw
            data = encode_call(signatures.SUPPLY, pair.debt, signatures.EVERYTHING if is_all else amount)
        return (Call(pair.market, data, 0, f"{verb.capitalize()} at Compound V3"),)


def _closed(market: Market, *, is_lent: bool) -> str:
    if market.is_withdraw_paused or market.is_supply_paused:
        return "the market is paused"
    return "what is lent there would be taken out first" if is_lent else ""
