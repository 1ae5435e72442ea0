"""What a golem holds as its page shows it: tokens, positions, debts, health and unlocks, and the change of a day.

The same figures as every rule's: `measure_holdings` and the snapshots. A node that does not answer is said so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from permits_app.profit_days import Worth as DayWorth
from permits_app.profit_days import read_worth
from permits_app.safety.figures import format_ratio
from tools_app import runner
from tools_app.admin.display import format_age, format_chain, format_usd, show_amount
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.units import format_units
from tools_app.portfolio.holdings import HeldPosition, Holdings, Worth, measure_holdings
from tools_app.portfolio.known import list_hints
from tools_app.portfolio.searching import list_gaps
from tools_app.toolkit.protocol import SHELF

READ_DEADLINE_MS = 1_500
LIQUIDATION_BPS = 10_000


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


@dataclass(frozen=True, slots=True)
class Change:
    """The last day: profit or loss with its parts, and what came in or went out besides."""

    total: str
    parts: tuple[tuple[str, str], ...]
    moved: str
    since: str


@dataclass(frozen=True, slots=True)
class PortfolioCard:
    """Everything at one block; `problem` is why nothing could be read, `uncounted` what the value leaves out."""

    tokens: tuple[TokenLine, ...] = ()
    positions: tuple[PositionLine, ...] = ()
    value: str = ""
    debt: str = ""
    liquid: str = ""
    change: Change | None = None
    uncounted: tuple[str, ...] = ()
    block: str = ""
    problem: str = ""


def read_portfolio_card(golem: Golem, *, now: datetime) -> PortfolioCard:
    """What `golem` holds on its home chain, read within a short deadline."""
    if not golem.address:
        return PortfolioCard()
    worth = read_worth(golem_id=golem.pk, now=now)
    try:
        reader = runner.open_reader(golem.home_chain_id, now=now, deadline=Deadline.after_ms(READ_DEADLINE_MS))
        hints = list_hints(chain_id=golem.home_chain_id, account=golem.address)
        held = measure_holdings(chain=reader, account=golem.address, hints=hints)
        number = reader.block.number
    except GolemError as error:
        problem = f"The node of {format_chain(golem.home_chain_id)} does not answer: {error.detail}"
        return PortfolioCard(change=describe_change(worth, now=now), problem=problem)
    card = _describe(held, worth, block=number, now=now)
    gaps = list_gaps(chain_id=golem.home_chain_id, account=golem.address)
    return replace(card, uncounted=(*card.uncounted, *gaps))


def describe_change(worth: DayWorth | None, *, now: datetime) -> Change | None:
    """The day's profit or loss in parts; None while there is no earlier value."""
    if worth is None or not worth.has_history:
        return None
    parts = worth.parts
    named = (
        ("price", parts.price),
        ("fees and interest", parts.fees_and_interest),
        ("slippage", parts.slippage),
        ("gas", parts.gas),
    )
    return Change(
        total=sign_usd(parts.profit),
        parts=tuple((name, sign_usd(value)) for name, value in named if value),
        moved=sign_usd(parts.moved) if parts.moved else "",
        since=format_age(worth.since, now=now),
    )


def sign_usd(micro_usd: int) -> str:
    """Dollars with their sign, also above zero."""
    return f"+{format_usd(micro_usd)}" if micro_usd > 0 else format_usd(micro_usd)


def _describe(held: Holdings, worth: DayWorth | None, *, block: int, now: datetime) -> PortfolioCard:
    nav, liquid = held.nav_micro_usd, held.liquid_micro_usd(int(now.timestamp()))
    return PortfolioCard(
        tokens=(
            *(_describe_token(each) for each in held.tokens),
            *(_describe_claim(each) for each in held.claims),
        ),
        positions=tuple(_describe_position(each, now) for each in held.positions),
        value=format_usd(nav),
        debt=format_usd(held.debt_micro_usd) if held.debt_micro_usd else "",
        liquid=format_usd(liquid) if liquid != nav else "",
        change=describe_change(worth, now=now),
        uncounted=held.problems,
        block=f"block {block:,}",
    )


def _describe_token(held: Worth) -> TokenLine:
    shown = format_usd(held.micro_usd) if held.micro_usd is not None else ""
    return TokenLine(
        held.token.symbol,
        _amount(held),
        shown,
        "not counted: no usable price" if held.problem else "",
        held.token.is_simulated,
    )


def _describe_claim(held: Worth) -> TokenLine:
    return TokenLine(held.token.symbol, _amount(held), "", "counted as a position", held.token.is_simulated)


def _describe_position(held: HeldPosition, now: datetime) -> PositionLine:
    protocol = SHELF.get(held.ref.protocol)
    free_at = held.free_at
    is_locked = free_at is not None and free_at > now.timestamp()
    return PositionLine(
        label=held.position.label,
        protocol=protocol.label if protocol is not None else held.ref.protocol,
        holds=tuple(_name(part) for part in held.parts if part.raw > 0),
        owes=tuple(_name(part) for part in held.parts if part.raw < 0),
        worth=format_usd(held.micro_usd) if held.micro_usd is not None else "not known",
        debt=format_usd(held.debt_micro_usd) if held.debt_micro_usd else "",
        health=format_ratio(held.health_bps) if held.health_bps is not None else "",
        health_tone=_tone(held.health_bps),
        unlocks=format_age(datetime.fromtimestamp(free_at or 0, tz=UTC), now=now) if is_locked else "",
        is_simulated=protocol is not None and held.ref.chain_id in protocol.simulated_on,
    )


def _tone(health_bps: int | None) -> str:
    if health_bps is None or health_bps >= 2 * LIQUIDATION_BPS:
        return "good"
    return "warn" if health_bps >= LIQUIDATION_BPS * 3 // 2 else "bad"


def _name(part: Worth) -> str:
    return format_units(abs(part.raw), part.token.decimals, part.token.symbol)


def _amount(held: Worth) -> SafeString:
    return show_amount(format_units(held.raw, held.token.decimals))
