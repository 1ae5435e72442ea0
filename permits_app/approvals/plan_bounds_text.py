"""Writes a plan's bounds in words for owners: positions, debts, health, figures, texts, terms.

Every line is a bound that the simulation, the signed bytes and the outcome are held to. Token amounts that leave and
return, allowances, contracts and recipients have lists of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from permits_app.permits.kept_bounds import KeptBounds, KeptChange, KeptGauge, KeptPrincipal
from permits_app.safety.format_rule_figures import format_bps, format_ratio
from permits_app.safety.predicted_holdings import DEBT
from tools_app.toolkit.plan import AmountGiven, Arrival, ItemGiven, Statement
from tools_app.toolkit.pool_hooks import PoolHooks
from tools_app.wording.address_names import format_token_amount, name_address
from tools_app.wording.formats import format_chain, format_seconds


def say_bounds(bounds: KeptBounds, *, chain_id: int) -> list[str]:
    """The lines of a permit's bounds, in their order; empty where it promises nothing of the kind."""
    return [
        *(line for change in bounds.changes for line in _say_change(change, chain_id)),
        *(_say_gauge(gauge, chain_id) for gauge in bounds.gauges),
        *(_say_statement(each, chain_id) for each in bounds.statements),
        *(_say_item(item, chain_id) for item in bounds.items),
        *(_say_amount(amount, chain_id) for amount in bounds.amounts),
        *(line for flow in bounds.principals for line in _say_principal(flow, chain_id)),
        *(_say_arrival(arrival) for arrival in bounds.arrivals),
        *(_say_hook(hook) for hook in bounds.hooks),
        *_say_terms(bounds),
    ]


def _say_change(change: KeptChange, chain_id: int) -> Iterator[str]:
    where = change.ref or f"a new {change.kind} at {change.protocol}"
    amount = format_token_amount(chain_id, change.token, abs(change.bound))
    if change.bound >= 0:
        yield f"{where}: at least {amount} more in it, or less owed"
    elif change.kind == DEBT:
        yield f"{where}: at most {amount} more owed"
    else:
        yield f"{where}: at most {amount} less in it, or more owed"
    if change.least_health_bps is not None:
        yield f"{where}: health at least {format_ratio(change.least_health_bps)} afterwards"


def _say_arrival(arrival: Arrival) -> str:
    amount = format_token_amount(arrival.chain_id, arrival.token, arrival.raw)
    by = datetime.fromtimestamp(arrival.by, tz=UTC)
    return (
        f"at least {amount} arrives on {format_chain(arrival.chain_id)} at {arrival.recipient}"
        f" until {by:%Y-%m-%d %H:%M} UTC"
    )


def _say_gauge(gauge: KeptGauge, chain_id: int) -> str:
    limits = [f"at least {gauge.least}"] if gauge.least is not None else []
    limits += [f"at most {gauge.most}"] if gauge.most is not None else []
    return f"{gauge.name} at {_name(gauge.to, chain_id)}: {' and '.join(limits)} afterwards"


def _say_statement(written: Statement, chain_id: int) -> str:
    return f"{_name(written.contract, chain_id)} is told the {written.key} of {written.subject}: {written.text}"


def _say_hook(hook: PoolHooks) -> str:
    return f"the pool {hook.pool} runs the hook {hook.address}, a stranger's code, which {hook.words}"


def _say_item(item: ItemGiven, chain_id: int) -> str:
    given, taker = _name(item.contract, chain_id), _name(item.recipient, chain_id)
    return f"number {item.token_id} of {given} goes to {taker}"


def _say_amount(amount: AmountGiven, chain_id: int) -> str:
    given, taker = _name(amount.contract, chain_id), _name(amount.recipient, chain_id)
    return f"{amount.raw} of number {amount.token_id} of {given} go to {taker}; no limit counts their worth"


def _say_principal(flow: KeptPrincipal, chain_id: int) -> Iterator[str]:
    """Whose money moves, and what would be lost of it if the right were misused."""
    right, token, whose = flow.limit, flow.token.address, _name(flow.principal, chain_id)
    yield (
        f"others' money: at most {format_token_amount(chain_id, token, flow.most)} of {whose},"
        f" by the right {flow.reference}"
    )
    whole = format_token_amount(chain_id, token, right.most_until_end(right.starts_at))
    period = f"{format_token_amount(chain_id, token, right.most)} in each {format_seconds(right.period_seconds)} and "
    ends = datetime.fromtimestamp(right.ends_at, UTC)
    yield (
        f"by misuse of that right {whose} can lose at most {period if right.period_seconds else ''}{whole} in all,"
        f" until {ends:%Y-%m-%d %H:%M:%S} UTC"
    )


def _say_terms(bounds: KeptBounds) -> Iterator[str]:
    if bounds.slippage_bps is not None:
        yield f"slippage: at most {format_bps(bounds.slippage_bps)}"
    if bounds.collateral_ratio_bps is not None:
        yield f"its cover is worth {format_ratio(bounds.collateral_ratio_bps)} times what is owed, as planned"
    if bounds.deadline is not None:
        yield f"deadline: {datetime.fromtimestamp(bounds.deadline, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _name(address: str, chain_id: int) -> str:
    name = name_address(chain_id, address)
    return f"{name} ({address})" if name else address
