"""Refuses an amount in base units that was probably meant in whole units: 500 said of USDC is half a thousandth of one.

The refusal is AMOUNT_LOOKS_LIKE_WHOLE_UNITS. Hook 3 asks it (`hooks/spending_limiter.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from permits_app.errors import AmountLooksLikeWholeUnits
from permits_app.hook_rejection import Reject
from tools_app.core.units import MICRO_USD_PER_USD, format_micro_usd, format_units, value_in_micro_usd
from tools_app.toolkit.plan import TokenFlow, TxPlan
from tools_app.toolkit.views import FeedPrice, TokenMeta

LARGEST_PLAUSIBLE_MICRO_USD = 1_000_000_000 * MICRO_USD_PER_USD
"""Read as whole units, an amount worth more than this was not meant that way: a wei amount is dust, not a slip."""


def judge_units(
    *,
    plan: TxPlan,
    params: Mapping[str, object],
    price_of: Callable[[TokenMeta], FeedPrice | None],
    dust_micro_usd: int,
) -> Reject | None:
    """An amount worth less than dust in base units that somebody may well have meant in whole units.

    Looks at the parameters that are an amount of one of the plan's tokens; `price_of` answers None without a feed.
    """
    for name, raw, token in list_amounts(plan, params):
        price = price_of(token)
        if price is None:
            continue
        value = _value(raw, token, price)
        meant = raw * 10**token.decimals
        if meant == raw or value >= dust_micro_usd or _value(meant, token, price) > LARGEST_PLAUSIBLE_MICRO_USD:
            continue
        return Reject(
            rule="spending_limiter.whole_units",
            reason=(
                f"{name} {raw} is {format_units(raw, token.decimals, token.symbol)}, worth {format_micro_usd(value)};"
                f" amounts are base units, and {raw} {token.symbol} is {meant}"
            ),
            observed=f"{format_units(raw, token.decimals, token.symbol)} ({format_micro_usd(value)})",
            limit=f"at least {format_micro_usd(dust_micro_usd)}",
            would_pass=f"{name} {meant} for {raw} {token.symbol}",
            error=AmountLooksLikeWholeUnits,
            data={"parameter": name, "base_units": str(meant), "decimals": token.decimals},
        )
    return None


def list_amounts(plan: TxPlan, params: Mapping[str, object]) -> Iterator[tuple[str, int, TokenMeta]]:
    """The parameters that are an amount of one of the plan's tokens: name, base units, token."""
    flows: tuple[TokenFlow, ...] = (*plan.spends, *plan.receives)
    for name, value in params.items():
        if "amount" not in name or isinstance(value, bool) or not isinstance(value, int):
            continue
        for flow in flows:
            if value in (flow.expected, flow.bound):
                yield name, value, flow.token
                break


def _value(raw: int, token: TokenMeta, price: FeedPrice) -> int:
    return value_in_micro_usd(raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals)
