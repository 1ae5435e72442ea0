"""What a plan does to positions, measured in the simulation, against what it says it does.

Nothing is believed that was not measured: a leg that shrinks, a debt that grows, or a position that is born without the
plan saying so refuses it, whatever tokens tell. A debt counts like a spend: the plan bounds it. Health is the lower of
the protocol's own word and what the legs are worth at our feeds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar

from permits_app.errors import SimulationFailed
from permits_app.hook_rejection import Reject
from permits_app.safety.format_rule_figures import format_amount, format_ratio
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.portfolio.health import ValueOf, measure_health
from tools_app.portfolio.holdings import value_of as value_at
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import HealthTooLow, Position, PositionChange, PositionRef
from tools_app.toolkit.views import TokenMeta

Told = TypeVar("Told")
Key: TypeAlias = tuple[str, str, str, bool]
"""What a plan calls a position, its kind, a token in it, and whether that counts."""

_ROOM_PARTS: Final = 10**7
DUST: Final = 2
"""Base units that rounding inside a protocol may take from a leg nobody touched."""
INTEREST_BPS: Final = 1
"""What a block of interest may take of health, and far more than it does at any rate that a market asks: what raises
risk keeps so much above the floor, so that it does not stand below it in the block after.
"""


@dataclass(frozen=True, slots=True)
class Moved:
    """One position before and after the calls; None where it was not there."""

    ref: PositionRef
    before: Position | None
    after: Position | None

    @property
    def is_born(self) -> bool:
        """Whether the calls opened it."""
        return self.before is None

    def list_changes(self) -> dict[str, int]:
        """Base units by token by which its legs moved, signed as legs are; nothing for what stayed."""
        tokens = {leg.token for position in (self.before, self.after) if position for leg in position.legs}
        changes = {token: _raw_of(self.after, token) - _raw_of(self.before, token) for token in tokens}
        return {token: change for token, change in changes.items() if change}

    def list_uncounted_changes(self, *, is_paid_for: bool = False) -> dict[str, int]:
        """Base units by token by which what never counts in it moved; only what somebody buys with `is_paid_for`."""
        both = [position for position in (self.before, self.after) if position is not None]
        tokens = {each.token for position in both for each in position.uncounted}

        def held(position: Position | None, token: str) -> int:
            return position.uncounted_of(token, is_paid_for=is_paid_for) if position is not None else 0

        changes = {token: held(self.after, token) - held(self.before, token) for token in tokens}
        return {token: change for token, change in changes.items() if change}


def list_moved(simulation: SimulationResult) -> tuple[Moved, ...]:
    """Every position the simulation was asked for, before and after, in the order of their refs."""
    return pair_up(simulation.positions_before or (), simulation.positions_after or ())


def pair_up(before: Iterable[Position], after: Iterable[Position]) -> tuple[Moved, ...]:
    """Positions of two moments by their refs, in the order of these."""
    first = {position.ref: position for position in before}
    last = {position.ref: position for position in after}
    return tuple(Moved(ref, first.get(ref), last.get(ref)) for ref in sorted({*first, *last}))


def list_claim_tokens(simulation: SimulationResult) -> frozenset[str]:
    """Tokens that stand for a measured position: what they move is told by the position."""
    return claims_of(list_moved(simulation))


def claims_of(moved: Iterable[Moved]) -> frozenset[str]:
    """The claim tokens of positions, before and after."""
    both = (position for each in moved for position in (each.before, each.after) if position is not None)
    return frozenset(token for position in both for token in position.claim_tokens)


@dataclass(frozen=True, slots=True)
class Broken:
    """A change of a position's legs that the plan does not allow; `bound` None: it does not speak of it at all."""

    slot: str
    kind: str
    token: str
    change: int
    bound: int | None


def sum_slashed(moved: Sequence[Moved]) -> Mapping[Key, int]:
    """Base units that slashes took between two moments, by what a plan calls the position that has them less. Pure.

    A position that the calls opened is held against what was kept of its keeper's before. Where everything was taken
    nobody can say of which part: all that was there explains each.
    """
    kept: dict[tuple[str, str], int] = {}
    held: dict[tuple[str, str], int] = defaultdict(int)
    for mark in (mark for each in moved if each.before is not None for mark in each.before.slashable):
        key = (mark.keeper, mark.token)
        kept[key] = max(mark.kept, kept.get(key, 0))
        held[key] += mark.raw
    found: dict[Key, int] = defaultdict(int)
    for each in moved:
        own = {(mark.keeper, mark.token): mark.kept for mark in (each.before.slashable if each.before else ())}
        for mark in each.after.slashable if each.after is not None else ():
            key = (mark.keeper, mark.token)
            was = own.get(key, kept.get(key, 0))
            if was > mark.kept:
                lost = mark.raw * was // mark.kept - mark.raw if mark.kept else held[key]
                found[_slot_of(each.ref, is_born=each.is_born), each.ref.kind, mark.token, True] += lost
    return found


def find_broken(
    changes: Sequence[PositionChange],
    moved: Sequence[Moved],
    *,
    room: int = 0,
    slashed: Mapping[Key, int] = MappingProxyType({}),
) -> Broken | None:
    """The first change for the worse than a plan says, or of which it says nothing. Pure.

    `room` is what interest may have done between two moments, in parts of ten million of what was there; two moments of
    one block leave none. What was `slashed` between them is no doing of the plan.
    """
    actual: dict[Key, int] = defaultdict(int)
    there: dict[Key, int] = defaultdict(int)
    unasked: set[Key] = set()
    for each in moved:
        slot = _slot_of(each.ref, is_born=each.is_born)
        for token, change in each.list_changes().items():
            key = (slot, each.ref.kind, token, True)
            actual[key] += change
            there[key] += max(abs(_raw_of(each.before, token)), abs(_raw_of(each.after, token)))
        paid_for = each.list_uncounted_changes(is_paid_for=True)
        for token, change in each.list_uncounted_changes().items():
            key = (slot, each.ref.kind, token, False)
            actual[key] += change
            # What nobody pays for may do what it likes, as long as the plan promises nothing of it.
            if token not in paid_for:
                unasked.add(key)
    for key, lost in slashed.items():
        actual[key] += lost
    declared = set()
    for key, bound in _sum_changes(changes).items():
        slot, kind, token, counts = key
        # A plan may speak of a position by its name though its calls open it.
        if key not in actual and (ref := _ref_of(slot)) is not None and _is_born(moved, ref):
            key = (_slot_of(ref, is_born=True), kind, token, counts)
        declared.add(key)
        if actual[key] < bound - there[key] * room // _ROOM_PARTS:
            return Broken(slot, kind, token, actual[key], bound)
    for key, change in actual.items():
        slot, kind, token, _ = key
        if key in declared or key in unasked:
            continue
        # What was there before may earn: fees of a trade through one's own liquidity, interest, a rebase.
        is_new = _ref_of(slot) is None
        if change < -DUST - there[key] * room // _ROOM_PARTS or (is_new and change > DUST):
            return Broken(slot, kind, token, change, None)
    return None


def judge_changes(*, plan: TxPlan, simulation: SimulationResult, chain: ChainReader) -> Reject | None:
    """A position changes for the worse than the plan says, or one changes of which it says nothing."""
    broken = find_broken(plan.changes, list_moved(simulation))
    if broken is None:
        return None
    token = _name_token(broken.token, list_moved(simulation), chain)
    if broken.bound is None:
        return _unannounced(broken.slot, broken.kind, token, broken.change)
    return _worse(broken.slot, token, broken.change, broken.bound)


def judge_heirs(*, simulation: SimulationResult, account: str) -> Reject | None:
    """A standing order of the account's whose result would be somebody else's."""
    for each in list_moved(simulation):
        standing = each.after.standing if each.after is not None else None
        if standing is not None and standing.heir != account:
            return Reject(
                rule="simulator.order_heir",
                reason=f"what {each.ref} brings would be {standing.heir}'s, which is not the golem",
                observed=standing.heir,
                limit=account,
                would_pass=f"the same order with {account} as the one who gets what comes of it",
                error=SimulationFailed,
                data={"position": str(each.ref), "heir": standing.heir},
            )
    return None


def judge_gauges(*, plan: TxPlan, simulation: SimulationResult) -> Reject | None:
    """A figure that no token tells ends outside what the plan says."""
    for promise, value in zip(plan.gauges, simulation.gauges_after[: len(plan.gauges)], strict=True):
        is_low = promise.least is not None and value < promise.least
        if is_low or (promise.most is not None and value > promise.most):
            limit = f"at least {promise.least}" if is_low else f"at most {promise.most}"
            return Reject(
                rule="simulator.gauge",
                reason=f"{promise.gauge.name} would be {value}; the plan promises {limit}",
                observed=str(value),
                limit=limit,
                would_pass="calls that keep what the plan promises",
                error=SimulationFailed,
                data={"gauge": promise.gauge.name, "contract": promise.gauge.to},
            )
    return None


def judge_health(
    *, plan: TxPlan, simulation: SimulationResult, floor_bps: int, value_of: ValueOf, is_raising: bool
) -> Reject | None:
    """A debt would stand on less than it may. `floor_bps` is the golem's own floor.

    What raises risk must end above the floor by the interest of a block. What only lowers it may end below, but never
    with less health than before: a rescue that is too small is still a rescue.
    """
    raised = floor_bps + INTEREST_BPS
    promised = {change.ref: change.least_health_bps or 0 for change in plan.changes if change.ref is not None}
    for each in list_moved(simulation):
        after = measure_health(each.after, value_of)
        if after is None:
            continue
        before = measure_health(each.before, value_of)
        if before == after and not each.list_changes():
            continue
        if not is_raising and before is not None and after >= before:
            # Whatever was promised: a way out that makes a loan no worse stays open.
            continue
        least = max(promised.get(each.ref, 0), raised if is_raising else min(floor_bps, before or floor_bps))
        if after < least:
            was = "no debt now" if before is None else f"{format_ratio(before)} now"
            limit = f"at least {format_ratio(least)}" + (", and the interest of a block" if is_raising else "")
            return Reject(
                rule="simulator.health",
                reason=(
                    f"the health of {each.ref} would be {format_ratio(after)} ({was}; 1.00 is liquidation);"
                    f" {limit} is asked"
                ),
                observed=format_ratio(after),
                limit=limit,
                remaining=format_ratio(max(0, (before or after) - least)),
                would_pass="less debt, more collateral, or a repayment first",
                error=HealthTooLow,
                data={"position": str(each.ref), "health_bps": str(after), "least_health_bps": str(least)},
            )
    return None


def price_on(chain: ChainReader) -> ValueOf:
    """Micro-USD at the chain's feeds. What it makes raises PriceUnavailable, PriceStale, TokenNotFound."""

    def value_of(token: str, raw: int) -> int:
        meta = chain.token(token)
        return value_at(raw, meta, chain.price(meta))

    return value_of


def by_prices_or_lender(chain: ChainReader, use: Callable[[ValueOf], Told]) -> Told:
    """What `use` makes of our feeds; of what they do not price, of the lender's own word of health alone.

    For what must not wait for a price: a way out under a halt, and telling what happened.
    """
    try:
        return use(price_on(chain))
    except (PriceStale, PriceUnavailable):
        return use(lambda token, raw: 0)


def refuse_unpriced(error: PriceUnavailable | PriceStale, *, rule: str, what: str, limit: str) -> Reject:
    """Refuse what cannot be judged without a price: `what` says of what, `limit` what is wanted."""
    return Reject(
        rule=rule,
        reason=f"{what}: {error.detail}",
        observed=error.code,
        limit=limit,
        would_pass="the same action once the price feed answers again",
        error=type(error),
        data=error.data,
    )


def _sum_changes(changes: Sequence[PositionChange]) -> Mapping[Key, int]:
    sums: dict[Key, int] = defaultdict(int)
    for change in changes:
        slot = str(change.ref) if change.ref is not None else change.protocol
        sums[slot, change.kind, change.token, change.counts] += change.bound
    return sums


def _slot_of(ref: PositionRef, *, is_born: bool) -> str:
    """What a plan can call it: by its name, or, of one that is born, by its protocol."""
    return ref.protocol if is_born else str(ref)


def _ref_of(slot: str) -> PositionRef | None:
    return PositionRef.parse(slot) if "/" in slot else None


def _is_born(moved: Sequence[Moved], ref: PositionRef) -> bool:
    return any(each.ref == ref and each.is_born for each in moved)


def _raw_of(position: Position | None, token: str) -> int:
    return position.raw_of(token) if position is not None else 0


def _name_token(address: str, moved: Sequence[Moved], chain: ChainReader) -> TokenMeta:
    """A token by its contract; one that never counts by its protocol, so that nobody's contract is asked."""
    for each in (position for one in moved for position in (one.before, one.after) if position is not None):
        for held in each.uncounted:
            if held.token == address:
                return TokenMeta(chain.chain_id, address, held.symbol, held.decimals, "", is_registered=False)
    return chain.token(address)


def _worse(slot: str, token: TokenMeta, found: int, bound: int) -> Reject:
    promise = f"at least {_signed(bound, token)}"
    return Reject(
        rule="simulator.position_bound",
        reason=f"{slot} would change by {_signed(found, token)}; the plan promises {promise}",
        observed=_signed(found, token),
        limit=promise,
        would_pass=f"calls that keep the promise of {promise}",
        error=SimulationFailed,
        data={"position": slot, "token": token.address},
    )


def _unannounced(slot: str, kind: str, token: TokenMeta, change: int) -> Reject:
    return Reject(
        rule="simulator.position_unannounced",
        reason=f"{slot} ({kind}) would change by {_signed(change, token)}, and the plan does not speak of it",
        observed=_signed(change, token),
        limit="only positions the plan speaks of",
        would_pass="a plan that names every position it changes",
        error=SimulationFailed,
        data={"position": slot, "token": token.address},
    )


def _signed(raw: int, token: TokenMeta) -> str:
    return f"-{format_amount(-raw, token)}" if raw < 0 else format_amount(raw, token)
