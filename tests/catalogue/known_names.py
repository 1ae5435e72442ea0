"""The names of what is known: of markets, of risks, of the golem itself, and as streams."""

from __future__ import annotations

NAMES = (
    *("safety_validate_token", "safety_audit_approvals", "safety_batch_revoke_approvals", "safety_detect_honeypot"),
    *("safety_set_circuit_breaker", "safety_get_risk_dashboard", "safety_get_portfolio_health"),
    *("safety_get_liquidation_risks", "safety_get_protocol_exposure", "safety_simulate_price_stress"),
    *("safety_estimate_unwind_cost", "safety_set_health_alert", "safety_get_health_alerts"),
    *("safety_check_pending_alerts", "safety_clear_health_alert", "intel_compute_vpin", "intel_compute_lvr"),
    *("intel_get_order_flow_metrics", "intel_calculate_il", "intel_recommend_fee_tier"),
    *("intel_simulate_price_impact", "intel_simulate_pool_scenario", "intel_assess_mev_risk", "intel_compare_venues"),
    *("intel_discover_token", "intel_get_defi_context", "intel_classify_regime", "intel_defilama_get_yields"),
    *("intel_get_market_sentiment", "intel_get_chain_status", "intel_estimate_revert_risk"),
    *("intel_advise_gas_optimization", "intel_calculate_fee_switch_impact", "simulate_transaction"),
    *("check_safety_status", "subscribe_price_feed", "subscribe_trades", "compute_vpin", "compute_lvr"),
    *("data_get_portfolio_snapshot", "stream_subscribe_price", "score_mev_hazard", "cluster_agent_archetypes"),
    *("mine_death_testaments", "track_governance_changes", "get_pool_volume_history", "get_golem_health"),
    *("get_mortality_state", "get_vitality_score", "get_heartbeat_stats", "get_token_balance"),
    *("get_wallet_address", "get_account_balance"),
)
"""Every name under which an agent asks what is known of markets, of risks and of itself, aliases included."""
