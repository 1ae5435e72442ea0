"""A pool through the words that all lenders share: its markets are its reserves, a pair any two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tools_app.chain.abi import encode_call
from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.contracts import PoolContracts, contracts_on
from tools_app.standards.aave_like.positions import ref_of
from tools_app.standards.aave_like.reads import (
    EModeCategory,
    Reserve,
    account_calls,
    annual_ppm,
    held_call,
    read_account,
    read_category,
    read_held,
    read_isolation,
    read_reserve,
    reserve_calls,
)
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.lending import PPM, FlashTerms, LendingMarket, LendingPair, MarketNotFound, Verb
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Position, PositionsUnreadable, Reads, gather
from tools_app.toolkit.yields import Door

UNCAPPED = 2**128


@dataclass(frozen=True, slots=True)
class PoolLending:
    """Offers one lender. `prefix` is that of its tools."""

    protocol: str
    label: str
    deployments: Callable[[int], Mapping[str, str] | None]
    prefix: str = ""

    def markets(self, chain_id: int, asset: str) -> Reads[tuple[LendingMarket, ...]]:
        """The reserve of `asset`, if there is one."""
        where = contracts_on(self.deployments, chain_id)
        if where is None:
            return ()
        outcomes = yield reserve_calls(where, asset)
        try:
            reserve = read_reserve(asset, outcomes, label=self.label)
        except MarketNotFound:
            return ()
        configuration = reserve.configuration
        is_open = configuration.is_active and not configuration.is_frozen and not configuration.is_paused
        lends = is_open and configuration.is_borrowable
        return (
            LendingMarket(
                protocol=self.protocol,
                market=asset,
                label=self.label,
                asset=asset,
                supply_ppm=annual_ppm(reserve.supply_rate),
                borrow_ppm=annual_ppm(reserve.variable_rate) if lends else None,
                supplied=reserve.supplied,
                borrowed=reserve.owed,
                liquidity=reserve.liquidity,
                ltv_bps=configuration.ltv_bps,
                threshold_bps=configuration.threshold_bps,
                supply_room=reserve.supply_room if is_open else 0,
                borrow_room=reserve.borrow_room if lends else 0,
                way_in=Door(f"{self.prefix}_supply", {"asset": asset}) if self.prefix else None,
                way_out=Door(f"{self.prefix}_withdraw", {"asset": asset}) if self.prefix else None,
            ),
        )

    def pair(
        self, chain_id: int, account: str, collateral: str, debt: str, market: str | None = None
    ) -> Reads[LendingPair]:
        """Any two reserves; the account's other legs count beside them. Raises MarketNotFound, PositionsUnreadable."""
        where = self._where(chain_id)
        if collateral == debt:
            raise MarketNotFound(f"a pair at {self.label} needs two different assets", asset=collateral)
        given, lent, about, held = yield from gather(
            reserve_calls(where, collateral),
            reserve_calls(where, debt),
            account_calls(where.pool, account),
            [held_call(where, asset, account) for asset in (collateral, debt)],
        )
        put, taken = (
            read_reserve(asset, told, label=self.label) for asset, told in ((collateral, given), (debt, lent))
        )
        found, mine, owed = read_account(about), read_held(held[0]), read_held(held[1])
        categories: list[EModeCategory] = []
        if found.e_mode:
            for reserve in (put, taken):
                categories.append((yield from read_category(where.pool, found.e_mode, reserve)))
        isolated_by = yield from read_isolation(where, found)
        is_used = mine.is_collateral or not mine.supplied
        boosted = categories[0] if categories and categories[0].has_collateral else None
        threshold = boosted.threshold_bps if boosted else put.configuration.threshold_bps
        ltv = boosted.ltv_bps if boosted else put.configuration.ltv_bps
        if not put.price or not taken.price:
            raise PositionsUnreadable(f"the oracle of {self.label} has no price")
        per_base = Fraction(taken.unit, taken.price)
        covered = put.value(mine.supplied) if mine.is_collateral else 0
        lent_value = taken.value(owed.variable_owed)
        closed = _closed(put, taken, isolated_by, is_used=is_used, may_borrow=not categories or categories[1].has_debt)
        return LendingPair(
            ref=ref_of(self.protocol, chain_id, account),
            market=collateral,
            collateral=collateral,
            debt=debt,
            collateral_raw=mine.supplied if mine.is_collateral else 0,
            debt_raw=owed.variable_owed,
            rate=Fraction(put.price * taken.unit, put.unit * taken.price),
            ltv_bps=ltv,
            threshold_bps=threshold,
            supply_ppm=annual_ppm(put.supply_rate),
            borrow_ppm=annual_ppm(taken.variable_rate),
            supply_room=_room(put.supply_room),
            borrow_room=0 if closed else min(taken.liquidity, _room(taken.borrow_room)),
            withdraw_room=min(mine.supplied, put.liquidity),
            other_cover=Fraction(max(0, found.cover - covered * threshold // 10_000)) * per_base,
            other_ltv=Fraction(max(0, found.collateral * found.ltv_bps // 10_000 - covered * ltv // 10_000)) * per_base,
            other_debt=Fraction(max(0, found.debt - lent_value)) * per_base,
            closed=closed,
        )

    def leg_rates(self, position: Position) -> Reads[tuple[int, ...]]:
        """One batch."""
        where = self._where(position.ref.chain_id)
        calls = [call for leg in position.legs for call in reserve_calls(where, leg.token)]
        outcomes = yield calls
        stable = position.facts.get("stable_debts", ())
        found = []
        for number, leg in enumerate(position.legs):
            reserve = read_reserve(leg.token, outcomes[3 * number : 3 * number + 3], label=self.label)
            # Of two debts in one token the first is the variable one.
            earlier = any(other.token == leg.token and other.raw < 0 for other in position.legs[:number])
            is_stable = leg.token in stable and (earlier or not _is_twice(position, leg.token))
            owed = reserve.stable_rate if is_stable else reserve.variable_rate
            found.append(annual_ppm(reserve.supply_rate if leg.raw > 0 else owed))
        return tuple(found)

    def spender(self, pair: LendingPair, verb: Verb) -> str:
        """The pool."""
        return self._where(pair.ref.chain_id).pool

    def calls(
        self,
        pair: LendingPair,
        verb: Verb,
        amount: int | None,
        *,
        earlier: Sequence[int] = (),
        clears: bool = False,
    ) -> tuple[Call, ...]:
        """At the variable rate."""
        pool, account = self.spender(pair, verb), pair.ref.id
        named = signatures.EVERYTHING if amount is None else amount
        if verb is Verb.SUPPLY:
            data = encode_call(signatures.SUPPLY, pair.collateral, named, account, 0)
        elif verb is Verb.WITHDRAW:
            data = encode_call(signatures.WITHDRAW, pair.collateral, named, account)
        elif verb is Verb.BORROW:
            data = encode_call(signatures.BORROW, pair.debt, named, signatures.VARIABLE, 0, account)
        else:
            data = encode_call(signatures.REPAY, pair.debt, named, signatures.VARIABLE, account)
        return (Call(pool, data, 0, f"{verb.capitalize()} at {self.label}"),)

    def flash_terms(self, chain_id: int, asset: str) -> Reads[FlashTerms | None]:
        """What is in the reserve, at the pool's premium."""
        where = self._where(chain_id)
        told, premium = yield from gather(reserve_calls(where, asset), [ReadCall(where.pool, signatures.FLASH_PREMIUM)])
        try:
            reserve = read_reserve(asset, told, label=self.label)
        except MarketNotFound:
            return None
        if not premium[0].ok or not reserve.configuration.has_flash_loans or reserve.configuration.is_paused:
            return None
        return FlashTerms(reserve.liquidity, premium[0].values[0] * PPM // 10_000)

    def flash_probe(self, chain_id: int, receiver: str, asset: str) -> ReadCall:
        """The pool asks `executeOperation` and takes nothing but true."""
        return ReadCall(receiver, signatures.EXECUTE_OPERATION, (asset, 0, 0, receiver, b""))

    def flash_call(self, chain_id: int, receiver: str, asset: str, amount: int, data: bytes) -> Call:
        """Pays premium and amount back out of the receiver's allowance."""
        encoded = encode_call(signatures.FLASH_LOAN_SIMPLE, receiver, asset, amount, data, 0)
        return Call(self._where(chain_id).pool, encoded, 0, f"Flash loan at {self.label}")

    def _where(self, chain_id: int) -> PoolContracts:
        where = contracts_on(self.deployments, chain_id)
        if where is None:
            raise MarketNotFound(f"{self.label} is not on chain {chain_id}")
        return where


def _room(room: int | None) -> int:
    return UNCAPPED if room is None else room


def _is_twice(position: Position, token: str) -> bool:
    return sum(leg.token == token and leg.raw < 0 for leg in position.legs) > 1


def _closed(put: Reserve, taken: Reserve, isolated_by: Reserve | None, *, is_used: bool, may_borrow: bool) -> str:
    """Why nothing more can be borrowed against this collateral; empty when it can."""
    for reserve, what in ((put, "the collateral"), (taken, "the debt")):
        configuration = reserve.configuration
        if not configuration.is_active or configuration.is_paused or configuration.is_frozen:
            return f"the market of {what} is paused, frozen or inactive"
    if not taken.configuration.is_borrowable:
        return "the debt's asset is not lent out"
    if not put.configuration.ltv_bps or not is_used:
        return "the collateral's asset counts as none"
    if not may_borrow:
        return "the debt's asset is not in the e-mode category that the account has chosen"
    isolation = isolated_by or (put if put.configuration.debt_ceiling else None)
    if isolation is not None and not taken.configuration.is_borrowable_in_isolation:
        return "the collateral is isolated, and the debt's asset is not lent against such"
    return ""
