"""Maker for those who know no lender by name: a pair is one vault's collateral and the DAI that it owes.

Vaults are opened, filled and drawn on by Maker's own tools; from here they are led out. Each collateral type is a
market in which DAI is lent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.core.stored_json import read_stored
from tools_app.core.units import format_units
from tools_app.protocols.maker_sky import math
from tools_app.protocols.maker_sky.addresses import NAME, collateral_types, contracts_at, deployments
from tools_app.protocols.maker_sky.positions import SETTLING_SECONDS, ref_of, tokens_on
from tools_app.protocols.maker_sky.reads import ask_vaults, list_kind_reads, read_kinds, word_of
from tools_app.protocols.maker_sky.signatures import DRIP, EXIT, FLUX, FROB, JOIN
from tools_app.standards.rays import RAY, SECONDS_PER_YEAR, rpow
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.lending import PPM, FlashTerms, LendingMarket, LendingPair, MarketClosed, MarketNotFound, Verb
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Position, Reads

_LED_OUT: Final = "vaults at Maker are opened, filled and drawn on by the maker tools"
_CALLS_OF_ROUND: Final = 9
_ROUNDING: Final = 16
"""Base units of DAI that the rounds of one plan leave uncounted at most."""


@dataclass(frozen=True, slots=True)
class VaultPair(LendingPair):
    """A pair with what its calls are made of."""

    account: str = ""
    vault: math.VaultState | None = None


@dataclass(frozen=True, slots=True)
class _KindFacts:
    collateral_type: str


class MakerLending:
    """Fees and rooms of the collateral types, and the account's vaults."""

    def markets(self, chain_id: int, asset: str) -> Reads[tuple[LendingMarket, ...]]:
        """Every collateral type against which DAI is drawn; none for another asset. Raises PositionsUnreadable."""
        if deployments(chain_id) is None:
            return ()
        collateral, dai = tokens_on(chain_id)
        if asset != dai:
            return ()
        names = tuple(word_of(each) for each in collateral_types(chain_id))
        outcomes = yield list_kind_reads(chain_id, names)
        return tuple(
            LendingMarket(
                protocol=NAME,
                market=kind.name,
                label=f"Maker DAI against the wrapped coin ({kind.name})",
                asset=dai,
                supply_ppm=0,
                borrow_ppm=_yearly_ppm(kind),
                # What may be drawn in all; nobody lends it.
                supplied=kind.line // RAY,
                borrowed=kind.owed_of(kind.art),
                liquidity=kind.room,
                collateral=collateral,
                ltv_bps=_threshold_bps(kind),
                threshold_bps=_threshold_bps(kind),
                supply_room=0,
                borrow_room=kind.room,
            )
            for kind in read_kinds(names, outcomes)
        )

    def pair(
        self, chain_id: int, account: str, collateral: str, debt: str, market: str | None = None
    ) -> Reads[LendingPair]:
        """The vault of that number, or the one that owes most. Raises MarketNotFound, PositionsUnreadable."""
        if deployments(chain_id) is None or (collateral, debt) != tokens_on(chain_id):
            raise MarketNotFound("Maker lends DAI against the wrapped coin", debt=debt, collateral=collateral)
        vaults = yield from ask_vaults(chain_id, account)
        fitting = [each for each in vaults if market is None or str(each.id) == market]
        if not fitting:
            raise MarketNotFound(f"the account has no such vault at Maker; {_LED_OUT}")
        vault = max(fitting, key=lambda each: each.owed)
        kind, owed = vault.kind, vault.owed
        return VaultPair(
            ref=ref_of(chain_id, vault.id),
            market=str(vault.id),
            collateral=collateral,
            debt=debt,
            collateral_raw=vault.ink,
            debt_raw=owed,
            rate=Fraction(kind.price, math.WAD),
            ltv_bps=_threshold_bps(kind),
            threshold_bps=_threshold_bps(kind),
            supply_ppm=0,
            borrow_ppm=_yearly_ppm(kind),
            supply_room=0,
            borrow_room=0,
            withdraw_room=vault.ink,
            least_debt=kind.least_debt + kind.growth(owed, SETTLING_SECONDS) + 1,
            is_collateral_exact=True,
            interest_room=kind.growth(owed, SETTLING_SECONDS) + _ROUNDING,
            pays_exactly=True,
            calls_of_round=_CALLS_OF_ROUND,
            closed=_LED_OUT,
            account=account,
            vault=vault,
        )

    def leg_rates(self, position: Position) -> Reads[tuple[int, ...]]:
        """A debt costs the fee of its type; collateral earns nothing, and what is not read has no legs."""
        if not position.legs:
            return ()
        name = word_of(read_stored(_KindFacts, position.facts).collateral_type)
        outcomes = yield list_kind_reads(position.ref.chain_id, (name,))
        (kind,) = read_kinds((name,), outcomes)
        return tuple(_yearly_ppm(kind) if leg.raw < 0 else 0 for leg in position.legs)

    def spender(self, pair: LendingPair, verb: Verb) -> str:
        """The adapter of DAI. Raises MarketClosed for a supply."""
        if verb is not Verb.REPAY:
            raise MarketClosed(_LED_OUT, reason="closed")
        return contracts_at(pair.ref.chain_id).join_dai

    def calls(
        self,
        pair: LendingPair,
        verb: Verb,
        amount: int | None,
        *,
        earlier: Sequence[int] = (),
        clears: bool = False,
    ) -> tuple[Call, ...]:
        """WITHDRAW and REPAY. Raises MarketClosed for the others, ValueError for a pair of another lender.

        What is joined beyond the debt of the moment covers the fee until the transaction is mined.
        """
        if not isinstance(pair, VaultPair) or pair.vault is None:
            raise ValueError("not a pair of Maker")
        place = contracts_at(pair.ref.chain_id)
        if verb is Verb.WITHDRAW:
            taken = pair.vault.ink - sum(earlier) if amount is None else amount
            join = place.joins[pair.vault.kind.name]
            return _withdraw(place.cdp_manager, join, pair.vault, pair.account, taken)
        if verb is not Verb.REPAY:
            raise MarketClosed(_LED_OUT, reason="closed")
        counted = () if earlier else (Call(place.jug, encode_call(DRIP, word_of(pair.vault.kind.name)), 0, "Fee"),)
        return (*counted, *_repay(place.cdp_manager, place.join_dai, pair.vault, amount, earlier))

    def flash_terms(self, chain_id: int, asset: str) -> Reads[FlashTerms | None]:
        """None: the module that mints DAI for a transaction is not served here."""
        yield []
        return None

    def flash_probe(self, chain_id: int, receiver: str, asset: str) -> ReadCall:
        """Raises MarketNotFound."""
        raise MarketNotFound("no flash loan is taken from Maker here", asset=asset)

    def flash_call(self, chain_id: int, receiver: str, asset: str, amount: int, data: bytes) -> Call:
        """Raises MarketNotFound."""
        raise MarketNotFound("no flash loan is taken from Maker here", asset=asset)


def _withdraw(manager: str, join: str, vault: math.VaultState, account: str, taken: int) -> tuple[Call, ...]:
    shown = format_units(taken, 18, "")
    return (
        Call(manager, encode_call(FROB, vault.id, -taken, 0), 0, f"Free {shown} in vault {vault.id}"),
        Call(manager, encode_call(FLUX, vault.id, account, taken), 0, "Take it out of the vault"),
        Call(join, encode_call(EXIT, account, taken), 0, "Take it as tokens"),
    )


def _repay(
    manager: str, join: str, vault: math.VaultState, amount: int | None, earlier: Sequence[int]
) -> tuple[Call, ...]:
    left = vault.art - sum(_art_of(vault, each) for each in earlier)
    whole = vault.kind.owed_of(left)
    whole += vault.kind.growth(whole, SETTLING_SECONDS) + 1
    paid = whole if amount is None else amount
    art = left if paid >= whole else _art_of(vault, paid)
    return (
        Call(join, encode_call(JOIN, vault.urn, paid), 0, f"Pay {format_units(paid, 18, 'DAI')} into the vault"),
        Call(manager, encode_call(FROB, vault.id, 0, -art), 0, f"Clear it from the debt of vault {vault.id}"),
    )


def _art_of(vault: math.VaultState, paid: int) -> int:
    """How much that clears at the rate there may be when it is mined."""
    settled = vault.kind.rate * rpow(vault.kind.fee, SETTLING_SECONDS) // RAY + 1
    return paid * RAY // settled


def _yearly_ppm(kind: math.VaultKind) -> int:
    # The fee of a second is rounded: of a year the nearest millionth is told.
    return ((rpow(kind.fee, SECONDS_PER_YEAR) - RAY) * PPM + RAY // 2) // RAY


def _threshold_bps(kind: math.VaultKind) -> int:
    return math.BPS * RAY // kind.ratio
