"""Builds the portfolio card: tokens, positions, debts, health, unlocks, and the change of a day.

The same figures as every rule's: `measure_holdings` and the snapshots. Its own page reads the chain; the cockpit and
the fleet show the newest snapshot with its age. A node that does not answer is said so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from uuid import UUID

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.models import NavSnapshot, PolicyCage
from permits_app.pages.health_lines import HealthLine, with_health
from permits_app.pages.limit_meter import Meter
from permits_app.performance.profit_days import DAY, read_worth
from permits_app.performance.profit_days import RecentWorth as DayWorth
from permits_app.permits.holdings_json import sum_up_holdings
from permits_app.permits.kept_holdings import KeptHoldings, KeptLock, KeptPosition, KeptRange, KeptToken
from permits_app.permits.other_chain_holdings import NOWHERE, Elsewhere, look_elsewhere
from permits_app.safety.format_rule_figures import format_ratio
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored
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
class HookField:
    """One power of a pool's hook as a field of a picture: `at` from 0 to 100, `tone` by whether it is there."""

    at: int
    tone: str
    what: str


@dataclass(frozen=True, slots=True)
class RangeDrawing(KeptRange):
    """A range with the fees in words and what a hook could do as fields, those that cost money first."""

    fees_said: str = ""
    fields: tuple[HookField, ...] = ()


@dataclass(frozen=True, slots=True)
class TimesDrawing:
    """When parts of a position come free or are due: marks in percent between now and `last`, the same in words."""

    marks: tuple[int, ...]
    said: str
    last: str


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
    range: RangeDrawing | None = None
    """Of a position of concentrated liquidity."""
    times: TimesDrawing | None = None
    """When parts of it come free or are due, on one scale for all positions."""
    health_line: HealthLine | None = None
    """Its health over the last ticks."""
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
    kept = KeptHoldings.join([sum_up_holdings(each, now=now) for each in whole])
    card = _describe(golem, kept, worth, asof=f"block {number:,}", now=now)
    lines = with_health(golem.pk, kept.positions, now=now)
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
    kept = KeptHoldings.join([read_stored(KeptHoldings, row.holdings) for row in rows])
    card = _describe(golem, kept, worth, asof=asof, now=now)
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
    held = [each for row in rows for each in read_stored(KeptHoldings, row.holdings).positions]
    health = min((each.health_bps for each in held if each.health_bps is not None), default=None)
    free_at = max((each.free_at for each in held if each.free_at is not None), default=None)
    return PositionSum(
        many=len(held),
        owes=format_usd(owed) if (owed := sum(each.debt for each in held)) else "",
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


def _describe(golem: Golem, kept: KeptHoldings, worth: DayWorth | None, *, asof: str, now: datetime) -> PortfolioCard:
    return PortfolioCard(
        tokens=tuple(_describe_token(each) for each in kept.tokens),
        positions=tuple(
            replace(_describe_position(each, now), times=times)
            for each, times in zip(kept.positions, _draw_times(kept.positions, now), strict=True)
        ),
        allocation=tuple(_list_allocation(golem, kept)),
        value=format_usd(kept.value),
        value_micro_usd=kept.value,
        debt=format_usd(kept.debt) if kept.debt else "",
        liquid=format_usd(kept.liquid) if kept.liquid != kept.value else "",
        change=describe_change(worth, now=now),
        uncounted=tuple(_say_uncounted(each, kept.positions) for each in kept.problems),
        block=asof,
    )


def _say_uncounted(problem: str, positions: Sequence[KeptPosition]) -> str:
    """What a gift made of shares in words, with the position's name; anything else as it is told."""
    code, _, rest = problem.partition(": ")
    amount, _, ref = rest.rpartition(" in ")
    if code != JUMPED or not ref:
        return problem
    label = next((each.label for each in positions if each.ref == ref), ref)
    return f"{_shorten(amount)} in {label}, whose shares became dearer at once; it counts as time passes"


def _describe_token(kept: KeptToken) -> TokenLine:
    worth = format_usd(kept.micro_usd) if kept.micro_usd is not None else ""
    return TokenLine(kept.symbol, show_amount(kept.units), worth, kept.note, kept.is_simulated)


def _describe_position(kept: KeptPosition, now: datetime) -> PositionLine:
    return PositionLine(
        label=kept.label,
        protocol=kept.protocol,
        holds=tuple(_shorten(each) for each in kept.holds),
        owes=tuple(_shorten(each) for each in kept.owes),
        worth=format_usd(kept.micro_usd) if kept.micro_usd is not None else "not known",
        debt=format_usd(kept.debt) if kept.debt else "",
        health=format_ratio(kept.health_bps) if kept.health_bps is not None else "",
        health_tone=_tone(kept.health_bps),
        unlocks=_say_locked(kept.locked) or _say_unlock(kept.free_at, now) or _say_leaving(kept.leaving_seconds),
        is_simulated=kept.is_simulated,
        range=draw_range(kept.range),
        counted=kept.counted,
    )


def _draw_times(positions: Sequence[KeptPosition], now: datetime) -> list[TimesDrawing | None]:
    """Of each position where its times lie between now and the last time of all, in percent; None without any to
    come.
    """
    begins = int(now.timestamp())
    ahead = [[each for each in one.times if each.at > begins] for one in positions]
    last = max((each.at for times in ahead for each in times), default=begins)
    return [
        TimesDrawing(
            marks=tuple((each.at - begins) * 99 // (last - begins) for each in times),
            said=", ".join(f"{each.what} on {_say_day(each.at)}" for each in times),
            last=_say_day(last),
        )
        if times
        else None
        for times in ahead
    ]


def _say_day(at: int) -> str:
    return datetime.fromtimestamp(at, tz=UTC).date().isoformat()


def draw_range(kept: KeptRange | None) -> RangeDrawing | None:
    """The range as it is drawn; None for a position without one."""
    if kept is None:
        return None
    powers = sorted(HookPower, key=lambda power: power not in RISKY) if kept.powers else []
    drawn = tuple(
        HookField(
            at=20 * place,
            tone="line" if power not in kept.powers else "bad" if power in RISKY else "warn",
            what=WORDS_OF_POWERS[power],
        )
        for place, power in enumerate(powers)
    )
    fees = " and ".join(_shorten(each) for each in kept.fees)
    share = f"{fees}, {format_bps(kept.fees_bps)} of what is in it" if fees else ""
    return RangeDrawing(**{each.name: getattr(kept, each.name) for each in fields(kept)}, fees_said=share, fields=drawn)


def _list_allocation(golem: Golem, kept: KeptHoldings) -> Iterator[Meter]:
    """Assets beside the cage's share of one asset, the largest position beside its share of one position."""
    total = kept.value
    # A snapshot of before tells no shares.
    if total <= 0 or not kept.shares:
        return
    cage = PolicyCage.objects.filter(golem=golem).first() or PolicyCage(golem=golem)
    for each in kept.shares[:_MOST_SHARES]:
        is_base = golem.base_asset in (each.symbol, each.address)
        yield _allocate(each.symbol, each.micro_usd, total, BPS if is_base else cage.max_concentration_bps)
    worths = [(each.micro_usd or 0, each.label) for each in kept.positions]
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


def _say_locked(locked: Sequence[KeptLock]) -> str:
    """What cannot be taken out now and nobody knows until when."""
    return "; ".join(
        f"not now: {_shorten(each.units)}, {each.reason}" if each.units else each.reason for each in locked
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
