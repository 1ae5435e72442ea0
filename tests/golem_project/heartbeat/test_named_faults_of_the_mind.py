"""What was wrong with a golem's own thinking and memory, fault by fault, what it was asked to be instead, sentence by
sentence, and the tests that hold each; one that is gone is missed.
"""

from __future__ import annotations

import pytest

from tests.catalogue.test_named_adversaries import _exists

HEART = "golem_project/heartbeat"
THINKING = f"{HEART}/thinking"
FAILING = f"{THINKING}/test_failing_to_think.py"
STANDING = f"{THINKING}/test_owner_instructions.py"
WORDS = f"{THINKING}/test_words_and_who_said_them.py"
DATA = f"{THINKING}/test_every_string_is_data.py"
OBEYING = f"{THINKING}/test_obeying_model.py"
MODEL_TICK = f"{THINKING}/test_tick_with_a_model.py"
PLANNER = f"{THINKING}/test_model_planner.py"
BILLS, LYING = f"{THINKING}/test_bills_of_providers.py", f"{THINKING}/test_lying_model.py"
CLIENT, PREFIX = f"{THINKING}/test_model_client.py", f"{THINKING}/test_prompt_order.py"
LOOP = f"{THINKING}/test_tool_loop.py"
CHAT = "golem_project/chat/test_conversation.py"
COSTS, WORST = "permits_app/test_trading_costs.py", "permits_app/test_worst_costs_of_trades.py"
ALIKE = "permits_app/safety/test_alike_calls.py"
REPLAY = "permits_app/backtest/test_policy_replay.py"
GLANCE = "admin/test_golem_tabs.py"
BELIEF, STEERING = "memory_app/test_belief.py", "memory_app/test_prompt_injection_score.py"
INSIGHTS, HYGIENE = "memory_app/test_insights.py", "memory_app/test_hygiene.py"
LABELLED, GLOSSARY = "memory_app/test_labelled.py", "memory_app/test_glossary.py"
LIKENESS, DEEDS = "memory_app/test_bend_embeddings.py", "memory_app/test_action_kinds.py"
NIGHTS, ROUTES = "memory_app/test_month_of_nights.py", "memory_app/test_routes.py"
REMEMBERED, CLAIMS = f"{HEART}/test_memory_of_a_tick.py", f"{HEART}/test_tick_claims.py"
NEEDS = f"{HEART}/test_what_a_rule_needs.py"
STRATEGIES, PLANS = (f"{HEART}/strategies/test_{each}.py" for each in ("strategies", "standing_plans"))
DRY, ON_CHAIN = (f"{HEART}/strategies/test_{each}.py" for each in ("dry_runs", "ticks_of_strategies"))
ROTATION = f"{HEART}/strategies/test_yield_rotation.py"
TRIED, TRIED_PAGE = "golem_project/cockpit/test_strategy_page.py", "browser/test_strategies_over_the_past.py"

FAULTS: dict[str, tuple[str, ...]] = {
    "M1 an owner is misled when the model fails": (
        f"{FAILING}::test_a_tick_whose_model_failed_says_so_and_never_that_it_wanted_nothing",
        f"{FAILING}::test_people_are_told_with_the_third_failed_tick_once_and_once_when_it_thinks_again",
        f"{FAILING}::test_rules_act_where_the_model_does_not_answer_and_the_page_says_who_acted",
    ),
    "M2 an outage eats the day's budget": (
        f"{FAILING}::test_an_outage_of_any_length_leaves_the_days_budget_as_it_was",
        f"{FAILING}::test_what_was_turned_away_costs_nothing",
    ),
    "M3 the owner's strategy never reaches the model": (
        f"{STANDING}::test_strategy_rule_and_playbook_stand_in_every_request_strategy_first_and_before_the_tools",
    ),
    "M4 one unanswered request freezes the rules": (
        f"{FAILING}::test_what_waits_for_owners_holds_back_what_it_is_about_and_nothing_else",
    ),
    "M5 churning": (
        f"{COSTS}::test_small_trades_of_ever_other_amounts_end_at_the_budget_of_a_day",
        f"{ALIKE}::test_an_owners_limit_of_alike_actions_is_kept_at_the_door",
    ),
    "M6 delegation launders trust": (
        f"{WORDS}::test_what_a_delegate_is_asked_is_data_with_who_asks_and_its_signs",
        f"{WORDS}::test_a_delegate_is_shown_that_its_golem_is_halted",
    ),
    "M7 a learned slippage does not fade": (
        f"{BELIEF}::test_a_learned_slippage_fades_and_is_gone_after_a_thousand_days",
        f"{BELIEF}::test_three_reverts_undo_it_without_waiting_for_the_next_cycle",
    ),
    "M8 the scan knows phrases, and false insights stand like true ones": (
        f"{STEERING}::test_what_steers_in_other_words_is_seen_where_no_phrase_is_known",
        f"{STEERING}::test_the_second_line_catches_at_least_seven_times_what_the_first_does",
        f"{WORDS}::test_an_agents_word_starts_at_half_of_what_outcomes_give_and_an_owners_does_not",
        f"{WORDS}::test_what_an_agent_noted_tells_no_prompt_an_account_or_an_amount",
    ),
    "M9 a tick's cost leaves out delegates, a bill of one token is believed": (
        f"{MODEL_TICK}::test_what_a_tick_cost_has_its_delegates_in_it",
        f"{LYING}::test_a_bill_that_is_too_low_to_be_one_counts_as_the_worst_case",
    ),
    "M10 a rule is refused, untold how to mend it": (
        f"{NEEDS}::test_the_page_says_when_a_rule_is_saved_which_limit_is_too_low_and_how_to_mend_it",
        f"{NEEDS}::test_what_is_said_to_mend_it_mends_it",
    ),
    "M11 memory's quality": (
        f"{LABELLED}::test_hybrid_finds_more_than_words_alone_and_more_than_vectors_alone",
        f"{GLOSSARY}::test_a_question_that_shares_no_word_finds_what_speaks_of_the_same_concept",
        f"{LIKENESS}::test_what_says_the_same_in_other_words_comes_before_what_shares_a_word_after_bending",
        f"{DEEDS}::test_an_episode_whose_tool_does_what_is_asked_comes_before_one_with_the_same_words",
        f"{NIGHTS}::test_over_a_month_of_nights_a_golem_dreams_after_each_surprise_and_of_the_same_again_after_a_week",
    ),
    "M12 one strategy only without a model": (
        f"{DRY}::test_six_strategies_and_a_range_break_no_rule_in_two_thousand_ticks_and_their_parts_add_up",
        f"{ON_CHAIN}::test_a_regular_purchase_is_made_once_a_period_under_a_permit",
    ),
}
"""Each fault that was found, and tests of which each fails where it is back."""

PARTS: dict[str, tuple[str, ...]] = {
    "1 standing words are in the stable prefix of every request, of ticks, delegates and conversations": (
        f"{STANDING}::test_strategy_rule_and_playbook_stand_in_every_request_strategy_first_and_before_the_tools",
        f"{WORDS}::test_a_delegate_is_told_the_standing_words_of_its_golems_owner_and_not_as_data",
        f"{CHAT}::test_its_owners_standing_words_lead_a_conversation_too",
    ),
    "1 cacheable": (
        f"{PREFIX}::test_a_change_of_phase_leaves_all_but_the_end_and_a_change_of_tools_the_golem_and_the_house",
        f"{CLIENT}::test_what_stays_the_same_in_every_round_is_marked_for_anthropics_cache",
    ),
    "1 within a budget, with what was left out said": (
        f"{STANDING}::test_strategy_takes_the_room_before_playbook_and_what_found_none_is_named",
        f"{MODEL_TICK}::test_the_decision_says_which_version_of_its_owners_words_was_told_and_what_found_no_room",
    ),
    "1 strategy wins by construction": (
        f"{STANDING}::test_strategy_rule_and_playbook_stand_in_every_request_strategy_first_and_before_the_tools",
        f"{STANDING}::test_strategy_takes_the_room_before_playbook_and_what_found_none_is_named",
    ),
    "1 changes are versioned and shown beside decisions": (
        f"{STANDING}::test_a_changed_strategy_is_told_with_its_new_version_the_next_time",
        f"{MODEL_TICK}::test_the_decision_says_which_version_of_its_owners_words_was_told_and_what_found_no_room",
    ),
    "2 a failure is said in one sentence, with its cost, on the decision page and in the cockpit": (
        f"{FAILING}::test_a_tick_whose_model_failed_says_so_and_never_that_it_wanted_nothing",
    ),
    "2 alerts after three, with cost": (
        f"{FAILING}::test_people_are_told_what_the_failed_ticks_cost_and_the_next_row_begins_at_nothing",
        f"{FAILING}::test_people_are_told_with_the_third_failed_tick_once_and_once_when_it_thinks_again",
        f"{FAILING}::test_a_quiet_tick_between_two_failures_neither_counts_nor_clears",
    ),
    "2 the rules act in its place where the owner chose that": (
        f"{FAILING}::test_rules_act_where_the_model_does_not_answer_and_the_page_says_who_acted",
        f"{FAILING}::test_nobody_acts_where_the_owner_wants_nobody_to",
        f"{FAILING}::test_a_server_without_a_model_is_a_model_that_fails",
    ),
    "2 what was never sent costs nothing": (
        f"{FAILING}::test_what_was_turned_away_costs_nothing",
        f"{FAILING}::test_what_may_have_been_read_costs_what_was_held",
        f"{LOOP}::test_requests_that_were_turned_away_unread_are_free",
    ),
    "2 a waiting request holds back what it is about and nothing else": (
        f"{FAILING}::test_what_waits_for_owners_holds_back_what_it_is_about_and_nothing_else",
    ),
    "3 a budget a day for fees, slippage and impact together, by golem, pair and venue": (
        f"{COSTS}::test_each_budget_takes_exactly_its_limit_and_counts_its_own",
        f"{COSTS}::test_a_trade_reserves_its_worst_case_and_settles_what_it_really_lost",
        f"{WORST}::test_what_has_no_price_is_taken_at_slippage_and_impact_of_all_that_is_spent",
    ),
    "3 enforced at the door": (
        f"{COSTS}::test_small_trades_of_ever_other_amounts_end_at_the_budget_of_a_day",
        f"{COSTS}::test_two_trades_at_once_never_both_take_what_is_left",
        f"{COSTS}::test_getting_out_and_what_costs_nothing_pass_a_budget_that_is_used_up",
    ),
    "3 shown beside limits": (
        f"{GLANCE}::test_one_glance_says_what_it_can_lose_today_and_that_prices_can_take_more",
        f"{ALIKE}::test_an_agent_reads_it_beside_its_limits",
    ),
    "3 back-testable": (f"{REPLAY}::test_every_limit_flips_both_ways_with_its_value",),
    "3 the loop guard sees jitter": (
        f"{ALIKE}::test_what_differs_in_numbers_is_alike_and_what_differs_in_tokens_or_chain_is_not",
        f"{ALIKE}::test_one_more_than_the_limit_is_refused_and_the_windows_size_is_no_limit",
    ),
    "3 a standing plan is its way round": (
        f"{PLANS}::test_equal_trades_of_a_plan_are_no_loop_and_those_of_an_agent_are_told_the_way_round",
    ),
    "4 words carry who said them to the prompt, always in the untrusted part": (
        f"{WORDS}::test_what_a_delegate_is_asked_is_data_with_who_asks_and_its_signs",
        f"{WORDS}::test_no_request_leaves_the_data",
        f"{DATA}::test_no_string_of_a_situation_that_production_wrote_leaves_the_data",
        f"{DATA}::test_no_shape_of_a_situation_and_no_cut_lets_a_string_out",
        f"{PLANNER}::test_text_from_outside_reaches_the_model_as_data_only",
    ),
    "4 facts about addresses, amounts and tokens come from the registry and the chain alone": (
        f"{WORDS}::test_what_an_agent_noted_tells_no_prompt_an_account_or_an_amount",
        f"{WORDS}::test_an_account_is_left_out_however_it_is_written",
        f"{WORDS}::test_an_amount_is_left_out_however_it_is_written",
    ),
    "4 the scan is a second line, multi-lingual, by embedding against a corpus of kinds": (
        f"{STEERING}::test_what_steers_in_other_words_is_seen_where_no_phrase_is_known",
        f"{STEERING}::test_the_second_line_catches_at_least_seven_times_what_the_first_does",
        f"{STEERING}::test_a_file_without_a_kind_is_refused",
    ),
    "4 two hundred injections over all doors, an obeying model": (
        f"{STEERING}::test_there_are_two_hundred_texts_each_said_once_through_nine_doors",
        f"{OBEYING}::test_one_text_through_each_of_nine_doors_moves_nothing_and_hides_nothing",
    ),
    "4 at most two in a hundred benign texts held back": (
        f"{STEERING}::test_of_two_hundred_ordinary_texts_no_more_than_four_are_held_back",
    ),
    "5 heuristics fade with time and move with few contradictions": (
        f"{BELIEF}::test_evidence_only_fades_and_halves_in_its_half_life",
        f"{BELIEF}::test_three_outcomes_undo_what_any_number_of_cycles_had_built_up",
        f"{BELIEF}::test_outcomes_count_the_same_told_at_once_or_one_by_one",
    ),
    "5 retrieval is measured on paraphrased questions, half kept from tuning, hybrid better than both parts": (
        f"{LABELLED}::test_a_set_has_three_hundred_episodes_and_a_hundred_questions_each_said_once",
        f"{LABELLED}::test_the_held_out_set_repeats_nothing_of_the_first",
        f"{LABELLED}::test_hybrid_finds_more_than_words_alone_and_more_than_vectors_alone",
    ),
    "5 effects of insights on route and timing": (
        f"{ROUTES}::test_a_golem_whose_swaps_through_one_tier_fell_short_is_given_another_and_told_why",
        f"{REMEMBERED}::test_a_warning_lets_an_opening_wait_while_the_market_is_rough_and_the_decision_says_so",
        f"{REMEMBERED}::test_what_comes_of_an_action_is_remembered_in_the_market_its_own_tick_saw",
        f"{REMEMBERED}::test_where_most_failed_in_a_rough_market_the_warning_stands_whichever_came_last",
        f"{CLAIMS}::test_a_market_that_a_dead_tick_noted_hides_no_change_from_the_next_and_a_late_one_notes_nothing",
    ),
    "5 dreams happen on quiet nights in simulated time": (
        f"{NIGHTS}::test_over_a_month_of_nights_a_golem_dreams_after_each_surprise_and_of_the_same_again_after_a_week",
    ),
    "6 each kind of strategy": (
        f"{STRATEGIES}::test_a_regular_purchase_is_due_once_a_period_and_what_was_missed_is_not_made_up_for",
        f"{STRATEGIES}::test_weights_are_left_alone_within_their_band_and_brought_back_outside",
        f"{STRATEGIES}::test_a_stop_sells_all_at_its_price_and_a_goal_a_part",
        f"{STRATEGIES}::test_each_rung_is_carried_out_once",
        f"{ROTATION}::test_it_moves_where_the_difference_is_asked_for_and_pays_the_way",
        f"{DRY}::test_a_kept_loan_is_lowered_in_time_and_one_that_nobody_keeps_is_liquidated",
        f"{HEART}/test_rule_planner.py::test_a_whale_moves_the_price_out_of_range_and_the_next_tick_rebalances",
    ),
    "6 a form with a dry run over recorded history and a picture": (
        f"{ON_CHAIN}::test_an_owner_types_strategies_on_the_page_and_sees_them_again",
        f"{TRIED}::test_an_owner_sees_what_each_strategy_would_have_done_its_costs_and_its_end_beside_holding",
        f"{TRIED_PAGE}::test_an_owner_adds_a_rotation_and_tries_everything_over_a_month",
    ),
    "6 under permits": (
        f"{ON_CHAIN}::test_a_regular_purchase_is_made_once_a_period_under_a_permit",
        f"{ROTATION}::test_a_golem_lends_where_it_earns_most_and_follows_the_rate_under_permits",
    ),
    "6 one cycle's wishes ordered by risk": (
        f"{STRATEGIES}::test_what_lowers_a_risk_comes_first_whatever_the_order_it_was_said_in",
        f"{ON_CHAIN}::test_a_stop_sells_all_and_nothing_buys_it_back",
    ),
    "6 limits that a rule needs are told when it is saved": (
        f"{NEEDS}::test_the_page_says_when_a_rule_is_saved_which_limit_is_too_low_and_how_to_mend_it",
        f"{NEEDS}::test_each_limit_that_stands_in_the_way_is_named",
    ),
    "7 costs told whole, with delegates and against the provider's own bill": (
        f"{MODEL_TICK}::test_what_a_tick_cost_has_its_delegates_in_it",
        f"{BILLS}::test_a_bill_above_what_its_tokens_come_to_counts",
        f"{BILLS}::test_the_decision_tells_its_owner_what_a_bill_did",
    ),
    "7 an implausible bill is doubted downwards too": (
        f"{BILLS}::test_a_bill_under_a_twentieth_of_its_tokens_is_doubted_and_at_a_twentieth_not",
        f"{LYING}::test_a_bill_that_is_too_low_to_be_one_counts_as_the_worst_case",
    ),
    "8 the decision page, in that order, in sentences": (
        f"{MODEL_TICK}::test_the_decision_says_what_the_model_was_told_asked_was_refused_and_cost_in_that_order",
    ),
    "done when: two thousand ticks of six strategies": (
        f"{DRY}::test_six_strategies_and_a_range_break_no_rule_in_two_thousand_ticks_and_their_parts_add_up",
        f"{DRY}::test_each_by_itself_breaks_no_rule_and_its_parts_add_up",
    ),
}
"""What it was asked to be, by part."""


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_the_mind_is_held_by_tests_that_exist(fault: str) -> None:
    assert [name for name in FAULTS[fault] if not _exists(name)] == []


@pytest.mark.parametrize("part", PARTS)
def test_each_sentence_that_was_asked_of_the_mind_is_held_by_tests_that_exist(part: str) -> None:
    assert [name for name in PARTS[part] if not _exists(name)] == []


def test_no_fault_is_left_out() -> None:
    assert [each.partition(" ")[0] for each in FAULTS] == [f"M{number}" for number in range(1, 13)]
    assert {each[0] for each in PARTS} == {*"12345678", "d"}
