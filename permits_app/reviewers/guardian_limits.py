"""The owner's spending limits, held against what the bytes can take and not against what the plan says."""

from __future__ import annotations

from permits_app.limits import ledger
from permits_app.limits.spend_rules import judge_spend
from permits_app.safety.hook import HookCall
from permits_app.safety.hooks.spending_limiter import counts_per_day
from tools_app.core.units import value_in_micro_usd
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects


def value_spends(effects: Effects, chain: ChainReader) -> int:
    """Micro-USD of everything the calls can take, at `chain`'s prices. Raises PriceUnavailable, PriceStale."""
    total = 0
    for address, raw in effects.spends.items():
        token = chain.token(address)
        price = chain.price(token)
        total += value_in_micro_usd(
            raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals
        )
    return total


def judge_limits(call: HookCall, *, spent_micro_usd: int) -> list[str]:
    """The first spending limit that would not hold, as a reason; empty when all of them do."""
    usage = ledger.read_usage(
        golem_id=call.golem.pk,
        api_key_id=call.api_key_id,
        heartbeat_tick=call.golem.heartbeat_tick,
        now=call.now,
        exclude_permit_id=call.own_permit_id,
    )
    refusal = judge_spend(
        limits=call.limits, usage=usage, amount_micro_usd=spent_micro_usd, counts_per_day=counts_per_day(call)
    )
    return [] if refusal is None else [refusal.reason]
