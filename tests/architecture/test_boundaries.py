"""Every limit and every span of time of the safety chain names the test that stands on its edge.

The limits are found in models, settings and rules; one that is added without a test at one less, exactly and one more
fails here. What is a number and no limit says why.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module

from django.db import models

from archetypes_app.models import Golem
from permits_app.models import PolicyCage, SpendingLimits
from tests.architecture.sources import ROOT, list_sources
from tests.batches import in_batches

SAFETY = "permits_app/safety/test_"
FALLS = f"{SAFETY}drawdown.py::test_"
EDGES = f"{SAFETY}boundaries.py::test_"
TIMES = "permits_app/test_time_limits.py::test_"
STUCK = "concurrency/test_stuck_accounts.py::test_"
PLACES = f"{STUCK}a_chain_and_an_account_have_a_few_places_and_who_found_none_is_remembered"
CAGE = f"{SAFETY}policy_cage.py::test_"
WINDOW = f"{EDGES}a_window_of_the_ledger_takes_exactly_its_limit"
TRADING_COSTS = "permits_app/test_trading_costs.py::test_each_budget_takes_exactly_its_limit_and_counts_its_own"
SETTINGS = "golem_project.settings.safety"

TESTS: dict[str, str] = {
    "SpendingLimits.per_transaction_micro_usd": WINDOW,
    "SpendingLimits.per_tick_micro_usd": WINDOW,
    "SpendingLimits.per_session_micro_usd": WINDOW,
    "SpendingLimits.per_day_micro_usd": WINDOW,
    "GIFT_BPS": "permits_app/test_edges_of_judging.py::test_a_gift_under_a_thousandth_takes_room_where_a_plan_adds",
    "NAMED_PERMITS": f"{SAFETY}under_way.py::test_hundreds_of_open_swaps_are_one_sum_to_the_next_preview",
    "WEEK": "permits_app/test_ledger.py::test_every_window_is_the_naive_sum_of_what_lies_in_it",
    "LONGEST_DEADLINE_SECONDS": (
        "golem_project/pi/test_mended_previews.py::test_only_what_is_beyond_the_edge_is_changed"
    ),
    "SpendingLimits.trading_costs_per_day_micro_usd": TRADING_COSTS,
    "SpendingLimits.trading_costs_per_pair_micro_usd": TRADING_COSTS,
    "SpendingLimits.trading_costs_per_venue_micro_usd": TRADING_COSTS,
    "SpendingLimits.hot_lane_micro_usd": f"{EDGES}a_preview_above_the_hot_lane_carries_its_review",
    "SpendingLimits.writes_per_hour": f"{EDGES}an_hour_takes_exactly_its_writes",
    "SpendingLimits.most_alike_calls": (
        f"{SAFETY}alike_calls.py::test_an_owners_limit_of_alike_actions_is_kept_at_the_door"
    ),
    "SpendingLimits.max_slippage_bps": f"{EDGES}slippage_passes_up_to_the_owners_limit",
    "SpendingLimits.max_price_impact_bps": f"{EDGES}price_impact_passes_up_to_the_owners_limit",
    "LONGEST": "permits_app/test_pending_requests.py::test_what_was_seen_alone_decides_the_state",
    "MISSED_FOR": "permits_app/test_pending_requests.py::test_what_is_gone_is_given_up_only_when_it_stays_away",
    "UNTOLD_FOR": (
        "permits_app/test_standing_orders.py"
        "::test_an_order_of_which_nobody_says_anything_is_its_owners_to_look_at_and_never_lost"
    ),
    "MAY_COME_BACK": (
        "permits_app/test_rights_are_followed.py"
        "::test_what_was_withdrawn_for_an_hour_is_looked_at_no_more_and_stands_again_when_it_is_brought_in"
    ),
    "LONGEST_SECONDS": "permits_app/test_signed_promises.py::test_a_promise_lasts_a_week_and_no_second_longer",
    "PolicyCage.max_assets": f"{CAGE}the_cage_has_room_for_exactly_its_assets",
    "PolicyCage.max_position_bps": f"{CAGE}a_position_takes_exactly_its_share",
    "PolicyCage.max_concentration_bps": f"{CAGE}an_asset_takes_exactly_its_share_of_the_portfolio",
    "PolicyCage.max_issuer_bps": f"{SAFETY}dependences.py::test_one_issuer_takes_exactly_its_share",
    "PolicyCage.max_bridge_bps": f"{SAFETY}dependences.py::test_one_bridge_takes_exactly_its_share",
    "PolicyCage.max_oracle_bps": f"{SAFETY}dependences.py::test_one_oracle_takes_exactly_its_share",
    "MOST_PLAUSIBLE_MICRO_USD": f"{FALLS}a_claim_is_believed_up_to_a_hundred_billion_dollars",
    "PolicyCage.max_drawdown_bps": f"{FALLS}the_cage_is_broken_exactly_beyond_its_limit",
    "PolicyCage.min_rebalance_interval_seconds": f"{CAGE}rebalances_keep_their_distance_to_the_second",
    "PolicyCage.max_rebalances_per_day": f"{CAGE}a_day_takes_exactly_its_number_of_rebalances",
    "ROOM_ON_THE_WAY_BPS": f"{SAFETY}health_between_calls.py::test_what_is_asked_on_the_way_depends_on_where_it_leads",
    "PolicyCage.min_health_bps": (
        f"{SAFETY}position_rules.py::test_what_raises_risk_ends_above_the_floor_by_a_block_of_interest"
    ),
    "INTEREST_BPS": (f"{SAFETY}position_rules.py::test_what_raises_risk_ends_above_the_floor_by_a_block_of_interest"),
    "DUST": f"{SAFETY}position_rules.py::test_rounding_may_take_two_base_units_of_a_leg_and_no_more",
    "LEAST_OF_SHOWN_BPS": (
        "permits_app/test_claims_by_their_rule.py::test_what_people_are_shown_is_sold_for_half_of_it_and_not_for_less"
    ),
    "PolicyCage.min_range_ticks": f"{CAGE}a_range_is_held_to_the_tick",
    "PolicyCage.min_collateral_ratio_bps": f"{CAGE}the_collateral_ratio_is_held_to_the_basis_point",
    "Golem.permit_ttl_seconds": f"{EDGES}a_permit_is_valid_until_its_ttl_is_over_and_not_at_it",
    "Golem.heartbeat_tick": f"{EDGES}a_permit_lives_through_two_heartbeat_ticks_and_not_three",
    "GOLEM_COMMIT_WAITERS_PER_KEY": (
        "golem_project/pi/test_waiting.py::test_at_most_four_commits_of_a_token_wait_and_a_fifth_is_not_started"
    ),
    "GOLEM_COMMIT_LEASE_SECONDS": f"{TIMES}a_lease_keeps_others_out_until_it_is_over",
    "GOLEM_COMMITS_AT_ONCE_PER_CHAIN": PLACES,
    "GOLEM_COMMITS_AT_ONCE_PER_ACCOUNT": PLACES,
    "GOLEM_FOLLOWER_LEASE_SECONDS": (
        "permits_app/execution/test_chain_follower.py::"
        "test_one_process_follows_a_chain_and_another_takes_over_when_it_says_nothing_more"
    ),
    "GOLEM_KEY_WAIT_SECONDS": (
        "concurrency/test_workers_without_keys.py::test_a_key_that_no_worker_has_is_waited_for_so_long_and_then_refused"
    ),
    "GOLEM_CHAIN_DOWN_AFTER_SECONDS": f"{STUCK}a_chain_is_down_from_its_time_on",
    "GOLEM_BLOCKED_AFTER_SECONDS": f"{STUCK}an_account_is_blocked_from_its_time_on",
    "GOLEM_STUCK_AFTER_SECONDS": f"{TIMES}a_sent_transaction_is_stuck_from_its_time_on",
    "GOLEM_FEE_RAISE_BPS": "permits_app/execution/test_fees.py::test_both_fees_rise_by_a_tenth_and_reach_the_market",
    "GOLEM_VALUE_DRIFT_BPS": "permits_app/test_capabilities.py::test_a_capability_covers_its_value_to_the_micro_dollar",
    "GOLEM_APPROVAL_HOURS": f"{TIMES}owners_decide_before_the_deadline_and_not_at_it",
    "GOLEM_APPROVAL_OPEN_PER_AGENT": (
        "permits_app/approvals/test_waiting_permits.py::test_an_agent_has_only_so_many_open_requests_per_tier"
    ),
    "GOLEM_VALUES_KEPT_DAYS": (
        "permits_app/test_nav_parts.py"
        "::test_a_value_is_kept_every_ten_minutes_for_as_long_as_is_said_and_the_day_is_summed_from_them"
    ),
    "GOLEM_RECORDS_KEPT_DAYS": (
        "permits_app/execution/test_record_archives.py"
        "::test_records_stay_whole_for_as_long_as_is_said_and_not_a_moment_longer"
    ),
    "GOLEM_DENIED_CALL_DAYS": f"{TIMES}a_refused_plan_is_kept_for_its_days_and_not_longer",
    "GOLEM_CHANGE_CLAIM_SECONDS": f"{TIMES}the_claim_of_a_dead_worker_lapses",
    "GOLEM_WARDEN_WINDOW_SECONDS": f"{TIMES}an_announcement_is_due_in_its_window_and_over_at_its_end",
    "GOLEM_CAGE_MIRROR_MAX_AGE_SECONDS": f"{TIMES}a_mirror_may_be_as_old_as_it_may_be_and_not_older",
    "GOLEM_IDEMPOTENCY_HOURS": (
        "golem_project/pi/test_idempotency.py::test_an_answer_is_kept_for_a_day_and_not_a_moment_longer"
    ),
    "GOLEM_IDEMPOTENCY_LOCK_SECONDS": (
        "golem_project/pi/test_idempotency.py::test_a_running_first_request_is_told_and_a_dead_one_is_replaced"
    ),
    "GOLEM_AUDIT_CHECKPOINT_ENTRIES": f"{TIMES}a_chain_is_signed_again_after_so_many_entries",
    "GOLEM_VENUE_TRUST_CLEAN_OUTCOMES": (
        "permits_app/test_venue_trust.py::test_clean_outcomes_in_a_row_restore_it_and_one_divergence_begins_again"
    ),
    "GOLEM_GAS_LIMIT_MARGIN_BPS": f"{SAFETY}simulator.py::test_the_gas_limit_covers_the_largest_refund_and_the_margin",
    "GOLEM_DUST_MICRO_USD": f"{SAFETY}spending_limiter.py::test_an_amount_that_reads_like_whole_units_is_refused",
    "GOLEM_RELAYER_MOST_GAS": f"{TIMES}the_relayer_sends_up_to_its_gas_and_no_more",
    "GOLEM_RELAYER_MOST_WEI_PER_DAY": f"{TIMES}the_relayer_spends_up_to_its_day_and_no_more",
    "HOOK_BUDGET_MS": f"{SAFETY}hook_chain.py::test_a_hook_that_answers_too_late_refuses",
    "LOOP_WINDOW": (
        f"{SAFETY}loop_and_breaker_rules.py::test_an_identical_call_outside_the_window_of_twenty_does_not_count"
    ),
    "LOOP_MOST_IDENTICAL": f"{SAFETY}loop_and_breaker_rules.py::test_the_fifth_identical_call_is_a_loop",
    "LOOP_MOST_OF_ONE_TOOL": f"{SAFETY}loop_and_breaker_rules.py::test_more_than_four_fifths_of_one_tool_is_noted",
    "LOOP_HORIZON": f"{TIMES}an_identical_call_counts_for_an_hour",
    "BREAKER_REQUESTS": f"{SAFETY}loop_and_breaker_rules.py::test_half_of_ten_failures_open_the_breaker",
    "BREAKER_FAILURES": f"{SAFETY}loop_and_breaker_rules.py::test_half_of_ten_failures_open_the_breaker",
    "BREAKER_HALF_OPEN_AFTER": (
        f"{SAFETY}loop_and_breaker_rules.py::test_an_open_breaker_is_half_open_after_thirty_seconds"
    ),
    "BREAKER_HORIZON": (
        f"{SAFETY}load_call_records.py::test_a_venue_is_judged_by_its_last_transactions_of_a_day_oldest_first"
    ),
    "GATE_WINDOW": f"{SAFETY}action_gate.py::test_predictions_beyond_the_last_fifty_do_not_count",
    "GATE_LEAST_PREDICTIONS": f"{SAFETY}action_gate.py::test_accuracy_opens_exactly_its_level",
    "DIVERGENCE_TOLERANCE_BPS": "permits_app/test_venue_trust.py::test_the_border_is_two_percent",
    "MARK_WINDOW": f"{FALLS}the_mark_rises_by_itself_and_ages_only_while_nothing_is_violated",
    "MARK_STEP": f"{FALLS}the_mark_is_the_highest_value_of_its_window_by_time",
    "DECREASES_TIMES": f"{SAFETY}rate_limiter.py::test_decreases_go_on_to_three_times_the_hour_and_closing_without_end",
    "LEAST_DECREASES": f"{SAFETY}rate_limiter.py::test_decreases_go_on_to_three_times_the_hour_and_closing_without_end",
    "MARK_REACHED_AGAIN": f"{FALLS}a_mark_reached_again_is_written_once_a_minute_and_a_higher_one_at_once",
    "BREAKER_PAUSE_BPS": f"{FALLS}the_breaker_trips_at_seven_tenths_until_a_day_after_a_pause",
    "BREAKER_BLOCK_BPS": f"{FALLS}the_breaker_blocks_from_twenty_percent_on_whatever_the_cage_allows",
    "BREAKER_COOL_DOWN": f"{FALLS}a_pause_ends_after_its_hour_and_stops_only_growing",
    "VOLATILE_FOR": f"{FALLS}the_breaker_trips_at_seven_tenths_until_a_day_after_a_pause",
    "LARGE_SWAP_MICRO_USD": "permits_app/test_risk_tier_rules.py::test_a_tier_changes_exactly_above_its_value",
    "LARGE_DEPOSIT_MICRO_USD": "permits_app/test_risk_tier_rules.py::test_a_tier_changes_exactly_above_its_value",
    "DAY": f"{EDGES}the_rolling_day_lets_go_of_a_spend_when_it_is_a_day_old",
    "HOUR": "permits_app/test_ledger.py::test_every_window_is_the_naive_sum_of_what_lies_in_it",
}

NO_LIMITS: dict[str, str] = {
    "LOOK_EVERY": "how soon the contract of a right is asked again; a commit asks it in any case",
    "BLOCKS_BACK": "how far before the last open block an end is looked for; nothing is refused by it",
    "SEEN_FOR": "how long an end is seen before a reservation is free; nothing is refused by it",
    "LIQUIDATION_BPS": "where cover equals debt, by the meaning of health; nobody may set it",
    "GOLEM_DOUBT_SECONDS": "how long a contradiction is read again; balances judge before and after it",
    "MOST_GAS_SIGNED": "how far a limit is raised to be tried again; what is promised is what a run within it shows",
    "TRY_SETTLES_SECONDS": "when to look again; nothing is refused by it",
    "RETRY_AFTER_SECONDS": "what an answer says of when to come back; nothing is judged by it",
    "GOLEM_PERMIT_TTL_SECONDS": "the default of Golem.permit_ttl_seconds",
    "GOLEM_LIMIT_PER_TRANSACTION_MICRO_USD": "a default of SpendingLimits",
    "GOLEM_LIMIT_PER_TICK_MICRO_USD": "a default of SpendingLimits",
    "GOLEM_LIMIT_PER_SESSION_MICRO_USD": "a default of SpendingLimits",
    "GOLEM_LIMIT_PER_DAY_MICRO_USD": "a default of SpendingLimits",
    "GOLEM_LIMIT_HOT_LANE_MICRO_USD": "a default of SpendingLimits",
    "GOLEM_LIMIT_TRADING_COSTS_MICRO_USD": "a default of SpendingLimits",
    "GOLEM_LIMIT_WRITES_PER_HOUR": "a default of SpendingLimits",
    "GOLEM_LIMIT_ALIKE_CALLS": "a default of SpendingLimits",
    "GOLEM_LIMIT_SLIPPAGE_BPS": "a default of SpendingLimits",
    "GOLEM_LIMIT_PRICE_IMPACT_BPS": "a default of SpendingLimits",
    "GOLEM_SWEEP_EVERY_SECONDS": "how often beat calls a task; nothing is refused by it",
    "GOLEM_RECONCILE_EVERY_SECONDS": "how often beat calls a task; nothing is refused by it",
    "GOLEM_COMMIT_WAIT_SECONDS": "how long an answer is waited for; the outcome is the same",
    "GOLEM_RECEIPT_WAIT_SECONDS": "how long an answer is waited for; the outcome is the same",
    "GOLEM_FIRST_LOOK_SECONDS": "how long an answer is waited for; the outcome is the same",
    "GOLEM_PREVIEW_WAIT_SECONDS": "how long an answer is waited for; the outcome is the same",
    "GOLEM_HALT_WAIT_SECONDS": "how long an answer is waited for; the outcome is the same",
    "GOLEM_RELAYER_WAIT_SECONDS": "how long an answer is waited for; the outcome is the same",
    "GOLEM_KEYSTORE_SCRYPT_N": "the cost of a key's file",
    "SIMULATION_BUDGET_MS": "how long a node may take; without its answer nothing passes",
    "PREFLIGHT_BUDGET_MS": "how long a node may take; without its answer nothing passes",
    "LARGEST_PLAUSIBLE_MICRO_USD": "a guess about slips of the pen, beside the limits",
    "VANISHES_UNSEEN": "what rounding may take of what leaves a position",
    "MOST_CHARACTERS": "the length of an answer",
    "MOST_ASSETS": "how much of what was judged is kept",
    "MOST_REBALANCES": "how much of what was judged is kept",
    "USAGE_COLUMNS": "the shape of a row",
}


def list_columns() -> Iterator[str]:
    """Numbers that owners set, and what a permit's life is counted in."""
    for model in (SpendingLimits, PolicyCage):
        for field in model._meta.concrete_fields:
            if isinstance(field, models.IntegerField) and not field.primary_key:
                yield f"{model.__name__}.{field.name}"
    yield from (f"Golem.{Golem._meta.get_field(name).name}" for name in ("permit_ttl_seconds", "heartbeat_tick"))


def list_constants() -> Iterator[str]:
    """Public numbers and spans of the settings, the rules and the ledger."""
    paths = [path for path in list_sources() if path.startswith(("permits_app/limits/", "permits_app/safety/"))]
    paths.append("tools_app/portfolio/holdings.py")
    for path in [*paths, "permits_app/permits/risk_tier_rules.py", SETTINGS.replace(".", "/") + ".py"]:
        module = import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                name = target.id if isinstance(target, ast.Name) else ""
                if name.isupper() and name[0] != "_" and isinstance(getattr(module, name), int | float | timedelta):
                    yield name


def test_every_limit_is_tested_at_its_edge_or_says_why_not() -> None:
    found = {*list_columns(), *list_constants()}
    assert found - set(TESTS) - set(NO_LIMITS) == set(), "a limit without a test at its edge"
    assert set(TESTS) - found == set(), "a test of a limit that is gone"
    assert not set(TESTS) & set(NO_LIMITS)


@in_batches("limit", TESTS)
def test_the_test_at_the_edge_is_there(limit: str) -> None:
    path, _, name = TESTS[limit].partition("::")
    assert f"def {name}(" in (ROOT / "tests" / path).read_text(encoding="utf-8")
