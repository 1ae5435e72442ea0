"""Tries a golem's strategies over the recorded past: all of them together, and each by itself. Nothing is signed.

A run begins with what the golem has now and the loans it owes now. See `strategies/dry_run.py` for what is taken for
granted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Heartbeat
from archetypes_app.toolset import view_golem
from golem_project.heartbeat.liquidity_rule import LiquidityRule, parse_liquidity_rule
from golem_project.heartbeat.strategies.backtest_engine import COST_BPS, DryRun, run_dry
from golem_project.heartbeat.strategies.backtest_market import DryLoan
from golem_project.heartbeat.strategies.backtest_price_course import RecordedPast, read_past
from golem_project.heartbeat.strategies.catalog import find_rotation, list_tokens, parse_strategies
from golem_project.heartbeat.strategies.strategy import RuleStrategy
from golem_project.heartbeat.yield_places import read_offers, see_places
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.units import format_micro_usd
from tools_app.portfolio.holdings import Holdings, measure_holdings
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import TokenMeta
from tools_app.toolkit.yields import YieldOffer

DAYS: Final = (7, 30, 90, 365)
MADE_UP_MICRO_USD: Final = 10_000 * 10**6
"""What a golem that holds none of its strategies' tokens is tried with, in equal parts of them."""
LIQUIDITY: Final = "liquidity"
_BUDGET_MS: Final = 10_000


class NothingToTry(GolemError, status=409, recovery=Recovery.FIX_PARAMS, title="There is no strategy to try"):
    """The heartbeat has no strategy and keeps no position."""


@dataclass(frozen=True, slots=True)
class TriedStrategy:
    """One strategy by itself. `kind` is its name in the catalogue, or LIQUIDITY; `sentence` says what it does."""

    kind: str
    sentence: str
    run: DryRun


@dataclass(frozen=True, slots=True)
class StrategyTrial:
    """`together` is what all of them would have done, None where nothing is recorded. `notes` say what the run takes
    for granted and what is not known.
    """

    days: int
    together: DryRun | None
    each: tuple[TriedStrategy, ...]
    notes: tuple[str, ...]
    tokens: tuple[TokenMeta, ...] = ()


def try_strategies(*, heartbeat: Heartbeat, days: int, now: datetime) -> StrategyTrial:
    """Run what the heartbeat keeps over the last `days`. Raises NothingToTry, InvalidParams, the node's errors."""
    strategies, rule = parse_strategies(heartbeat.strategies), parse_liquidity_rule(heartbeat.liquidity_rule)
    if not strategies and rule is None:
        raise NothingToTry(f"{heartbeat.golem.name} has no strategy and keeps no position")
    view = view_golem(heartbeat.golem)
    reader = runner.open_reader(view.home_chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    notes: list[str] = []
    held = _measure(reader, view.address)
    loans = _list_loans(held)
    tokens = _list_tokens(reader, strategies, rule, loans)
    rotation = find_rotation(strategies)
    offers: list[YieldOffer] = []
    lent: dict[tuple[str, str], int] = {}
    if rotation is not None:
        rotating = reader.token(rotation.token).address
        places = see_places(read_offers(reader, rotation, notes), rotating, held, reader.chain_id)
        offers = [each.offer for each in places if each.is_usable]
        lent = {(each.offer.protocol, each.offer.place): each.held for each in places if each.is_usable and each.held}
    past = read_past(
        reader,
        tokens=tokens,
        offers=offers,
        rotating=reader.token(rotation.token).address if rotation is not None else "",
        days=days,
        golem_id=heartbeat.golem_id,
        now=now,
    )
    notes += past.not_known
    if len(past.prices) < 2:
        return StrategyTrial(days, None, (), (*notes, "Nothing can be tried before there are two hours of prices."))
    wallet = _take_wallet(held, tokens, past, notes, has_more=bool(lent or loans))
    gas_wei = 2 * reader.block.base_fee

    def run(chosen: Sequence[RuleStrategy], kept: LiquidityRule | None) -> DryRun:
        return run_dry(
            strategies=chosen,
            prices=past.prices,
            tokens=tokens,
            wallet=wallet,
            rule=kept,
            loans=loans,
            offers=offers,
            lent=lent,
            gas_wei=gas_wei,
        )

    alone = [TriedStrategy(each.kind, each.describe(), run([each], None)) for each in strategies]
    if rule is not None:
        alone.append(TriedStrategy(LIQUIDITY, describe_position(rule), run([], rule)))
    notes += _say_what_is_taken(strategies, rule, loans)
    return StrategyTrial(days, run(strategies, rule), tuple(alone), tuple(dict.fromkeys(notes)), tokens)


def describe_position(rule: LiquidityRule) -> str:
    """The position of liquidity that the rule keeps, in one sentence."""
    return (
        f"A position of {format_micro_usd(rule.target_micro_usd)} in {rule.token_a} and {rule.token_b} is kept within"
        f" {rule.half_width_bps / 100:g}% of the price, and moved once the price has left it."
    )


def _say_what_is_taken(
    strategies: Iterable[RuleStrategy], rule: LiquidityRule | None, loans: Sequence[DryLoan]
) -> list[str]:
    """What the figures leave out, in words."""
    found = [
        f"A trade is taken to cost {COST_BPS / 100:g}% of what it sells, and gas what it costs now; limits, approvals"
        " and phases are not tried."
    ]
    if rule is not None:
        found.append("What a position of liquidity earns in fees is not in it: how much was traded there is not asked.")
    if loans:
        found.append("What debts cost in interest is not in it.")
    elif any(each.kind == "loan_keeper" for each in strategies):
        found.append("It owes nothing now, so that the keeper of loans has nothing to keep.")
    return found


def _measure(reader: ChainReader, address: str | None) -> Holdings | None:
    if address is None:
        return None
    hints = list_hints(chain_id=reader.chain_id, account=address)
    return measure_holdings(chain=reader, account=address, tokens=reader.registered_tokens(), hints=hints)


def _list_loans(held: Holdings | None) -> list[DryLoan]:
    """Positions that owe something against a cover."""
    return [
        DryLoan(each, tuple(leg for leg in each.position.legs if leg.raw))
        for each in (held.positions if held is not None else ())
        if any(leg.raw < 0 for leg in each.position.legs) and any(leg.cover_bps for leg in each.position.legs)
    ]


def _list_tokens(
    reader: ChainReader, strategies: Sequence[RuleStrategy], rule: LiquidityRule | None, loans: Iterable[DryLoan]
) -> tuple[TokenMeta, ...]:
    """The coin, and what the strategies, the position and the loans are about. Raises TokenNotFound."""
    found: dict[str, TokenMeta] = {}
    names = [*list_tokens(strategies), *((rule.token_a, rule.token_b) if rule is not None else ())]
    names += [leg.token for each in loans for leg in each.legs]
    for token in (reader.native(), *map(reader.token, names)):
        found.setdefault(token.address, token)
    return tuple(found.values())


def _take_wallet(
    held: Holdings | None, tokens: Sequence[TokenMeta], past: RecordedPast, notes: list[str], *, has_more: bool
) -> dict[str, int]:
    """What is in the wallet now, by symbol; a made-up sum where there is nothing of it anywhere."""
    found = {each.symbol: (worth.raw if (worth := held and held.token(each.address)) else 0) for each in tokens}
    if has_more or any(found[each.symbol] for each in tokens[1:]):
        return found
    parts, first = tokens[1:], past.prices[0].micro_usd
    notes.append(
        f"The golem holds none of these tokens: it is tried with {format_micro_usd(MADE_UP_MICRO_USD)} in equal parts."
    )
    return {
        **found,
        **{
            each.symbol: MADE_UP_MICRO_USD // len(parts) * 10**each.decimals // first[each.symbol]
            for each in parts
            if first[each.symbol]
        },
    }
