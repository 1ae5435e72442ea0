"""Builds the portfolio card: tokens, positions, debts, health, unlocks, and the change of a day.

The same figures as every rule's: `measure_holdings` and the snapshots. Its own page reads the chain; the cockpit and
the fleet show the newest snapshot with its age. A node that does not answer is said so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.models import NavSnapshot, PolicyCage
from permits_app.pages.health_lines import with_health
from permits_app.pages.limit_meter import Meter
from permits_app.performance.profit_days import DAY, read_worth
from permits_app.performance.profit_days import RecentWorth as DayWorth
from permits_app.permits.holdings_json import tell_holdings
from permits_app.permits.other_chain_holdings import NOWHERE, Elsewhere, look_elsewhere
from permits_app.safety.figures import format_ratio
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.units import BPS
from tools_app.pages.html import show_amount
from tools_app.portfolio.holdings import JUMPED, Holdings, measure_holdings
from tools_app.portfolio.position_search import list_gaps
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.pool_hooks import RISKY, WORDS_OF_POWERS, HookPower
from tools_app.toolkit.positions import WHEN_REPAID
from tools_app.wording.formats import (
    format_age,
    format_bps,
    format_chain,
    format_seconds,
    format_usd,
    group_digits,
    shorten_amount,
)

READ_DEADLINE_MS = 1_500
LIQUIDATION_BPS = 10_000
_MOST_SHARES = 8


@dataclass(frozen=True, slots=True)
class TokenLine:
    """One token in the wallet; `worth` is empty where it counts through a position."""

    symbol: str
    amount: SafeString
    worth: str
    note: str
    is_simulated: bool


@dataclass(frozen=True, slots=True)
class PositionLine:
    """One position: what is in it, what it adds to the value, its debt with its health, and when it is free."""

    label: str
    protocol: str
    holds: tuple[str, ...]
    owes: tuple[str, ...]
    worth: str
    debt: str
    health: str
    health_tone: str
    unlocks: str
    is_simulated: bool
    range: Mapping[str, Any] | None = None
    """Of a position of concentrated liquidity, as `tell_range` tells it."""
    times: Mapping[str, Any] | None = None
    """When parts of it come free or are due, on one scale for all positions."""
    health_line: Mapping[str, Any] | None = None
    """Its health over the last ticks, as `draw_health` draws it."""
    counted: tuple[str, ...] = ()
    """By what rule it counts, where that is not the price of what it holds."""


@dataclass(frozen=True, slots=True)
class DayChange:
    """The last day: profit or loss with its parts, and what came in or went out besides."""

    total: str
    parts: tuple[tuple[str, str], ...]
    moved: str
    since: str


@dataclass(frozen=True, slots=True)
class ChainLine:
    """What is held on one chain, and when that was counted; or since when it is not."""

    name: str
    worth: str
    asof: str


@dataclass(frozen=True, slots=True)
class PortfolioCard:
    """Everything at one block; `problem` is why nothing could be read, `uncounted` what the value leaves out."""

    tokens: tuple[TokenLine, ...] = ()
    positions: tuple[PositionLine, ...] = ()
    allocation: tuple[Meter, ...] = ()
    """How much of the portfolio each asset and the largest position is, beside what the cage allows."""
    value: str = ""
    value_micro_usd: int | None = None
    """The same figure; None where nothing could be read."""
    debt: str = ""
    liquid: str = ""
    change: DayChange | None = None
    uncounted: tuple[str, ...] = ()
    block: str = ""
    problem: str = ""
    chains: tuple[ChainLine, ...] = ()
    """Each chain, where there are several."""


@dataclass(frozen=True, slots=True)
class PositionSum:
    """Positions in one line; texts are empty where nothing is owed or locked."""

    many: int
    owes: str
    health: str
    health_tone: str
    unlocks: str


def read_portfolio_card(golem: Golem, *, now: datetime) -> PortfolioCard:
    """What `golem` holds on all its chains, each read within a short deadline."""
    if not golem.address:
        return PortfolioCard()
    worth = read_worth(golem_id=golem.pk, now=now)
    try:
        reader = runner.open_reader(golem.home_chain_id, now=now, deadline=Deadline.after_ms(READ_DEADLINE_MS))
        elsewhere = look_elsewhere(
            golem=view_golem(golem),
            own_chain_id=golem.home_chain_id,
            own=reader,
            now=now,
            budget_ms=READ_DEADLINE_MS,
        )
        hints = elsewhere.choose(list_hints(chain_id=golem.home_chain_id, account=golem.address))
        held = measure_holdings(chain=reader, account=golem.address, hints=hints)
        number = reader.block.number
    except GolemError as error:
        problem = f"The node of {format_chain(golem.home_chain_id)} does not answer: {error.detail}"
        return PortfolioCard(change=describe_change(worth, now=now), problem=problem)
    whole = [held, *(each.holdings for each in elsewhere.looks)]
    told = _join_told([tell_holdings(each, now=now) for each in whole])
    card = _describe(golem, told, worth, asof=f"block {number:,}", now=now)
    lines = with_health(golem.pk, told["positions"], now=now)
    positions = tuple(replace(each, health_line=line) for each, line in zip(card.positions, lines, strict=True))
    card = replace(card, positions=positions, chains=_list_live_chains(golem, held, elsewhere))
    gaps = [gap for chain_id in list_chains(golem) for gap in list_gaps(chain_id=chain_id, account=golem.address)]
    return replace(card, uncounted=(*card.uncounted, *map(str, elsewhere.unread), *gaps))


def read_kept_card(golem: Golem, worth: DayWorth | None, *, now: datetime) -> PortfolioCard | None:
    """The same from the newest snapshot, with its age; None before the first. No node is asked."""
    rows = read_kept([golem.pk], now=now).get(golem.pk)
    if not rows:
        return None
    by_chain = {row.chain_id: row for row in rows}
    home = by_chain.get(golem.home_chain_id, rows[0])
    asof = f"block {home.block_number:,}, {format_age(home.at, now=now)}"
    missing = tuple(
        f"{format_chain(chain_id)} was not read within a day"
        for chain_id in list_chains(golem)
        if chain_id not in by_chain
    )
    card = _describe(golem, _join_told([row.holdings for row in rows]), worth, asof=asof, now=now)
    lines = tuple(
        ChainLine(format_chain(row.chain_id), format_usd(row.value_micro_usd), format_age(row.at, now=now))
        for row in (rows if len(rows) > 1 else ())
    )
    return replace(card, chains=lines, uncounted=(*card.uncounted, *missing))


def read_kept(golem_ids: Iterable[UUID], *, now: datetime) -> dict[UUID, list[NavSnapshot]]:
    """The newest snapshot of the last day that tells holdings on each chain, by golem, in one query."""
    rows = NavSnapshot.objects.filter(golem_id__in=list(golem_ids), at__gt=now - DAY).exclude(holdings={})
    found: dict[UUID, list[NavSnapshot]] = {}
    for row in rows.defer("state").order_by("golem_id", "chain_id", "-at").distinct("golem_id", "chain_id"):
        found.setdefault(row.golem_id, []).append(row)
    return found


def sum_up_positions(rows: Sequence[NavSnapshot], *, now: datetime) -> PositionSum:
    """Positions of snapshots in one line of a list: how many, what is owed, the lowest health, the last unlock."""
    told = [each for row in rows for each in row.holdings["positions"]]
    health = min((each["health_bps"] for each in told if each["health_bps"] is not None), default=None)
    free_at = max((each["free_at"] for each in told if each["free_at"] is not None), default=None)
    return PositionSum(
        many=len(told),
        owes=format_usd(owed) if (owed := sum(int(each["debt"]) for each in told)) else "",
        health=format_ratio(health) if health is not None else "",
        health_tone=_tone(health),
        unlocks=_say_unlock(free_at, now),
    )


def _list_live_chains(golem: Golem, own: Holdings, elsewhere: Elsewhere) -> tuple[ChainLine, ...]:
    """What is held on each chain, where there are several, and which of them is not counted."""
    if elsewhere is NOWHERE:
        return ()
    home = ChainLine(format_chain(golem.home_chain_id), format_usd(own.nav_micro_usd), "now")
    counted = [
        ChainLine(format_chain(each.chain_id), format_usd(each.holdings.nav_micro_usd), "now")
        for each in elsewhere.looks
    ]
    unread = [
        ChainLine(
            format_chain(each.chain_id),
            "not counted",
            f"since {each.since:%Y-%m-%d %H:%M} UTC" if each.since is not None else "never read yet",
        )
        for each in elsewhere.unread
    ]
    return (home, *counted, *unread)


def _join_told(told: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """What is told of several chains, as one; of a single one just that."""
    if len(told) == 1:
        return dict(told[0])
    shares: dict[str, dict[str, Any]] = {}
    for each in (share for one in told for share in one.get("shares", ())):
        known = shares.get(each["symbol"], {**each, "micro_usd": "0"})
        shares[each["symbol"]] = {**known, "micro_usd": str(int(known["micro_usd"]) + int(each["micro_usd"]))}
    return {
        **{name: [each for one in told for each in one[name]] for name in ("tokens", "positions", "problems")},
        **{name: str(sum(int(one[name]) for one in told)) for name in ("value", "debt", "liquid")},
        "shares": sorted(shares.values(), key=lambda each: -int(each["micro_usd"])),
    }


def describe_change(worth: DayWorth | None, *, now: datetime) -> DayChange | None:
    """The day's profit or loss in parts; None while there is no earlier value."""
    if worth is None or not worth.has_history:
        return None
    parts = worth.parts
    named = (
        ("price", parts.price),
        ("fees and interest", parts.fees_and_interest),
        ("slashes", parts.slashes),
        ("slippage", parts.slippage),
        ("gas", parts.gas),
    )
    return DayChange(
        total=sign_usd(parts.profit),
        parts=tuple((name, sign_usd(value)) for name, value in named if value),
        moved=sign_usd(parts.moved) if parts.moved else "",
        since=format_age(worth.since, now=now),
    )


def sign_usd(micro_usd: int) -> str:
    """Dollars with their sign, also above zero."""
    return f"+{format_usd(micro_usd)}" if micro_usd > 0 else format_usd(micro_usd)


def _describe(
    golem: Golem, told: Mapping[str, Any], worth: DayWorth | None, *, asof: str, now: datetime
) -> PortfolioCard:
    value, debt, liquid = int(told["value"]), int(told["debt"]), int(told["liquid"])
    return PortfolioCard(
        tokens=tuple(_describe_token(each) for each in told["tokens"]),
        positions=tuple(
            replace(_describe_position(each, now), times=times)
            for each, times in zip(told["positions"], _draw_times(told["positions"], now), strict=True)
        ),
        allocation=tuple(_list_allocation(golem, told)),
        value=format_usd(value),
        value_micro_usd=value,
        debt=format_usd(debt) if debt else "",
        liquid=format_usd(liquid) if liquid != value else "",
        change=describe_change(worth, now=now),
        uncounted=tuple(_say_uncounted(each, told["positions"]) for each in told["problems"]),
        block=asof,
    )


def _say_uncounted(problem: str, positions: Sequence[Mapping[str, Any]]) -> str:
    """What a gift made of shares in words, with the position's name; anything else as it is told."""
    code, _, rest = problem.partition(": ")
    amount, _, ref = rest.rpartition(" in ")
    if code != JUMPED or not ref:
        return problem
    label = next((each["label"] for each in positions if each["ref"] == ref), ref)
    return f"{_shorten(amount)} in {label}, whose shares became dearer at once; it counts as time passes"


def _describe_token(told: Mapping[str, Any]) -> TokenLine:
    worth = format_usd(int(told["micro_usd"])) if told["micro_usd"] is not None else ""
    return TokenLine(told["symbol"], show_amount(told["units"]), worth, told["note"], told["is_simulated"])


def _describe_position(told: Mapping[str, Any], now: datetime) -> PositionLine:
    debt, health = int(told["debt"]), told["health_bps"]
    return PositionLine(
        label=told["label"],
        protocol=told["protocol"],
        holds=tuple(_shorten(each) for each in told["holds"]),
        owes=tuple(_shorten(each) for each in told["owes"]),
        worth=format_usd(int(told["micro_usd"])) if told["micro_usd"] is not None else "not known",
        debt=format_usd(debt) if debt else "",
        health=format_ratio(health) if health is not None else "",
        health_tone=_tone(health),
        # A snapshot of before tells no wait.
        unlocks=_say_locked(told.get("locked", ()))
        or _say_unlock(told["free_at"], now)
        or _say_leaving(told.get("leaving_seconds", 0)),
        is_simulated=told["is_simulated"],
        range=show_range(told.get("range")),
        # A snapshot of before tells no rules.
        counted=tuple(told.get("counted", ())),
    )


def _draw_times(positions: Sequence[Mapping[str, Any]], now: datetime) -> list[dict[str, object] | None]:
    """Of each position where its times lie between now and the last time of all, in percent; None without any to come.

    A snapshot of before tells no times.
    """
    begins = int(now.timestamp())
    ahead = [[each for each in one.get("times", ()) if each["at"] > begins] for one in positions]
    last = max((each["at"] for times in ahead for each in times), default=begins)
    return [
        {
            "marks": [(each["at"] - begins) * 99 // (last - begins) for each in times],
            "said": ", ".join(f"{each['what']} on {_say_day(each['at'])}" for each in times),
            "last": _say_day(last),
        }
        if times
        else None
        for times in ahead
    ]


def _say_day(at: int) -> str:
    return datetime.fromtimestamp(at, tz=UTC).date().isoformat()


def show_range(told: Mapping[str, Any] | None) -> dict[str, object] | None:
    """With the fees in words and what a hook could do as fields of a picture, those that cost money first; a snapshot
    of before tells neither fees nor a hook.
    """
    if told is None:
        return None
    powers = sorted(HookPower, key=lambda power: power not in RISKY) if told.get("powers") else []
    fields = [
        {
            "at": 20 * place,
            "tone": "line" if power not in told["powers"] else "bad" if power in RISKY else "warn",
            "what": WORDS_OF_POWERS[power],
        }
        for place, power in enumerate(powers)
    ]
    fees = " and ".join(_shorten(each) for each in told.get("fees", ()))
    share = f"{fees}, {format_bps(told['fees_bps'])} of what is in it" if fees else ""
    return {**told, "fees_said": share, "fields": fields}


def _list_allocation(golem: Golem, told: Mapping[str, Any]) -> Iterator[Meter]:
    """Assets beside the cage's share of one asset, the largest position beside its share of one position."""
    total = int(told["value"])
    # A snapshot of before tells no shares.
    shares = told.get("shares", ())
    if total <= 0 or not shares:
        return
    cage = PolicyCage.objects.filter(golem=golem).first() or PolicyCage(golem=golem)
    for each in shares[:_MOST_SHARES]:
        is_base = golem.base_asset in (each["symbol"], each["address"])
        yield _allocate(each["symbol"], int(each["micro_usd"]), total, BPS if is_base else cage.max_concentration_bps)
    worths = [(int(each["micro_usd"] or 0), each["label"]) for each in told["positions"]]
    if worths and max(worths)[0] > 0:
        yield _allocate(f"Largest position: {max(worths)[1]}", max(worths)[0], total, cage.max_position_bps)


def _allocate(name: str, micro_usd: int, total: int, most_bps: int) -> Meter:
    share = micro_usd * BPS // total
    percent = min(100, share * 100 // most_bps) if most_bps else 100
    left = total * most_bps // BPS - micro_usd
    return Meter(
        name=name,
        used=format_bps(share),
        limit=format_bps(most_bps),
        remaining=f"{format_usd(micro_usd)}; {format_usd(left)} more is allowed" if left > 0 else "no more is allowed",
        percent=percent,
        tone="bad" if percent >= 100 and most_bps < BPS else "warn" if percent >= 90 and most_bps < BPS else "good",
    )


def _say_locked(locked: Sequence[Mapping[str, str]]) -> str:
    """What cannot be taken out now and nobody knows until when."""
    return "; ".join(
        f"not now: {_shorten(each['units'])}, {each['reason']}" if each["units"] else each["reason"] for each in locked
    )


def _say_unlock(free_at: int | None, now: datetime) -> str:
    if free_at is None or free_at <= now.timestamp():
        return ""
    if free_at == WHEN_REPAID:
        return "when others repay"
    return format_age(datetime.fromtimestamp(free_at, tz=UTC), now=now)


def _say_leaving(seconds: int | None) -> str:
    """How long its own way out takes once it is asked for."""
    if seconds is None:
        return "asked for; nobody knows how long it waits"
    return f"{format_seconds(seconds)} after it is asked for" if seconds else ""


def _shorten(units: str) -> str:
    return group_digits(shorten_amount(units))


def _tone(health_bps: int | None) -> str:
    if health_bps is None or health_bps >= 2 * LIQUIDATION_BPS:
        return "good"
    return "warn" if health_bps >= LIQUIDATION_BPS * 3 // 2 else "bad"
