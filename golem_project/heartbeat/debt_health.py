"""The health tripwire: every debt against its owner's floor, each tick; what to tell, and what lowers it. Pure.

Under the floor a debt is lowered until its health is well above it; a warning comes a tenth earlier. What was told is
told again only when it gets worse, and is forgotten once the health is well above the warning: a health that trembles
around a limit rings once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final
from uuid import UUID

from golem_project.heartbeat.liquidity_plan import RuleWish, Urgency
from golem_project.heartbeat.refused_wish_backoff import read_waits
from golem_project.heartbeat.tick_memory import read_memory
from permits_app.models.action_record import RESCUE_KEY
from permits_app.safety.format_rule_figures import format_ratio
from tools_app.core.stored_json import read_stored
from tools_app.core.units import BPS
from tools_app.portfolio.holdings import HeldPosition, Holdings
from tools_app.toolkit.enums import LEAVING
from tools_app.toolkit.golem_chains import place_params
from tools_app.toolkit.positions import Act
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool

WARNING_BPS: Final = 11_000
"""Of the floor: from here down an owner is warned."""
CALM_BPS: Final = 11_200
"""Of the floor: from here up what was told is forgotten."""
TARGET_BPS: Final = 11_500
"""Of the floor: so far a debt under it is lifted, beyond the warning, so that one rescue is enough."""
WORSE_BPS: Final = 500
"""So much less health than was told is news again."""
HIGHEST_TARGET_BPS: Final = 1_000_000


class Alarm(IntEnum):
    """How a debt stands, in the order of its urgency."""

    CALM = 0
    NEAR = 1
    UNDER = 2
    UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class ToldDebt:
    """What the owner was told of a debt, the health it had then, and whether they were told that it is not known."""

    alarm: Alarm = Alarm.CALM
    health_bps: int = 0
    of_unknown: bool = False

    def and_of(self, debt: WatchedDebt) -> ToldDebt:
        """With what is told now."""
        if debt.alarm is Alarm.UNKNOWN:
            return replace(self, of_unknown=True)
        return ToldDebt(debt.alarm, debt.health_bps, self.of_unknown)


@dataclass(frozen=True, slots=True)
class StoredDebt:
    """A debt in a heartbeat's stored state, with what was told of it; health, floor and warning in basis points."""

    label: str
    health: int
    floor: int
    alarm: int
    warn: int = 0
    leaves: bool = False
    told: int | None = None
    told_bps: int = 0
    told_unknown: bool = False


@dataclass(frozen=True, slots=True)
class AskedHealth:
    """What the golem itself asks of its debts at one lender of a chain, beside its owner's floor."""

    alert_id: UUID
    protocol: str
    chain_id: int
    min_health_bps: int
    tells: bool
    acts: bool
    leaves: bool

    def is_about(self, held: HeldPosition) -> bool:
        """Whether a position is one of these debts."""
        return (held.ref.protocol, held.ref.chain_id) == (self.protocol, self.chain_id)


@dataclass(frozen=True, slots=True)
class WatchedDebt:
    """One debt. `health_bps` is measured: 10,000 is liquidation, 0 where it cannot be told. `is_news` is whether its
    owner has not been told of this yet.

    `floor_bps` is the higher of the owner's floor and what the golem asks to be acted on; `warn_bps` is where the golem
    asked to be told, 0 where it did not. `leaves` is whether it asked to be out rather than to owe less.
    """

    ref: str
    label: str
    health_bps: int
    floor_bps: int
    alarm: Alarm
    is_news: bool = False
    warn_bps: int = 0
    leaves: bool = False

    @property
    def warning_bps(self) -> int:
        """From here down its owner is warned."""
        return max(_share(self.floor_bps, WARNING_BPS), self.warn_bps)

    @property
    def limit_bps(self) -> int:
        """What its health is told beside: the floor, or the golem's own alert where that one warns first."""
        is_asked = self.alarm is Alarm.NEAR and self.warn_bps >= _share(self.floor_bps, WARNING_BPS)
        return self.warn_bps if is_asked else self.floor_bps

    @property
    def calm_bps(self) -> int:
        """From here up what was told is forgotten."""
        return self.warning_bps * CALM_BPS // WARNING_BPS

    @property
    def sentence(self) -> str:
        """For its owner."""
        if self.alarm is Alarm.UNKNOWN:
            return f"The health of {self.label} cannot be told: a price or its lender does not answer."
        where = "under your floor" if self.alarm is Alarm.UNDER else "near your floor"
        if self.limit_bps != self.floor_bps:
            where = "under the golem's alert"
        return (
            f"The health of {self.label} is {format_ratio(self.health_bps)}, {where} of {format_ratio(self.limit_bps)};"
            " at 1.00 it is liquidated."
        )


def watch_debts(
    *,
    holdings: Holdings | None,
    floor_bps: int,
    told: Mapping[str, ToldDebt],
    remembered: Iterable[WatchedDebt] = (),
    asked: Sequence[AskedHealth] = (),
) -> tuple[WatchedDebt, ...]:
    """Every debt of `holdings`, the most urgent first. None: nothing could be read, and what was owed at the look
    before (`remembered`) is not known to be well.
    """
    if holdings is None:
        found = [WatchedDebt(each.ref, each.label, 0, floor_bps, Alarm.UNKNOWN) for each in remembered]
    else:
        found = [_watch(each, floor_bps, asked) for each in holdings.positions if each.health_bps is not None]
    marked = [replace(each, is_news=_is_news(each, told.get(each.ref))) for each in found]
    return tuple(sorted(marked, key=lambda each: (-each.alarm, each.health_bps, each.ref)))


def keep_told(told: Mapping[str, ToldDebt], debts: Iterable[WatchedDebt]) -> dict[str, ToldDebt]:
    """What was told of debts that are not well again."""
    return {
        each.ref: told[each.ref]
        for each in debts
        if each.ref in told and (each.alarm is Alarm.UNKNOWN or each.health_bps < each.calm_bps)
    }


def list_breached(
    *, holdings: Holdings | None, debts: Iterable[WatchedDebt], asked: Sequence[AskedHealth]
) -> frozenset[UUID]:
    """Which of `asked` some debt is below."""
    health = {each.ref: each.health_bps for each in debts if each.alarm is not Alarm.UNKNOWN}
    return frozenset(
        wish.alert_id
        for held in (holdings.positions if holdings is not None else ())
        for wish in asked
        if wish.is_about(held) and health.get(str(held.ref), wish.min_health_bps) < wish.min_health_bps
    )


def plan_rescues(
    *, debts: Iterable[WatchedDebt], holdings: Holdings | None, account: str, now: int, refused: frozenset[str]
) -> tuple[RuleWish, ...]:
    """What lowers the debts that are under their floor, most urgent first. `now` in unix seconds; `refused` are keys
    of wishes that were refused and wait, in whose place the protocol's own way out is taken, or where that was refused
    too the smaller step of it.
    """
    if holdings is None:
        return ()
    by_ref = {str(each.ref): each for each in holdings.positions}
    wishes: list[RuleWish] = []
    for debt in debts:
        if debt.alarm is not Alarm.UNDER:
            continue
        deleverage = None if debt.leaves else _deleverage(debt, by_ref[debt.ref], account)
        wishes += [deleverage] if deleverage is not None else []
        if deleverage is None or deleverage.key in refused:
            wishes += _leave(debt, by_ref[debt.ref], holdings, now, refused)
    return tuple(wishes)


def _read_rows(stored: Mapping[str, object]) -> Mapping[str, StoredDebt]:
    return {ref: read_stored(StoredDebt, row) for ref, row in stored.items()}


def read_told(stored: Mapping[str, object]) -> dict[str, ToldDebt]:
    """What was told, out of a stored state."""
    return {
        ref: ToldDebt(Alarm(row.told), row.told_bps, row.told_unknown)
        for ref, row in _read_rows(stored).items()
        if row.told is not None
    }


def read_debts(stored: Mapping[str, object]) -> tuple[WatchedDebt, ...]:
    """The debts of the look before, out of a stored state."""
    return tuple(
        WatchedDebt(ref, row.label, row.health, row.floor, Alarm(row.alarm), warn_bps=row.warn, leaves=row.leaves)
        for ref, row in _read_rows(stored).items()
    )


def write_debts(debts: Iterable[WatchedDebt], told: Mapping[str, ToldDebt]) -> dict[str, object]:
    """What the next tick starts from, JSON-ready."""
    return {
        each.ref: {
            "label": each.label,
            "health": each.health_bps,
            "floor": each.floor_bps,
            "alarm": int(each.alarm),
            **({"warn": each.warn_bps} if each.warn_bps else {}),
            **({"leaves": True} if each.leaves else {}),
            **(_write_told(told[each.ref]) if each.ref in told else {}),
        }
        for each in debts
    }


def describe_dangers(stored: Mapping[str, object]) -> tuple[tuple[str, bool], ...]:
    """A sentence for each debt in danger out of a heartbeat's whole state, with what is done about it, and whether it
    is under the floor.
    """
    memory = read_memory(stored)
    waits = read_waits(memory.waits)
    found = []
    for debt in read_debts(memory.health):
        if debt.alarm is Alarm.CALM:
            continue
        wait = waits.get(f"{RESCUE_KEY}{debt.ref}")
        if debt.alarm is not Alarm.UNDER:
            rest = ""
        elif debt.leaves:
            rest = " Each tick takes the next step out of it, as the golem asked."
        elif wait is None:
            rest = f" Each tick lowers the debt until it is {format_ratio(_share(debt.floor_bps, TARGET_BPS))}."
        else:
            rest = f" Lowering the debt was refused ({wait.code}) and is tried again."
        found.append((debt.sentence + rest, debt.alarm is not Alarm.NEAR))
    return tuple(found)


def _write_told(told: ToldDebt) -> dict[str, object]:
    return {"told": int(told.alarm), "told_bps": told.health_bps, "told_unknown": told.of_unknown}


def _watch(held: HeldPosition, floor_bps: int, asked: Sequence[AskedHealth]) -> WatchedDebt:
    wishes = [each for each in asked if each.is_about(held)]
    acting = max((each.min_health_bps for each in wishes if each.acts), default=0)
    debt = WatchedDebt(
        str(held.ref),
        held.position.label,
        held.health_bps or 0,
        max(floor_bps, acting),
        Alarm.CALM,
        warn_bps=max((each.min_health_bps for each in wishes if each.tells), default=0),
        leaves=any(each.leaves for each in wishes),
    )
    if debt.health_bps <= 0:
        return replace(debt, alarm=Alarm.UNKNOWN)
    if debt.health_bps < debt.floor_bps:
        return replace(debt, alarm=Alarm.UNDER)
    return replace(debt, alarm=Alarm.NEAR if debt.health_bps < debt.warning_bps else Alarm.CALM)


def _is_news(debt: WatchedDebt, told: ToldDebt | None) -> bool:
    if debt.alarm is Alarm.CALM:
        return False
    if debt.alarm is Alarm.UNKNOWN:
        return told is None or not told.of_unknown
    if told is None or debt.alarm > told.alarm:
        return True
    return debt.alarm is Alarm.UNDER and debt.health_bps <= told.health_bps - WORSE_BPS


def _deleverage(debt: WatchedDebt, held: HeldPosition, account: str) -> RuleWish | None:
    """Sell collateral and repay: what works at every lender that core code knows to leave by legs."""
    return plan_deleverage(
        debt,
        held,
        account,
        target_bps=_share(debt.floor_bps, TARGET_BPS),
        key=f"{RESCUE_KEY}{debt.ref}",
        reason=debt.sentence,
    )


def plan_deleverage(
    debt: WatchedDebt,
    held: HeldPosition,
    account: str,
    *,
    target_bps: int,
    key: str,
    reason: str,
    urgency: Urgency = Urgency.RESCUE,
) -> RuleWish | None:
    """A wish to lower `debt` until its health is `target_bps`; None where core code knows no way at its lender."""
    protocol = SHELF.get(held.ref.protocol)
    if protocol is None or protocol.lending is None:
        return None
    target = target_bps
    told = held.position.health_bps
    if told is not None and told > debt.health_bps:
        # The tool counts as the lender does; where our feeds see less, it has to go further.
        target = -(-target * told // debt.health_bps)
    target = min(target, HIGHEST_TARGET_BPS)
    return RuleWish(
        key=key,
        venue="lending",
        action_type="auto_deleverage",
        params={
            "account": account,
            "target_health_factor": f"{target // BPS}.{target % BPS:04d}",
            "protocol": held.ref.protocol,
            "position": debt.ref,
            "chain_id": held.ref.chain_id,
        },
        reason=reason,
        is_leaving=True,
        is_rescue=True,
        urgency=urgency,
    )


def _leave(
    debt: WatchedDebt, held: HeldPosition, holdings: Holdings, now: int, refused: frozenset[str]
) -> list[RuleWish]:
    """The protocol's own next step out, where that is one of ours that leaves, and once it was refused the smaller one
    too; none where it waits or needs more.
    """
    protocol = SHELF.get(held.ref.protocol)
    if protocol is None or protocol.exits is None:
        return []
    balances = {each.token.address: each.raw for each in holdings.on_chain(held.ref.chain_id).tokens}
    step = protocol.exits.next_step(held.position, balances, now)
    if not isinstance(step, Act):
        return []
    key = f"leave:{debt.ref}"
    found = [_wish_to_leave(key, debt, step, held.ref.chain_id)]
    if key in refused and step.in_part is not None:
        found.append(_wish_to_leave(f"leave_in_part:{debt.ref}", debt, step.in_part, held.ref.chain_id))
    return [each for each in found if each is not None]


def _wish_to_leave(key: str, debt: WatchedDebt, step: Act, chain_id: int) -> RuleWish | None:
    tool = REGISTRY.get(step.tool)
    if not isinstance(tool, WriteTool) or not (tool.is_rescue or tool.action_class in LEAVING):
        return None
    return RuleWish(
        key=key,
        venue=tool.venue,
        action_type=tool.key,
        params=place_params(tool, step.params, chain_id=chain_id),
        reason=f"{debt.sentence} {step.reason}",
        is_leaving=True,
        is_rescue=True,
    )


def _share(bps: int, of: int) -> int:
    return bps * of // BPS
