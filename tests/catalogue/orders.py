"""In which order every list inside a read's answer stands, by the tool and the path to it: `pools[].coins`.

A list is held to its line whenever a case's answer has several members in it, and one without a line is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final

Order = Callable[[Any], Any]
"""What a member stands by, the least first."""


WINDOWS: Final = ("tick", "session", "day", "trading costs of a day")
"""In which order the windows of an owner's limits stand."""


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
FILE: Final = "as a file tells it that its owner wrote"
OF_SERVICE: Final = "as a service outside tells it"
WAY_OUT: Final = (
    "debts by their health, then what can leave now, what waits and what is stuck, of which rows tell a part"
)
POSITIONS: Final = "by protocol, kind and number, which stand in one name here"
STEPS: Final = "each step follows from the one before"
WORDS: Final = "words that are written down"

ORDERS: Final[dict[str, Order | str]] = {
    "aave_get_liquidation_risk liquidation_prices": OF_CHAIN,
    "aave_get_health_factor assets": OF_CHAIN,
    "aave_get_user_summary borrowed": OF_CHAIN,
    "aave_get_user_summary supplied": OF_CHAIN,
    "golem_cluster_archetypes clusters": down("episodes"),
    "golem_cluster_archetypes clusters[].members": down("episodes"),
    "compound_v3_get_markets markets": KNOWN,
    "compound_v3_get_markets markets[].collateral": OF_CHAIN,
    "compound_v3_get_position positions": KNOWN,
    "compound_v3_get_position positions[].collateral": OF_CHAIN,
    "convex_get_pools pools": KNOWN,
    "convex_get_pools pools[].untold": WORDS,
    "curve_get_pools pools": KNOWN,
    "curve_get_pools pools[].coins": OF_CHAIN,
    "curve_get_pools pools[].untold": WORDS,
    "bridge_compare routes": "by what arrives, those that are not served last",
    "data_get_new_pools pools": down("created_block"),
    "data_get_feed_history past.data_points": by("timestamp"),
    "data_get_pool_volume_history bars": by("starts_at"),
    "data_get_rate_history past.data_points": by("timestamp"),
    "vault_get_share_price_history past.data_points": by("timestamp"),
    "data_get_pools_by_token pools": down("tvl_usd"),
    "data_get_pools_by_token_pair pools": down("tvl_usd"),
    "data_get_positions_by_owner positions": OF_CHAIN,
    "data_get_tick_data ticks": up("tick"),
    "data_search_tokens tokens": lambda row: (row["source"], row["token"]["symbol"], row["token"]["address"]),
    "eigenlayer_get_avs_list avs_services": OF_CHAIN,
    "eigenlayer_get_operators operators": down("total_delegated_eth"),
    "eigenlayer_get_operators operators[].avs_participation": str,
    "eigenlayer_get_operators operators[].slashing_history": OF_CHAIN,
    "eigenlayer_get_position pending_withdrawals": OF_CHAIN,
    "eigenlayer_get_position strategies": by("strategy"),
    "ethena_get_position pending_cooldowns": OF_CHAIN,
    "firepit_get_tokenjar_balances balances": ASKED,
    "golem_get_health problems": WORDS,
    "hook_discover pools": OF_CHAIN,
    "hook_discover pools[].powers": str,
    "hook_evaluate findings": WORDS,
    "hook_evaluate powers": WORDS,
    "hook_evaluate swaps": STEPS,
    "hook_get_template callbacks": WORDS,
    "identity_check_eligibility missing": WORDS,
    "identity_discover_agents agents": OF_CHAIN,
    "identity_discover_agents agents[].protocols": FILE,
    "identity_evaluate_agent_trust flags": WORDS,
    "identity_get_agent_profile services": FILE,
    "identity_get_agent_profile supported_trusts": FILE,
    "identity_get_credentials api_keys[].scopes": str,
    "identity_get_credentials session_keys[].scopes": str,
    "identity_get_reputation_summary tag_breakdown": down("count"),
    "identity_get_reputation_summary top_providers": down("feedback"),
    "identity_get_tier tier_benefits": WORDS,
    "intel_assess_mev_risk calibration.classes": WORDS,
    "intel_assess_mev_risk mitigations": WORDS,
    "intel_backtest_strategy results": down("end_value_usd"),
    "intel_classify_regime historical_regimes": by("ended_at"),
    "intel_classify_regime transition_probabilities": WORDS,
    "intel_compare_venues venues": down("net_output_usd"),
    "intel_compare_venues without_quote": KNOWN,
    "intel_compare_yields not_known": WORDS,
    "intel_compare_yields places": down("net_gain"),
    "intel_compute_vpin time_series": "in time, which the figures do not tell",
    "intel_defilama_get_yields not_known": WORDS,
    "intel_defilama_get_yields pools": "by what it was asked to sort by, those that contradict the chain last",
    "intel_discover_token risk_factors": WORDS,
    "intel_discover_token sources": WORDS,
    "intel_estimate_revert_risk calibration.classes": WORDS,
    "intel_estimate_revert_risk interval": number,
    "intel_estimate_revert_risk risk_factors": WORDS,
    "intel_get_chain_status markets": str,
    "intel_get_defi_context sources": "as they were asked",
    "intel_get_defi_context top_protocols": down("volume_24h_usd"),
    "intel_get_market_sentiment futures_symbols": WORDS,
    "intel_get_market_sentiment sources": "as they were asked",
    "intel_get_order_flow_metrics markout": up("blocks"),
    "intel_optimize_range candidate_ranges": up("width_pct"),
    "intel_recommend_fee_tier pool_distribution": down("tvl_usd"),
    "intel_simulate_pool_scenario daily_projections": up("day"),
    "intel_simulate_price_impact impacts": ASKED,
    "lending_build_loop steps": STEPS,
    "lending_compare_rates rates": down("apy"),
    "lending_get_health_dashboard positions": POSITIONS,
    "lending_get_health_dashboard positions[].legs": OF_CHAIN,
    "lido_get_position open_withdrawal_requests": up("request_id"),
    "lido_get_rates data_points": by("timestamp"),
    "lrt_get_apy apys": KNOWN,
    "lrt_get_depeg_risk risk_factors": WORDS,
    "lrt_get_position holdings": KNOWN,
    "lrt_get_position pending_withdrawals": KNOWN,
    "golem_get_standing_plans plans": by("plan_id"),
    "golem_mine_testaments testaments": lambda row: -datetime.fromisoformat(row["ended_at"]).timestamp(),
    "moonwell_get_markets markets": KNOWN,
    "moonwell_get_position positions": KNOWN,
    "morpho_get_market_info markets": KNOWN,
    "morpho_get_user_position markets": KNOWN,
    "pendle_get_markets markets": KNOWN,
    "pendle_get_position lp_positions": KNOWN,
    "pendle_get_position pt_positions": KNOWN,
    "pendle_get_position yt_positions": KNOWN,
    "rocketpool_get_operators operators": OF_CHAIN,
    "safety_audit_approvals approvals": lambda row: (
        ("Risky", "Elevated", "Safe").index(row["risk_level"]),
        row["token"],
        row["spender"],
    ),
    "safety_audit_approvals not_searched": WORDS,
    "safety_check_pending_alerts breached_alerts": up("current_health_factor"),
    "safety_detect_honeypot abilities": WORDS,
    "safety_estimate_unwind_cost optimal_order": WAY_OUT,
    "safety_estimate_unwind_cost positions": WAY_OUT,
    "safety_get_health_alerts alerts": by("protocol", "chain_id"),
    "safety_get_liquidation_risks risky_positions": up("health_factor"),
    "safety_get_portfolio_health positions": POSITIONS,
    "safety_get_portfolio_health top_risks": WORDS,
    "safety_get_protocol_exposure recommendations": WORDS,
    "safety_get_risk_dashboard critical_positions": up("health_factor"),
    "safety_get_risk_dashboard pending_actions": STEPS,
    "safety_get_risk_dashboard off_peg": WORDS,
    "safety_get_status keys": by("expires_at"),
    "safety_simulate_price_stress scenarios[].liquidated_positions": POSITIONS,
    "safety_simulate_transaction balance_changes": OF_CHAIN,
    "safety_simulate_transaction logs": OF_CHAIN,
    "safety_simulate_transaction state_changes": OF_CHAIN,
    "safety_validate_token warnings": WORDS,
    "session_get_keys keys": KNOWN,
    "spark_get_user_summary borrowed": OF_CHAIN,
    "spark_get_user_summary supplied": OF_CHAIN,
    "stream_price_feed chain_ids": ASKED,
    "stream_tokenjar chain_ids": ASKED,
    "stream_trades chain_ids": ASKED,
    "intel_track_governance changes[].targets": OF_CHAIN,
    "intel_track_governance open_proposals": "as what happened to them, the oldest first",
    "uniswap_api_check_approval token_approvals": ASKED,
    "uniswap_api_check_swap_status swaps": ASKED,
    "uniswap_api_get_bridgeable_tokens destinations": OF_SERVICE,
    "uniswap_api_get_orders orders": OF_SERVICE,
    "uniswap_api_get_orders orders[].outputs": OF_SERVICE,
    "uniswap_api_get_quote would_fail": WORDS,
    "uniswap_get_quote route": STEPS,
    "uniswap_lp_get_rewards credited": KNOWN,
    "uniswap_lp_get_rewards positions": OF_CHAIN,
    "uniswap_lp_get_rewards positions[].stakes": OF_CHAIN,
    "uniswap_lp_get_rewards running": "what it pays a second, the most first, at prices that are not told",
    "wallet_get_delegation permissions": WORDS,
    "wallet_get_status chains": up("chain_id"),
    "wallet_get_status pending_transactions": up("nonce"),
    "wallet_get_status positions": POSITIONS,
    "wallet_get_payment_hosts hosts": by("host", "chain_id"),
    "wallet_get_supported_chains chains": up("chain_id"),
    "wallet_get_supported_chains chains[].markets": str,
    "yearn_get_position positions": KNOWN,
    "yearn_get_vaults vaults": down("apy"),
    "yearn_get_vaults vaults[].risks": WORDS,
    **{
        f"safety_get_protocol_exposure by_{each}": lambda row: (-number(row["held_usd"]), -number(row["owed_usd"]))
        for each in ("asset", "asset_type", "bridge", "chain", "issuer", "oracle", "protocol")
    },
    "safety_get_status keys[].scopes": str,
    "safety_get_status limits": lambda row: WINDOWS.index(row["window"]),
    "safety_simulate_price_stress falls": str,
    "safety_simulate_price_stress scenarios": down("price_change_pct"),
    "safety_simulate_transaction logs[].topics": OF_CHAIN,
    "intel_track_governance changes": up("block_number"),
    "uniswap_api_check_wallet_delegation delegations": up("chain_id"),
    "uniswap_get_quote other_routes": "the best first, of which the names tell nothing",
    "wallet_get_status balances": KNOWN,
}


_SAY_WHAT_IS_MISSING: Final = ("not_counted", "left_out", "not_searched", "gaps")
"""Lists of words, in every answer that has one."""


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
        if len(rows) < 2 or isinstance(order, str) or path.rpartition(".")[2] in _SAY_WHAT_IS_MISSING:
            continue
        if order is None:
            yield f"{path} has several members, and no line in tests/catalogue/orders.py says what they stand by"
            continue
        keys = [order(row) for row in rows]
        if keys != sorted(keys):
            yield f"{path} stands in another order than is written down: {keys}"
