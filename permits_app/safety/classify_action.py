"""What an action is, by what it does to positions: the stricter of what its tool declares and what was measured.

Leaving passes nearly every limit, so only what really leaves is it: no debt grows, no collateral under a debt falls
below its floor, and everything returns to the golem.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from permits_app.safety.position_rules import DUST
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.positions import Position, PositionRef

_DRIFT: Final = 1_000_000
"""A leg may grow by one part in so many between the two looks: the interest of a block."""
_STRICTNESS: Final = (
    ActionClass.READ_ONLY,
    ActionClass.CLOSE_POSITION,
    ActionClass.DECREASE_POSITION,
    ActionClass.REBALANCE,
    ActionClass.INCREASE_POSITION,
    ActionClass.NEW_POSITION,
)
"""From what is allowed most to what is allowed least."""


def classify_measured(
    *,
    declared: ActionClass,
    before: Sequence[Position],
    after: Sequence[Position],
    health_before: Mapping[PositionRef, int | None],
    health_after: Mapping[PositionRef, int | None],
    floor_bps: int,
    returns_to_golem: bool,
) -> ActionClass:
    """The class that the rules judge. `before` and `after` are the account's positions around the calls, and health is
    measured in basis points, None without debt. Where positions did not move the declared class stands, unless it
    claims to leave and something goes to somebody else out of one that shrank.
    """
    return max(
        declared,
        measure_class(
            before=before,
            after=after,
            health_before=health_before,
            health_after=health_after,
            floor_bps=floor_bps,
            returns_to_golem=returns_to_golem,
        )
        or declared,
        key=_STRICTNESS.index,
    )


def measure_class(
    *,
    before: Sequence[Position],
    after: Sequence[Position],
    health_before: Mapping[PositionRef, int | None],
    health_after: Mapping[PositionRef, int | None],
    floor_bps: int,
    returns_to_golem: bool,
) -> ActionClass | None:
    """What the positions alone say; None where they did not move. What has arrived by itself is a position no more."""
    was = {each.ref: each for each in before if not each.is_settled}
    is_now = {each.ref: each for each in after if not each.is_settled}
    moves = {ref: _moves_of(was.get(ref), is_now.get(ref)) for ref in sorted({*was, *is_now})}
    moved = {ref for ref, (up, down, more_debt) in moves.items() if up or down or more_debt}
    if not moved:
        return None
    if any(more_debt for _, _, more_debt in moves.values()):
        return ActionClass.INCREASE_POSITION
    grows = {ref for ref, (up, _, _) in moves.items() if up}
    shrinks = {ref for ref, (_, down, _) in moves.items() if down}
    if grows and not shrinks:
        is_new = any(ref not in was for ref in grows)
        return ActionClass.NEW_POSITION if is_new else ActionClass.INCREASE_POSITION
    if not returns_to_golem or any(_falls_below(ref, health_before, health_after, floor_bps) for ref in is_now):
        return ActionClass.INCREASE_POSITION
    if grows and not _only_waits(grows, shrinks, was, is_now):
        return ActionClass.REBALANCE
    return ActionClass.DECREASE_POSITION if any(ref in is_now for ref in moved) else ActionClass.CLOSE_POSITION


def list_deeper_debts(before: Sequence[Position], after: Sequence[Position]) -> list[PositionRef]:
    """Positions that owe more of anything than they did, or are born with a debt; more than the interest of a block."""
    was = {each.ref: each for each in before}
    return [each.ref for each in after if _moves_of(was.get(each.ref), each)[2]]


def is_deeper(before: int, after: int) -> bool:
    """Whether so much more is owed than the interest of a block makes of what was owed."""
    return _grew(before, after)


def _moves_of(before: Position | None, after: Position | None) -> tuple[bool, bool, bool]:
    """Whether it holds more of anything or owes less, holds less, and owes more."""
    held_before, owed_before = _sides(before)
    held_after, owed_after = _sides(after)
    up = any(_grew(held_before.get(token, 0), raw) for token, raw in held_after.items())
    down = any(_grew(held_after.get(token, 0), raw) for token, raw in held_before.items())
    repaid = any(_grew(owed_after.get(token, 0), raw) for token, raw in owed_before.items())
    more_debt = any(_grew(owed_before.get(token, 0), raw) for token, raw in owed_after.items())
    return up, down or repaid, more_debt


def _sides(position: Position | None) -> tuple[dict[str, int], dict[str, int]]:
    held: dict[str, int] = {}
    owed: dict[str, int] = {}
    for leg in position.legs if position is not None else ():
        side = held if leg.raw > 0 else owed
        side[leg.token] = side.get(leg.token, 0) + abs(leg.raw)
    for each in position.uncounted if position is not None else ():
        # What was paid for is a holding, however little it counts as; a reward that grows is no deposit.
        if each.market is not None:
            held[each.token] = held.get(each.token, 0) + each.raw
    return held, owed


def _grew(before: int, after: int) -> bool:
    return after - before > DUST + before // _DRIFT


def _falls_below(
    ref: PositionRef,
    before: Mapping[PositionRef, int | None],
    after: Mapping[PositionRef, int | None],
    floor_bps: int,
) -> bool:
    """Whether a debt stands on less than the floor and on less than it did. A small rescue is still a rescue."""
    now = after.get(ref)
    if now is None or now >= floor_bps:
        return False
    was = before.get(ref)
    return was is None or now < was


def _only_waits(
    grows: set[PositionRef],
    shrinks: set[PositionRef],
    was: Mapping[PositionRef, Position],
    is_now: Mapping[PositionRef, Position],
) -> bool:
    """Whether all that grew is queued on its way out of the same protocol, in no larger amount than was taken out.

    What waited already may grow by it: some protocols have one cooldown for all that an account asks for.
    """
    for ref in grows:
        legs = (*is_now[ref].legs, *(was[ref].legs if ref in was else ()))
        if any(leg.free_at is None for leg in legs if leg.raw > 0):
            return False
    taken: dict[tuple[str, str], int] = {}
    for ref in shrinks:
        held_before, held_after = _sides(was.get(ref))[0], _sides(is_now.get(ref))[0]
        for token, raw in held_before.items():
            key = (ref.protocol, token)
            taken[key] = taken.get(key, 0) + raw - held_after.get(token, 0)
    for ref in grows:
        held_before, held_after = _sides(was.get(ref))[0], _sides(is_now[ref])[0]
        for token, raw in held_after.items():
            key = (ref.protocol, token)
            taken[key] = taken.get(key, 0) - (raw - held_before.get(token, 0))
    return all(left >= -DUST for left in taken.values())
