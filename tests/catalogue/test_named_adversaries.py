"""What a shelf of protocols must stand, phrase by phrase, and the tests that hold each; one that is gone is missed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.catalogue.test_adversaries import BETWEEN, REFUSED

FOLDER = Path(__file__).parents[1]
HERE = "catalogue/test_adversaries.py"
LIES = "catalogue/test_a_node_lies_about_health.py"
VAULTS = "tools_app/protocols/erc4626/test_vaults.py"
PENDLE = "tools_app/protocols/pendle/test_market.py"
ETHENA = "tools_app/protocols/ethena/test_staking.py"
SLASHES = "catalogue/test_slash_losses.py"
RESTAKED = "catalogue/test_restaked_halt.py"
ASKED = "tools_app/protocols/erc4626/test_vaults_by_request.py"
TAKEN = "catalogue/test_what_others_take.py"
YIELDS = "catalogue/test_yields_at_the_door.py"
ASKED_HALT = "catalogue/test_vault_request_halt.py"
HELD: dict[str, tuple[str, ...]] = {
    "a receipt that nobody declared": (
        "refused: a receipt that nobody declared",
        "refused: shares that go to somebody else",
    ),
    "a debt that nobody declared": ("refused: a debt that nobody declared",),
    "a second loan": ("refused: a second loan in the bytes",),
    "a delegation in the bytes": (
        "refused: a delegation of credit",
        "refused: a delegation of credit that its owner's lists let through",
    ),
    "an authorisation in the bytes": (
        "refused: an authorisation over all positions",
        "refused: a right over everything at Maker, which no log tells",
    ),
    "collateral withdrawn as a decrease": ("refused: collateral taken out as a mere decrease",),
    "a loan under the floor now": ("refused: a loan under the floor", "refused: a vault's loan under the floor"),
    "a loan under the floor after one block of interest": (
        "refused: a loan that is under the floor after one block of interest",
    ),
    "a donation to a vault before a deposit": (
        f"{HERE}::test_a_donation_before_a_deposit_takes_nothing_of_it",
        f"{VAULTS}::test_a_first_depositor_s_donation_keeps_nothing_of_the_next_deposit",
    ),
    "a share price that jumps": (
        "between: the price of a share jumps",
        "between: a share loses its worth",
        f"{VAULTS}::test_a_price_that_jumps_between_preview_and_commit_refuses_the_plan",
    ),
    "a vault that loses three tenths between preview and commit": (
        "between: a vault loses three tenths",
        "between: a vault of Yearn loses three tenths",
        f"{ASKED}::test_a_loss_between_preview_and_commit_refuses_to_ask_shares_back_as_the_preview_said",
        f"{ASKED}::test_a_vault_that_loses_three_tenths_while_shares_wait_pays_what_is_left_and_tells_it_before",
    ),
    "a donation to what earns a yield": (
        f"{PENDLE}::test_a_gift_to_the_market_moves_nothing",
        "tools_app/protocols/yearn/test_vaults.py::test_a_gift_to_the_vault_changes_no_price",
        f"{ETHENA}::test_a_gift_that_blows_up_the_price_of_a_share_between_plan_and_call_refuses_the_plan",
        "tools_app/protocols/eigenlayer/test_restaked.py::test_a_gift_to_a_strategy_belongs_to_who_is_inside",
        f"{SLASHES}::test_a_dearer_token_a_gift_and_a_slash_are_told_apart",
        f"{ASKED}::test_a_gift_to_the_vault_moves_neither_what_waits_nor_what_is_claimed",
    ),
    "a market of claims at and after its maturity": (
        f"{YIELDS}::test_claims_that_fall_due_before_they_are_paid_for_are_not_bought_and_what_is_held_is_redeemed",
        f"{PENDLE}::test_from_maturity_on_nothing_is_traded_and_everything_is_due",
        "tools_app/protocols/pendle/test_market_maths.py::test_a_market_that_is_over_trades_nothing",
    ),
    "an oracle of claims that nobody prepared": (
        f"{YIELDS}::test_an_oracle_that_nobody_prepared_is_refused_by_name_and_what_is_held_is_told_as_unread",
        f"{PENDLE}::test_a_market_whose_oracle_was_not_prepared_is_refused_until_somebody_prepared_it",
    ),
    "a reward token without a price": (
        f"{PENDLE}::test_a_reward_that_nobody_prices_adds_nothing_and_is_claimed_by_itself",
        "permits_app/test_what_never_counts.py::test_a_reward_that_nobody_prices_adds_nothing_and_keeps_no_deposit_out",
    ),
    "a cooldown that a stranger's dust would restart": (
        f"{YIELDS}::test_dust_that_a_stranger_sends_restarts_no_cooldown_and_a_halt_ends_all_the_same",
        f"{ETHENA}::test_shares_that_a_stranger_sends_do_not_keep_what_cools_down_from_being_claimed",
        f"{ETHENA}::test_a_second_exit_says_that_it_would_start_the_first_ones_time_anew",
        f"{ASKED}::test_dust_that_a_stranger_asks_for_in_its_name_keeps_nothing_from_being_taken_back_or_claimed",
    ),
    "a queue that is slashed": (
        f"{YIELDS}::"
        "test_a_request_at_an_issuer_that_is_slashed_while_it_waits_brings_what_is_left_and_is_followed_to_its_end",
        f"{RESTAKED}::test_what_is_slashed_while_it_is_queued_comes_out_as_what_is_left_and_is_told",
        f"{RESTAKED}::test_what_is_slashed_to_nothing_in_the_queue_ends_the_halt",
        f"{SLASHES}::test_a_slash_in_the_block_of_the_withdrawal_is_no_outcome_that_broke_its_promise",
    ),
    "a queue that is stuck": (
        f"{YIELDS}::test_a_request_that_an_issuer_struck_is_told_as_stuck_and_a_halt_hands_it_to_its_owner",
        f"{RESTAKED}::test_a_queue_that_is_paused_is_waited_for_and_said_to_be",
        f"{ASKED_HALT}::test_what_a_vault_never_settles_is_stuck_and_told_once",
        f"{ASKED_HALT}::test_a_vault_that_is_paused_is_waited_for_under_a_halt_and_told_as_locked",
    ),
    "a withdrawal that somebody else completed": (
        f"{YIELDS}::test_a_request_that_a_stranger_claimed_for_the_golem_has_arrived",
        f"{TAKEN}::"
        "test_a_part_that_an_operator_claims_for_somebody_else_is_told_at_the_next_look_while_the_rest_is_there",
        f"{TAKEN}::test_what_was_settled_and_taken_between_two_looks_is_told_though_more_was_asked_for_since",
        f"{RESTAKED}::test_a_withdrawal_that_was_completed_elsewhere_is_told_and_holds_up_no_halt",
        f"{ASKED_HALT}::test_shares_that_the_vault_s_own_people_pushed_out_end_the_request_as_done",
    ),
    "an issuer that freezes the holder": (
        f"{YIELDS}::test_who_is_frozen_by_the_issuer_is_told_by_the_tick_refused_and_handed_to_its_owner_by_a_halt",
        f"{ETHENA}::test_an_account_that_the_issuer_restricts_is_told_as_stuck_and_goes_on_with_nothing",
        "tools_app/protocols/erc4626/test_listed_vaults.py::test_who_is_taken_off_a_vaults_list_is_refused_before_any_call_and_told_as_stuck",
    ),
    "an issuer that keeps what is there": (
        f"{YIELDS}::test_an_issuer_that_keeps_what_is_there_is_told_by_the_next_tick_not_liquid_and_entered_no_more",
        "catalogue/test_what_cannot_be_taken_out.py::test_a_lender_that_is_lent_out_whole_is_told_and_entered_no_more",
        "catalogue/test_what_depends_on_others.py::test_an_issuer_that_keeps_what_is_there_is_entered_nowhere",
    ),
    "what takes nothing more and keeps nothing": (
        f"{YIELDS}::test_what_takes_nothing_more_is_told_by_the_next_tick_entered_no_more_and_left_whole",
        f"{YIELDS}::test_savings_whose_asset_has_no_fresh_price_are_told_by_the_next_tick_and_entered_no_more",
    ),
    "a reserve that is paused": ("refused: a reserve that is paused", "between: the reserve is paused"),
    "a reserve that is frozen": ("refused: a reserve that is frozen", "between: the reserve is frozen"),
    "supply and borrow caps": (
        "refused: a supply cap that is full",
        "refused: a borrow cap that is full",
        "between: the supply cap is reached",
        "between: the borrow cap is reached",
    ),
    "more repaid than is owed": (
        "refused: more repaid than is owed",
        f"{HERE}::test_a_repayment_of_more_than_is_owed_takes_no_more_than_that",
    ),
    "the borrowed token is sold already": (
        "refused: what was borrowed is sold already",
        "between: what is to be repaid with is sold",
    ),
    "a queue longer than the permit's life": (
        "refused: a queue that is not over",
        f"{HERE}::test_a_queue_outlives_its_permit_and_is_followed_to_its_end",
    ),
    "a rebase between preview and commit": (
        "between: a rebase before wrapping",
        "between: a rebase before queueing",
        "between: validators are fined before wrapping",
    ),
    "an oracle that is stale": (
        "refused: an oracle that is stale",
        "refused: a stale oracle behind a loan",
        "between: the oracle falls silent",
    ),
    "an oracle that differs from ours": (
        "refused: an oracle that differs from the feeds",
        "refused: feeds that differ from the oracle",
        "between: the oracle rises above the feeds",
        "between: the oracle falls below the feeds",
    ),
    "300 days of interest": (
        f"{HERE}::test_a_loan_of_300_days_is_repaid_and_its_outcome_verified",
        "catalogue/test_cases.py::test_a_case_is_true_in_every_way",
        "catalogue/proofs.py::holds_after_300_days_without_anybody",
    ),
    "a node that lies about health": (
        f"{LIES}::test_no_debt_grows_and_no_cover_leaves_on_the_word_of_a_node",
        f"{LIES}::test_no_way_out_and_no_loop_passes_through_danger_on_the_word_of_a_node",
        f"{LIES}::test_what_is_not_covered_any_more_is_not_signed_on_the_word_of_a_node",
        f"{LIES}::test_a_node_of_another_state_is_found_out_by_a_second_node",
        f"{LIES}::test_a_node_whose_head_stands_still_is_found_out_by_a_second_node",
        f"{LIES}::test_a_node_of_another_state_that_stands_alone_is_believed_as_far_as_the_pool_itself_lets_it",
    ),
    "refused or bounded with the right code": (
        f"{HERE}::test_it_is_refused_with_its_code_and_nothing_moves",
        f"{HERE}::test_what_happens_between_preview_and_commit_is_refused_or_within_what_was_promised",
    ),
    "nothing is believed that was not measured": (
        "permits_app/test_measured_not_declared.py::test_a_loan_is_one_whatever_its_tool_declares",
        "permits_app/test_measured_not_declared.py::"
        "test_a_stated_ratio_does_not_stand_for_the_health_that_was_measured",
        "permits_app/test_measured_not_declared.py::"
        "test_a_claim_that_pays_somebody_else_is_refused_whether_or_not_its_plan_promises_it",
    ),
}

PRICE, TOKEN, GIFT, PAUSE, FIRST, LIES_TOLD = KINDS = (
    "a moved price",
    "a hostile token or hook",
    "a donation",
    "a pause or freeze",
    "a stranger who acts first",
    "a keeper or oracle that lies",
)
FOLDERS = "tools_app/protocols"
CONVEX, COIN = f"{FOLDERS}/curve/test_convex.py", f"{FOLDERS}/curve/test_stable_pool.py"
YEARN, SAVED = f"{FOLDERS}/yearn/test_vaults.py", f"{FOLDERS}/erc4626/test_savings.py"
STAKER, ISSUED = f"{FOLDERS}/eigenlayer/test_restaked.py", f"{FOLDERS}/liquid_restaking/test_restaked_ether.py"
RISK = f"{FOLDERS}/liquid_restaking/test_depeg_risk.py"
COMPOUND, MOONWELL = (f"{FOLDERS}/{each}/test_markets.py" for each in ("compound_v3", "moonwell"))
LEAST = 6
OF_PROTOCOL: dict[str, dict[str, tuple[str, ...]]] = {
    "Pendle": {
        PRICE: (f"{PENDLE}::test_no_push_of_one_block_moves_what_claims_count_as",),
        TOKEN: (f"{PENDLE}::test_a_reward_that_nobody_prices_adds_nothing_and_is_claimed_by_itself",),
        GIFT: (f"{PENDLE}::test_a_gift_to_the_market_moves_nothing",),
        PAUSE: (
            f"{PENDLE}::"
            "test_while_the_yield_behind_a_market_is_paused_nothing_goes_in_or_out_and_what_is_held_is_told_as_locked",
        ),
        FIRST: (
            f"{PENDLE}::test_no_order_of_others_is_filled_and_a_market_that_was_pushed_meanwhile_gives_no_worse_fill",
        ),
        LIES_TOLD: (f"{PENDLE}::test_without_an_average_nothing_is_bought_and_nothing_held_is_left_out",),
    },
    "Yearn": {
        PRICE: (
            "between: a vault of Yearn loses three tenths",
            f"{YEARN}::test_every_way_out_says_how_much_loss_is_taken",
        ),
        TOKEN: (f"{YEARN}::test_what_strategies_cannot_give_is_locked_and_leaves_in_parts",),
        GIFT: (f"{YEARN}::test_a_gift_to_the_vault_changes_no_price",),
        PAUSE: (f"{YEARN}::test_a_vault_that_is_full_or_shut_down_takes_nothing_and_says_so",),
        FIRST: (
            f"{YEARN}::test_a_stranger_who_takes_out_first_what_is_idle_refuses_the_plan_and_leaves_a_part",
            f"{YEARN}::test_shares_that_a_stranger_sends_leave_with_the_others",
        ),
        LIES_TOLD: (f"{YEARN}::test_a_loss_that_nobody_reported_is_told_before_anybody_leaves_with_it",),
    },
    "Convex": {
        PRICE: (f"{CONVEX}::test_a_trade_that_pushes_the_pool_moves_nothing_of_what_is_staked",),
        TOKEN: (f"{CONVEX}::test_a_reward_that_cannot_be_paid_keeps_nobody_in",),
        GIFT: (f"{CONVEX}::test_a_gift_to_the_booster_or_the_rewards_is_nobody_s_share",),
        PAUSE: (f"{CONVEX}::test_a_pool_that_is_shut_down_takes_nothing_and_lets_everything_out",),
        FIRST: (f"{CONVEX}::test_what_a_stranger_has_paid_out_to_the_golem_is_the_golem_s",),
        LIES_TOLD: (
            f"{CONVEX}::test_a_rate_ends_with_its_week",
            f"{COIN}::test_a_silent_feed_of_any_coin_leaves_no_sum_and_the_way_out_open",
        ),
    },
    "Ethena": {
        PRICE: (f"{ETHENA}::test_a_loss_between_plan_and_call_refuses_what_would_leave_for_less",),
        GIFT: (
            f"{ETHENA}::test_a_gift_that_blows_up_the_price_of_a_share_between_plan_and_call_refuses_the_plan",
            f"{ETHENA}::test_dust_that_a_stranger_sends_is_nothing_to_leave",
        ),
        PAUSE: (f"{ETHENA}::test_an_account_that_the_issuer_restricts_is_told_as_stuck_and_goes_on_with_nothing",),
        FIRST: (f"{ETHENA}::test_nobody_else_starts_or_claims_a_golems_cooldown",),
        LIES_TOLD: (f"{ETHENA}::test_a_cooldown_that_becomes_longer_is_told_and_what_waits_already_keeps_its_time",),
    },
    "Sky's savings": {
        PRICE: (f"{SAVED}::test_a_loss_between_plan_and_call_refuses_what_would_leave_for_less",),
        GIFT: (
            f"{SAVED}::test_a_donation_moves_no_share_of_it",
            f"{SAVED}::test_shares_that_a_stranger_sends_count_and_leave_with_the_others",
        ),
        FIRST: (f"{SAVED}::test_a_stranger_who_has_interest_added_first_changes_no_plan",),
        LIES_TOLD: (
            f"{SAVED}::test_a_rate_that_is_changed_or_taken_to_nothing_is_told_at_once_and_takes_nothing_back",
            f"{FOLDERS}/erc4626/test_savings_of_ethereum.py::"
            "test_without_the_feed_of_usds_nothing_is_saved_and_the_refusal_says_so",
        ),
    },
    "EigenLayer": {
        PRICE: (
            f"{STAKER}::test_a_slash_makes_less_of_a_deposit_and_leaves_its_number",
            f"{SLASHES}::test_a_slash_in_the_block_of_the_withdrawal_is_no_outcome_that_broke_its_promise",
        ),
        GIFT: (f"{STAKER}::test_a_gift_to_a_strategy_belongs_to_who_is_inside",),
        PAUSE: (f"{RESTAKED}::test_a_queue_that_is_paused_is_waited_for_and_said_to_be",),
        FIRST: (f"{RESTAKED}::test_a_withdrawal_that_was_completed_elsewhere_is_told_and_holds_up_no_halt",),
        LIES_TOLD: (f"{STAKER}::test_a_staker_whom_the_operator_puts_out_finds_everything_in_the_queue",),
    },
    "Liquid restaking": {
        PRICE: (f"{ISSUED}::test_a_report_that_lowers_the_rate_between_plan_and_call_refuses_the_plan",),
        GIFT: (f"{ISSUED}::test_dust_that_a_stranger_sends_is_nothing_to_leave",),
        PAUSE: (f"{ISSUED}::test_an_issuer_that_pauses_is_waited_for_told_as_locked_and_entered_by_nobody",),
        FIRST: (f"{ISSUED}::test_a_claim_that_a_stranger_made_for_the_golem_has_arrived_and_is_not_lost",),
        LIES_TOLD: (
            f"{RISK}::test_a_market_far_under_the_rate_keeps_the_golem_out_and_lets_it_leave",
            f"{ISSUED}::test_a_request_that_ether_fi_struck_is_told_as_stuck",
        ),
    },
    "Vaults by request": {
        PRICE: (f"{ASKED}::test_a_loss_between_preview_and_commit_refuses_to_ask_shares_back_as_the_preview_said",),
        TOKEN: (f"{VAULTS}::test_what_a_request_granted_leaves_a_vault_whose_previews_revert",),
        GIFT: (f"{ASKED}::test_a_gift_to_the_vault_moves_neither_what_waits_nor_what_is_claimed",),
        PAUSE: (f"{ASKED}::test_a_vault_that_is_paused_takes_and_gives_nothing_and_is_waited_for",),
        FIRST: (f"{ASKED}::test_a_request_that_somebody_else_ended_has_arrived_with_the_account",),
        LIES_TOLD: (f"{ASKED_HALT}::test_what_a_vault_never_settles_is_stuck_and_told_once",),
    },
    "Compound": {
        PRICE: (
            "between: the cover of a new loan of Compound falls",
            f"{COMPOUND}::test_a_price_that_falls_between_plan_and_call_refuses_a_debt",
        ),
        TOKEN: (f"{COMPOUND}::test_rewards_that_cannot_be_asked_for_count_for_nothing_and_stop_no_exit",),
        GIFT: (f"{COMPOUND}::test_a_gift_of_the_asset_changes_no_position",),
        PAUSE: (f"{COMPOUND}::test_a_paused_market_is_said_entered_no_more_and_waited_for",),
        FIRST: (f"{COMPOUND}::test_a_stranger_who_claims_first_pays_the_golem_its_rewards",),
        LIES_TOLD: ("refused: a stale oracle behind a loan of Compound",),
    },
    "Moonwell": {
        PRICE: (
            "between: the cover of a new loan of Moonwell falls",
            f"{MOONWELL}::test_a_refusal_that_a_market_answers_with_a_number_is_not_taken_for_success",
        ),
        TOKEN: (f"{MOONWELL}::test_rewards_that_cannot_be_asked_for_count_for_nothing_and_stop_no_exit",),
        GIFT: (f"{MOONWELL}::test_a_gift_to_a_market_changes_no_position_by_more_than_its_share",),
        PAUSE: (f"{MOONWELL}::test_a_pause_and_a_cap_keep_the_golem_out_and_let_it_leave",),
        FIRST: (f"{MOONWELL}::test_a_stranger_who_claims_first_pays_the_golem_its_rewards",),
        LIES_TOLD: ("refused: a stale oracle behind a loan of Moonwell",),
    },
}
"""Who earns a yield, and what is tried against it there, by kind."""
NOT_THERE = {
    "Ethena": {TOKEN: "it takes one token of one issuer, calls nobody, and pays no rewards in others"},
    "Sky's savings": {
        TOKEN: "it takes one token of one issuer, calls nobody, and pays no rewards in others",
        PAUSE: "nobody can stop the vault: what its owners set is the rate, and what it was told stays paid",
    },
    "EigenLayer": {TOKEN: "a strategy is deployed for one token that is known, and calls nobody else"},
    "Liquid restaking": {TOKEN: "the chain's coin goes in, and the token that comes is the issuer's own"},
}
"""Kinds that nobody can try there, with the reason."""


POOLS, V4S, STAKED = (
    f"{FOLDERS}/uniswap/{each}.py" for each in ("test_positions", "test_v4_swaps", "test_liquidity_mining")
)
V4_LIQUIDITY, REOPENED = (
    f"{FOLDERS}/uniswap/{each}.py" for each in ("test_v4_liquidity", "test_v4_pools_opened_again")
)
HOOKED = "permits_app/approvals/test_turning_hooks_of_v4_pools.py"
SIGNED = f"{FOLDERS}/uniswap_x/test_orders.py"
SLOW, SLOW_DOOR = (
    f"{FOLDERS}/uniswap_twamm/test_orders_over_time.py",
    "permits_app/test_orders_over_time_at_the_door.py",
)
BROUGHT = "contracts/test_what_strangers_bring_along.py"
JAR = f"{FOLDERS}/firepit/test_jar.py"
OF_UNISWAP: dict[str, dict[str, tuple[str, ...]]] = {
    "pools of V2, V3 and V4": {
        PRICE: (
            f"{V4S}::"
            "test_a_sandwich_between_preview_and_commit_gets_no_more_than_the_slippage_whichever_version_is_taken",
            f"{V4_LIQUIDITY}::test_a_sandwich_beyond_the_slippage_lets_nobody_in_or_out",
            f"{POOLS}::test_a_v3_position_is_worth_what_went_in_and_a_moved_pool_adds_nothing",
        ),
        TOKEN: (
            f"{HOOKED}::test_a_hook_that_turns_between_preview_and_commit_keeps_nothing_of_what_goes_in_or_comes_out",
            "permits_app/approvals/test_hooks_of_v4_pools.py::"
            "test_a_thief_is_told_by_its_quote_and_refused_by_what_arrives_when_it_begins_after_the_quote",
        ),
        GIFT: (
            f"{V4_LIQUIDITY}::test_a_stranger_who_sends_positions_hides_none_and_stops_no_read",
            f"{POOLS}::test_an_account_buried_under_positions_is_told_its_own_and_that_there_are_more",
        ),
        PAUSE: (f"{HOOKED}::test_a_halt_leaves_what_a_hook_lets_go_and_says_of_the_rest_why_until_the_hook_lets_go",),
        FIRST: (f"{REOPENED}::test_a_pool_that_was_undone_and_opened_at_another_price_reverts_what_was_planned_in_it",),
        LIES_TOLD: (
            f"{HOOKED}::test_a_hook_that_tells_a_simulation_from_a_signed_transaction_gets_no_signature",
            f"{V4S}::test_nothing_of_v4_is_found_where_its_view_does_not_answer",
        ),
    },
    "positions staked for rewards": {
        PRICE: (
            f"{STAKED}::test_a_day_pays_the_share_of_the_liquidity_in_range_and_nothing_while_the_price_is_outside",
        ),
        TOKEN: (
            f"{STAKED}::"
            "test_of_two_incentives_the_one_that_pays_more_dollars_a_second_is_taken_and_a_token_of_a_stranger_never",
        ),
        GIFT: (f"{STAKED}::test_a_deposit_that_a_stranger_gives_is_the_golem_s_and_stops_nothing",),
        FIRST: (
            f"{STAKED}::test_what_a_stranger_unstakes_after_the_end_is_claimed_all_the_same_and_comes_back",
            f"{STAKED}::test_a_claim_of_a_list_is_paid_once_to_whom_it_names_and_to_nobody_else",
        ),
        LIES_TOLD: (
            f"{STAKED}::test_an_incentive_that_no_log_tells_is_named_by_its_parts",
            f"{STAKED}::test_every_step_of_the_staker_that_pays_or_hands_to_others_is_refused_or_told",
        ),
    },
    "UniswapX": {
        PRICE: (
            f"{SIGNED}::test_an_order_far_below_the_feeds_is_refused",
            f"{SIGNED}::test_of_amounts_that_change_the_worst_counts",
        ),
        TOKEN: (f"{SIGNED}::test_every_word_of_an_order_is_read_and_none_may_be_another",),
        PAUSE: (f"{SIGNED}::test_an_approval_that_is_withdrawn_ends_no_order_and_given_again_it_is_filled",),
        FIRST: (
            f"{SIGNED}::test_an_order_that_was_filled_while_it_was_being_cancelled_is_filled",
            f"{SIGNED}::test_a_halt_uses_the_nonces_of_all_orders_up_and_fills_come_too_late",
            f"{SIGNED}::test_an_order_is_filled_on_no_other_chain",
        ),
        LIES_TOLD: (
            f"{SIGNED}::test_an_auction_whose_cosigner_lets_it_fall_at_once_brings_its_worst_and_not_less",
            f"{SIGNED}::test_a_stranger_s_signature_fills_no_order_and_no_other_golem_s_tokens",
            f"{SIGNED}::test_a_desk_that_takes_nothing_is_asked_again",
        ),
    },
    "orders over time": {
        PRICE: (f"{SLOW}::test_an_order_is_sold_in_parts_as_they_fall_due_and_never_below_its_least_price",),
        TOKEN: (
            f"{BROUGHT}::test_an_order_that_was_not_paid_in_takes_nothing_of_anothers",
            f"{BROUGHT}::test_what_buys_a_part_of_an_order_is_paid_in",
        ),
        FIRST: (
            f"{SLOW}::test_a_part_that_is_filled_between_preview_and_commit_stays_within_what_the_plan_promised",
            f"{SLOW}::test_a_stranger_closes_nothing_early_and_learns_nothing_of_it_by_a_tool",
            f"{SLOW_DOOR}::test_a_halt_cancels_an_order_over_time_that_is_filled_in_part",
        ),
        LIES_TOLD: (
            f"{SLOW_DOOR}::test_an_order_that_nobody_buys_at_its_least_price_ends_by_time_and_everything_comes_back",
        ),
    },
    "the jar of fees": {
        PRICE: (f"{JAR}::test_a_burn_that_costs_more_than_it_brings_is_refused_with_both_figures",),
        TOKEN: (
            f"{JAR}::test_an_asset_without_a_price_counts_for_nothing",
            f"{JAR}::test_a_token_that_cannot_be_read_stops_nothing_else_from_being_told",
        ),
        GIFT: (f"{JAR}::test_a_gift_to_the_jar_between_preview_and_commit_comes_along",),
        FIRST: (f"{JAR}::test_whoever_is_second_pays_nothing_and_is_refused_the_next_time",),
        LIES_TOLD: (
            f"{JAR}::test_a_jar_that_obeys_somebody_else_is_not_paid_for",
            f"{JAR}::test_bytes_that_pay_a_stranger_or_carry_coin_are_told_or_refused",
        ),
    },
}
"""What is tried against Uniswap's parts, by kind."""
NOT_AT_UNISWAP = {
    "positions staked for rewards": {PAUSE: "the staker has no owner, and nobody can stop it"},
    "UniswapX": {GIFT: "an order holds nothing: what it gives stays in the account until it is filled"},
    "orders over time": {
        GIFT: "an order counts what it took in and what was paid for it, and not what lies with the contract",
        PAUSE: "the contract has no owner, and whose an order is closes it at any time",
    },
    "the jar of fees": {PAUSE: "nothing of the golem's is in it before or after"},
}


@pytest.mark.parametrize("name", OF_UNISWAP)
def test_six_adversaries_of_each_part_of_uniswap_are_held_by_tests_that_exist(name: str) -> None:
    _hold_six(OF_UNISWAP[name], NOT_AT_UNISWAP.get(name, {}))


@pytest.mark.parametrize("name", OF_PROTOCOL)
def test_six_adversaries_of_a_protocol_that_earns_are_held_by_tests_that_exist(name: str) -> None:
    _hold_six(OF_PROTOCOL[name], NOT_THERE.get(name, {}))


def _hold_six(tests: Mapping[str, tuple[str, ...]], not_there: Mapping[str, str]) -> None:
    tried = [each for names in tests.values() for each in names]
    assert len(set(tried)) >= LEAST
    assert [each for each in tried if not _exists(each)] == []
    assert {*tests, *not_there} == set(KINDS)
    assert not tests.keys() & not_there.keys()


@pytest.mark.parametrize("phrase", HELD)
def test_each_adversary_that_was_named_is_held_by_tests_that_exist(phrase: str) -> None:
    assert [name for name in HELD[phrase] if not _exists(name)] == []


def test_every_adversary_of_the_tables_is_named() -> None:
    tables = (HELD, *OF_PROTOCOL.values())
    named = {name for table in tables for names in table.values() for name in names}
    assert {f"refused: {name}" for name in REFUSED} <= named
    # What else may happen meanwhile belongs to no phrase of its own.
    assert {f"between: {name}" for name in BETWEEN} - named == {
        "between: the collateral falls",
        "between: the cover of a new loan falls",
        "between: ten minutes of interest",
    }


def _exists(name: str) -> bool:
    kind, _, key = name.partition(": ")
    if key:
        return key in (REFUSED if kind == "refused" else BETWEEN)
    file, _, function = name.partition("::")
    defined = ast.parse((FOLDER / file).read_text()).body
    return any(isinstance(each, ast.FunctionDef) and each.name == function for each in defined)
