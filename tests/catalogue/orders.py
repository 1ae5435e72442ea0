"""In which order every list inside a read's answer stands, by the tool and the path to it: `pools[].coins`.

A list is held to its line whenever a case's answer has several members in it, and one without a line is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

Order = Callable[[Any], Any]
"""What a member stands by, the least first."""


def number(text: Any) -> float:
    """A figure as answers tell it; what is not known comes behind everything."""
    return float("inf") if text is None else float(str(text).strip("%$"))


def up(name: str) -> Order:
    return lambda row: number(row[name])


def down(name: str) -> Order:
    return lambda row: float("inf") if row[name] is None else -number(row[name])


def by(*names: str) -> Order:
    return lambda row: tuple(row[name] for name in names)


ASKED: Final = "as it was asked for"
KNOWN: Final = "as this server knows them: the world's own order, which nobody chose by a figure"
OF_CHAIN: Final = "as the chain tells it"
STEPS: Final = "each step follows from the one before"
WORDS: Final = "words that are written down"

ORDERS: Final[dict[str, Order | str]] = {
    "aave_get_liquidation_risk liquidation_prices": OF_CHAIN,
    "aave_get_user_summary supplied": OF_CHAIN,
    "compound_v3_get_markets markets[].collateral": OF_CHAIN,
    "curve_get_pools pools[].coins": OF_CHAIN,
    "data_get_pools_by_token pools": down("tvl_usd"),
    "data_get_pools_by_token_pair pools": down("tvl_usd"),
    "data_get_tick_data ticks": up("tick"),
    "data_search_tokens tokens": lambda row: (row["source"], row["token"]["symbol"], row["token"]["address"]),
    "firepit_get_tokenjar_balances balances": ASKED,
    "hook_discover pools[].powers": str,
    "hook_evaluate swaps": STEPS,
    "identity_get_credentials api_keys[].scopes": str,
    "identity_get_reputation_summary top_providers": down("feedback"),
    "intel_assess_mev_risk calibration.classes": WORDS,
    "intel_assess_mev_risk mitigations": WORDS,
    "intel_backtest_strategy results": down("end_value_usd"),
    "intel_classify_regime historical_regimes": by("ended_at"),
    "intel_classify_regime transition_probabilities": WORDS,
    "intel_compare_venues venues": down("net_output_usd"),
    "intel_compare_yields not_known": WORDS,
    "intel_compare_yields places": down("net_gain"),
    "intel_compute_vpin time_series": "in time, which the figures do not tell",
    "intel_discover_token sources": WORDS,
    "intel_estimate_revert_risk calibration.classes": WORDS,
    "intel_estimate_revert_risk interval": number,
    "intel_get_defi_context sources": "as they were asked",
    "intel_get_defi_context top_protocols": down("volume_24h_usd"),
    "intel_get_market_sentiment futures_symbols": WORDS,
    "intel_get_market_sentiment sources": "as they were asked",
    "intel_get_order_flow_metrics markout": up("blocks"),
    "intel_optimize_range candidate_ranges": up("width_pct"),
    "intel_recommend_fee_tier pool_distribution": down("tvl_usd"),
    "intel_simulate_pool_scenario daily_projections": up("day"),
    "lending_build_loop steps": STEPS,
    "lending_compare_rates rates": down("apy"),
    "lending_get_health_dashboard positions[].legs": OF_CHAIN,
    "lido_get_position open_withdrawal_requests": up("request_id"),
    "lido_get_rates data_points": by("timestamp"),
    "lrt_get_apy apys": KNOWN,
    "lrt_get_position holdings": KNOWN,
    "moonwell_get_markets markets": KNOWN,
    "moonwell_get_position positions": KNOWN,
    "rocketpool_get_operators operators": OF_CHAIN,
    "safety_audit_approvals approvals": lambda row: (
        ("Risky", "Elevated", "Safe").index(row["risk_level"]),
        row["token"],
        row["spender"],
    ),
    **{
        f"safety_get_protocol_exposure by_{each}": lambda row: (-number(row["held_usd"]), -number(row["owed_usd"]))
        for each in ("asset", "asset_type", "bridge", "chain", "issuer", "oracle", "protocol")
    },
    "safety_get_status keys[].scopes": str,
    "safety_get_status limits": lambda row: ("tick", "session", "day").index(row["window"]),
    "safety_simulate_price_stress falls": str,
    "safety_simulate_price_stress scenarios": down("price_change_pct"),
    "safety_simulate_transaction logs[].topics": OF_CHAIN,
    "track_governance_changes changes": up("block_number"),
    "uniswap_api_check_wallet_delegation delegations": up("chain_id"),
    "uniswap_get_quote other_routes": "the best first, of which the names tell nothing",
    "wallet_get_status balances": KNOWN,
}


def walk(value: Any, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Every list in an answer with the path to it; members of a list of lists stand under one path."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from walk(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        yield path, value
        for each in value:
            yield from walk(each, f"{path}[]")


def find_out_of_order(tool: str, data: Any) -> Iterator[str]:
    """What of an answer's lists stands otherwise than is written down, or has no line."""
    for path, rows in walk(data):
        order = ORDERS.get(f"{tool} {path}")
        if len(rows) < 2 or isinstance(order, str):
            continue
        if order is None:
            yield f"{path} has several members, and no line in tests/catalogue/orders.py says what they stand by"
            continue
        keys = [order(row) for row in rows]
        if keys != sorted(keys):
            yield f"{path} stands in another order than is written down: {keys}"
