"""Gathers a golem's holdings for `wallet_get_status`: balances, positions with debts, profit of a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from permits_app.performance.profit_days import RecentWorth as DayWorth
from permits_app.permits.holdings_json import tell_rules
from permits_app.permits.other_chain_holdings import NOWHERE, Elsewhere, look_elsewhere
from permits_app.safety.format_rule_figures import format_ratio
from tools_app.portfolio.holdings import HeldPosition, Holdings, Worth, measure_holdings
from tools_app.portfolio.position_search import list_gaps
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import GolemView, TokenMeta


@dataclass(frozen=True, slots=True)
class Balance:
    """One holding. `value_usd` is null, with the reason, when the token has no fresh feed."""

    token: TokenMeta
    balance: TokenAmount
    value_usd: UsdAmount | None
    value_missing: str | None


@dataclass(frozen=True, slots=True)
class PositionHeld:
    """One position at a protocol. `value_usd` is what it adds, debts subtracted; null when a part has no price.

    `counted` says by what rule something counts that is not worth the price of a token, or never counts. `health` is
    1.00 at liquidation and null without debt; `free_at` is when all of it can be had, null for at once.
    `is_simulated`: a contract of ours stands in for the real protocol there.
    """

    position: str
    label: str
    is_simulated: bool
    holds: tuple[TokenAmount, ...]
    owes: tuple[TokenAmount, ...]
    value_usd: UsdAmount | None
    health: str | None
    free_at: str | None
    counted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DayProfit:
    """Profit or loss of 24 h: the change of the total less what came in and went out, in the parts that made it."""

    since: str
    profit_usd: UsdAmount
    price_usd: UsdAmount
    fees_and_interest_usd: UsdAmount
    slashes_usd: UsdAmount
    slippage_usd: UsdAmount
    gas_usd: UsdAmount
    moved_usd: UsdAmount


@dataclass(frozen=True, slots=True)
class ChainWorth:
    """What the golem holds on one of its chains; null, with the reason, where that cannot be read now."""

    chain_id: int
    value_usd: UsdAmount | None
    value_missing: str | None


def look_around(golem: GolemView, reader: ChainReader, now: datetime) -> Elsewhere:
    """What the golem holds on its other chains, where `reader` reads one of them. Never raises."""
    if reader.chain_id not in list_chains(golem):
        return NOWHERE
    return look_elsewhere(golem=golem, own_chain_id=reader.chain_id, own=reader, now=now)


def describe_chains(chain_id: int, own: Holdings, elsewhere: Elsewhere) -> tuple[ChainWorth, ...]:
    """Each chain by its id."""
    counted = [
        (chain_id, own.nav_micro_usd),
        *((each.chain_id, each.holdings.nav_micro_usd) for each in elsewhere.looks),
    ]
    lines = [ChainWorth(each, UsdAmount(worth), None) for each, worth in counted]
    lines += [ChainWorth(each.chain_id, None, str(each)) for each in elsewhere.unread]
    return tuple(sorted(lines, key=lambda each: each.chain_id))


def read_holdings(reader: ChainReader, account: str, elsewhere: Elsewhere = NOWHERE) -> Holdings:
    """Everything the account holds on the reader's chain. Raises PositionsUnreadable, the node's errors."""
    hints = elsewhere.choose(list_hints(chain_id=reader.chain_id, account=account))
    return measure_holdings(chain=reader, account=account, hints=hints)


def list_uncounted(reader: ChainReader, account: str, holdings: Holdings) -> tuple[str, ...]:
    """What the value leaves out by name, and where nobody has looked for positions."""
    return (*holdings.problems, *list_gaps(chain_id=reader.chain_id, account=account))


def describe_held(held: HeldPosition) -> PositionHeld:
    """A position as the tool tells it."""
    value, free_at = held.micro_usd, held.free_at
    return PositionHeld(
        position=str(held.ref),
        label=held.position.label,
        is_simulated=SHELF.is_simulated(held.ref.protocol, held.ref.chain_id),
        holds=tuple(TokenAmount(part.raw, part.token) for part in held.parts if part.raw > 0),
        owes=tuple(TokenAmount(-part.raw, part.token) for part in held.parts if part.raw < 0),
        value_usd=UsdAmount(value) if value is not None else None,
        health=format_ratio(held.health_bps) if held.health_bps is not None else None,
        free_at=datetime.fromtimestamp(free_at, tz=UTC).isoformat() if free_at is not None else None,
        counted=tell_rules(held),
    )


def describe_day(worth: DayWorth | None) -> DayProfit | None:
    """The day's profit; None while there is no earlier value."""
    if worth is None or not worth.has_history:
        return None
    parts = worth.parts
    return DayProfit(
        since=worth.since.isoformat(),
        profit_usd=UsdAmount(parts.profit),
        price_usd=UsdAmount(parts.price),
        fees_and_interest_usd=UsdAmount(parts.fees_and_interest),
        slashes_usd=UsdAmount(parts.slashes),
        slippage_usd=UsdAmount(parts.slippage),
        gas_usd=UsdAmount(parts.gas),
        moved_usd=UsdAmount(parts.moved),
    )


def describe_balance(held: Worth, *, is_claim: bool = False) -> Balance:
    """A balance as the tool tells it; a claim token has no value of its own."""
    amount = TokenAmount(held.raw, held.token)
    if is_claim:
        return Balance(held.token, amount, None, "it stands for a position and is counted there")
    if held.problem:
        return Balance(held.token, amount, None, f"{held.problem}: it has no price that can be used")
    return Balance(held.token, amount, UsdAmount(held.micro_usd or 0), None)
