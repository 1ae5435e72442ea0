"""Morpho Blue for those who know no lender by name: a pair is one market's collateral and its loan token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.protocols.morpho_blue import math, plans
from tools_app.protocols.morpho_blue.addresses import NAME, deployments, known_markets
from tools_app.protocols.morpho_blue.market import Market, MarketParams
from tools_app.protocols.morpho_blue.positions import name_token, ref_of
from tools_app.protocols.morpho_blue.reads import address_on, ask_holdings, ask_markets
from tools_app.standards import erc20
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.lending import (
    INTEREST_SLACK,
    PPM,
    FlashTerms,
    LendingMarket,
    LendingPair,
    MarketNotFound,
    Verb,
)
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Position, PositionsUnreadable, Reads
from tools_app.toolkit.views import TokenMeta

FLASH_CALLBACK: Final = "function onMorphoFlashLoan(uint256 assets, bytes data) view"
FLASH_LOAN: Final = "function flashLoan(address token, uint256 assets, bytes data)"
_MOST_ASSETS: Final = 2**128 - 1


@dataclass(frozen=True, slots=True)
class MorphoPair(LendingPair):
    """A pair with what its calls are made of."""

    account: str = ""
    params: MarketParams | None = None
    borrow_shares: int = 0


class MorphoLending:
    """Rates and rooms of the known markets, and of any market by its id."""

    def markets(self, chain_id: int, asset: str) -> Reads[tuple[LendingMarket, ...]]:
        """Every known market that lends `asset`. Raises PositionsUnreadable."""
        if deployments(chain_id) is None:
            return ()
        wanted = tuple(params.id for params in known_markets(chain_id) if params.loan_token == asset)
        if not wanted:
            return ()
        found = yield from ask_markets(chain_id, wanted)
        return tuple(_describe(chain_id, market) for market in found if market is not None)

    def pair(
        self, chain_id: int, account: str, collateral: str, debt: str, market: str | None = None
    ) -> Reads[LendingPair]:
        """The named market, or of the known ones the one that can lend most. Raises MarketNotFound."""
        tokens = (debt, collateral)
        known = [
            params.id for params in known_markets(chain_id) if (params.loan_token, params.collateral_token) == tokens
        ]
        wanted = (market,) if market is not None else tuple(known)
        markets = yield from ask_markets(chain_id, wanted)
        fitting = [
            each
            for each in markets
            if each is not None and (each.params.loan_token, each.params.collateral_token) == tokens
        ]
        if not fitting:
            raise MarketNotFound(
                "Morpho has no known market that lends this against that", debt=debt, collateral=collateral
            )
        chosen = max(fitting, key=lambda each: each.liquidity)
        (holding,) = yield from ask_holdings(chain_id, account, (chosen.id,))
        return MorphoPair(
            ref=ref_of(chain_id, chosen.id),
            market=chosen.id,
            collateral=collateral,
            debt=debt,
            collateral_raw=holding.collateral,
            debt_raw=chosen.state.owed_of(holding.borrow_shares),
            rate=Fraction(chosen.price or 0, math.ORACLE_SCALE),
            ltv_bps=chosen.params.lltv_bps,
            threshold_bps=chosen.params.lltv_bps,
            supply_ppm=0,
            borrow_ppm=yearly_ppm(chosen.rate),
            supply_room=_MOST_ASSETS - holding.collateral,
            borrow_room=chosen.liquidity if chosen.price is not None else 0,
            withdraw_room=holding.collateral,
            closed="" if chosen.price is not None else "the oracle does not answer",
            # What a repayment in shares leaves of its approval is taken back before the next.
            calls_of_round=6,
            clears_by_shares=True,
            is_collateral_exact=True,
            account=account,
            params=chosen.params,
            borrow_shares=holding.borrow_shares,
        )

    def leg_rates(self, position: Position) -> Reads[tuple[int, ...]]:
        """What is lent earns, what is owed costs; collateral does neither."""
        (market,) = yield from ask_markets(position.ref.chain_id, (position.ref.id,))
        if market is None:
            raise PositionsUnreadable(f"market {position.ref.id} was never created")
        lent, owed = supply_ppm(market), yearly_ppm(market.rate)
        rates = []
        for leg in position.legs:
            if leg.raw < 0:
                rates.append(owed)
            else:
                rates.append(lent if leg.token == market.params.loan_token and not leg.cover_bps else 0)
        return tuple(rates)

    def spender(self, pair: LendingPair, verb: Verb) -> str:
        """The one contract."""
        return address_on(pair.ref.chain_id)

    def calls(
        self,
        pair: LendingPair,
        verb: Verb,
        amount: int | None,
        *,
        earlier: Sequence[int] = (),
        clears: bool = False,
    ) -> tuple[Call, ...]:
        """The call of a verb on the pair's market. Raises ValueError for a pair of another lender."""
        if not isinstance(pair, MorphoPair) or pair.params is None:
            raise ValueError("not a pair of Morpho")
        morpho, params, account = self.spender(pair, verb), pair.params, pair.account
        loan, collateral = (_meta(pair.ref.chain_id, token) for token in (pair.debt, pair.collateral))
        if verb is Verb.SUPPLY:
            return (plans.pledge(morpho, params, collateral, _said(amount), account),)
        if verb is Verb.WITHDRAW:
            taken = pair.collateral_raw - sum(earlier) if amount is None else amount
            return (plans.release(morpho, params, collateral, taken, account),)
        if verb is Verb.BORROW:
            return (plans.borrow(morpho, params, loan, _said(amount), account),)
        # More than is owed reverts, and of amounts nobody can say what is left of the shares when they are paid: what
        # clears a debt is said in shares, and in each of several repayments.
        paid = sum(earlier)
        if amount is None or clears or (not earlier and amount >= pair.debt_raw):
            till = pair.borrow_shares if amount is None else _cleared(pair, paid + amount)
            return (plans.repay(morpho, params, loan, amount=0, shares=till - _cleared(pair, paid), account=account),)
        return (plans.repay(morpho, params, loan, amount=amount, shares=0, account=account),)

    def flash_terms(self, chain_id: int, asset: str) -> Reads[FlashTerms | None]:
        """All that the contract holds of a token, for nothing."""
        if deployments(chain_id) is None:
            return None
        (held,) = yield [ReadCall(asset, erc20.BALANCE_OF, (address_on(chain_id),))]
        return FlashTerms(liquidity=int(held.values[0]), fee_ppm=0) if held.ok else None

    def flash_probe(self, chain_id: int, receiver: str, asset: str) -> ReadCall:
        """Morpho calls `onMorphoFlashLoan` and asks for no answer: it must not revert."""
        return ReadCall(receiver, FLASH_CALLBACK, (0, b""))

    def flash_call(self, chain_id: int, receiver: str, asset: str, amount: int, data: bytes) -> Call:
        """Morpho calls back whoever calls it: `receiver` has to be the account itself."""
        return Call(address_on(chain_id), encode_call(FLASH_LOAN, asset, amount, data), 0, f"Flash loan to {receiver}")


def _cleared(pair: MorphoPair, paid: int) -> int:
    """How many shares so much in all clears for certain: interest may add to what a share costs until it is paid."""
    if paid >= pair.debt_raw:
        return pair.borrow_shares
    return paid * pair.borrow_shares * INTEREST_SLACK // (pair.debt_raw * (INTEREST_SLACK + 1))


def yearly_ppm(rate: int) -> int:
    """A rate per second in 1e18 as millionths a year, compounded."""
    with localcontext(prec=40):
        return int(((Decimal(rate) * math.SECONDS_PER_YEAR / math.WAD).exp() - 1) * PPM)


def supply_ppm(market: Market) -> int:
    """What lending earns: the part of it that is borrowed, less the market's fee."""
    return yearly_ppm(supply_rate(market))


def supply_rate(market: Market) -> int:
    """The same per second in 1e18."""
    state = market.state
    if not state.supply_assets:
        return 0
    return market.rate * state.borrow_assets // state.supply_assets * (math.WAD - state.fee) // math.WAD


def _describe(chain_id: int, market: Market) -> LendingMarket:
    params = market.params
    loan, collateral = name_token(chain_id, params.loan_token), name_token(chain_id, params.collateral_token)
    return LendingMarket(
        protocol=NAME,
        market=market.id,
        label=f"Morpho {loan} against {collateral}" if not params.is_idle else f"Morpho {loan}, idle",
        asset=params.loan_token,
        supply_ppm=supply_ppm(market),
        borrow_ppm=None if params.is_idle else yearly_ppm(market.rate),
        supplied=market.state.supply_assets,
        borrowed=market.state.borrow_assets,
        liquidity=market.liquidity,
        collateral=None if params.is_idle else params.collateral_token,
        ltv_bps=params.lltv_bps,
        threshold_bps=params.lltv_bps,
    )


def _meta(chain_id: int, token: str) -> TokenMeta:
    """Enough of a token for a label; of one that nobody registered base units are told."""
    known = {each.address: each for each in load_deployment(KNOWN_NETWORKS[chain_id]).tokens}
    return known.get(token) or TokenMeta(chain_id, token, f"base units of {token}", 0, "", is_registered=False)


def _said(amount: int | None) -> int:
    if amount is None:
        raise ValueError("how much is not said")
    return amount
