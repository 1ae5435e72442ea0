"""What wallets, delegations, allowances, payments and sign-ins must stand, by phrase, and the tests that hold it.

A test that is gone is missed, and so is a part that fewer than six adversaries were tried against.
"""

from __future__ import annotations

import pytest

from tests.catalogue.test_named_adversaries import LEAST, _exists

RUNWAY = "permits_app/test_runway.py"
OTHERWISE = "permits_app/test_grants_that_say_otherwise.py"
KEYS = "permits_app/tools/test_delegated_keys.py"
HANDED_ON = "tools_app/protocols/metamask/test_redelegations.py"
ALLOWED = "permits_app/tools/test_allowance_keys.py"
AT_CONTRACTS = "contracts/test_strangers_at_simulated_contracts.py"
CAGED = "permits_app/tools/test_session_keys.py"
HELD_BY_CAGE = "contracts/test_session.py"
PAYING = "tools_app/protocols/x402/test_payments.py"
RECEIPTS = "tools_app/protocols/x402/test_caps_and_receipts.py"
PACKAGE = "tools_app/protocols/x402/test_official_package.py"
HOSTS = "tools_app/protocols/x402/test_hosts.py"
CHARGING = "golem_project/a2a/test_x402_endpoint.py"
AGAIN = "golem_project/a2a/test_who_is_told_again.py"
ELSEWHERE = "golem_project/a2a/test_a_sale_on_another_chain.py"
SIGN_IN = "golem_project/oauth/test_sign_in.py"
LIFE = "permits_app/tools/test_wallet_life.py"
STOPPED = "permits_app/tools/test_migrations_stopped_half_way.py"
CODED = "permits_app/tools/test_code_wallets.py"
SISTERS, BRIDGED = "permits_app/tools/test_funding_from_golems.py", "permits_app/tools/test_funding.py"
CHAINS = "permits_app/tools/test_wallet_chains.py"
PAID_OUT = "permits_app/approvals/test_withdrawals.py"
KEPT_ELSEWHERE = "permits_app/execution/signers/test_keys_elsewhere.py"
GRANTING = "browser/test_grant_page.py"
MARKET, SOLD = "memory_app/test_publication_tools.py", "golem_project/a2a/test_sold_publications.py"
RIGHTS_FAIL = "tools_app/protocols/metamask/test_contagion.py"
ALLOWANCES_FAIL = "tools_app/protocols/safe_allowance/test_contagion.py"
PAYMENTS_FAIL = "tools_app/protocols/x402/test_contagion.py"
SALES_FAIL = "golem_project/a2a/test_sales_while_something_fails.py"
SESSIONS_FAIL = "permits_app/tools/test_session_keys_that_fail.py"
AT_ONCE = "concurrency/test_wallets_at_once.py"
BUDGET, BUDGET_PAGE = "permits_app/test_owner_budget.py", "permits_app/test_owner_budget_page.py"

BAD_INPUT: dict[str, tuple[str, ...]] = {
    "a context that grants more or less": (
        f"{OTHERWISE}::test_a_grant_of_less_or_more_than_anybody_asked_for_is_drawn_for_what_it_says_and_what_there_is",
        f"{RUNWAY}::test_what_was_granted_is_read_from_the_grant_and_not_from_what_was_asked_for",
    ),
    "a context of another token": (f"{OTHERWISE}::test_a_grant_of_another_token_is_a_right_over_that_token_alone",),
    "a context of another chain": (
        f"{OTHERWISE}::test_a_grant_that_was_signed_for_another_chain_does_not_stand_on_this_one",
    ),
    "a delegate anybody may use": (
        f"{RUNWAY}::test_a_grant_that_is_unsafe_in_another_way_is_refused_with_its_reason",
        f"{RUNWAY}::test_a_grant_without_an_amount_an_end_or_a_nonce_is_refused",
    ),
    "a revocation between preview and commit": (
        f"{RUNWAY}::test_a_runway_that_its_owner_takes_back_between_preview_and_commit_gives_nothing",
    ),
    "a payment request that changes amount, payee or asset on retry": (
        f"{PAYING}::test_a_retry_is_paid_once_whatever_it_asks_for_then",
        f"{PAYING}::test_what_is_asked_for_is_held_to_what_the_agent_said",
        f"{PACKAGE}::test_the_package_refuses_what_was_signed_for_something_else",
        f"{CHARGING}::test_a_price_that_was_raised_is_asked_for_anew",
    ),
    "a payment that replays": (
        f"{PACKAGE}::test_the_payees_own_package_takes_what_was_signed_once",
        f"{CHARGING}::test_a_payment_buys_nothing_else",
        f"{ELSEWHERE}::test_what_was_signed_for_one_chain_is_worth_nothing_on_another",
    ),
    "a payment that settles late": (
        f"{PAYING}::test_a_payment_that_is_settled_too_late_is_not_and_what_it_held_is_free",
        f"{RECEIPTS}::test_a_payee_that_refuses_and_settles_later_is_paid_once_and_within_its_time",
    ),
    "a facilitator that lies": (
        f"{PACKAGE}::test_a_facilitator_that_lies_is_held_to_the_chain",
        f"{PAYING}::test_a_facilitator_that_changes_a_word_takes_nothing",
    ),
    "a paid read refused after payment": (
        f"{CHARGING}::test_a_question_that_is_refused_costs_nothing_and_its_payment_stays_good",
        f"{RECEIPTS}::"
        "test_a_read_that_is_refused_after_it_was_paid_is_not_paid_again_and_the_chain_tells_who_has_the_money",
    ),
    "a device code phished": (
        f"{SIGN_IN}::test_a_code_in_a_link_is_not_taken",
        f"{SIGN_IN}::test_an_agent_is_signed_in_by_the_code_that_its_owner_types_and_acts_for_that_golem",
        f"{SIGN_IN}::test_the_device_code_of_one_agent_is_of_no_use_under_another_name",
        f"{SIGN_IN}::test_a_code_holds_for_minutes_and_one_agent_collects_it_once",
    ),
    "a migration stopped half-way": (
        f"{STOPPED}::test_a_migration_whose_worker_dies_half_way_is_finished_by_the_next_one_and_moves_nothing_twice",
        f"{STOPPED}::test_a_migration_that_a_halt_stopped_half_way_leaves_the_rest_and_is_asked_for_again",
        f"{LIFE}::test_a_migration_that_moved_a_part_goes_on_with_what_is_still_there",
    ),
    "a stolen session key": (
        f"{KEYS}::test_a_stolen_key_takes_what_its_caveats_allow_and_no_more",
        f"{KEYS}::test_a_stolen_key_takes_nothing_once_its_giver_took_the_delegation_back",
        f"{HANDED_ON}::test_the_key_takes_what_was_handed_on_and_no_more",
        f"{ALLOWED}::test_a_stolen_key_takes_what_its_allowance_allows_and_no_more",
        f"{CAGED}::test_a_session_key_is_signed_by_owners_counted_on_chain_and_ended_by_owners",
        f"{HELD_BY_CAGE}::test_a_session_key_moves_no_more_than_its_budget",
    ),
    "several golems at once at one owner's budget": (
        f"{BUDGET}::test_two_golems_at_once_never_both_take_what_is_left",
        f"{BUDGET_PAGE}::test_what_tightens_counts_at_once_and_what_loosens_takes_a_second_factor",
        f"{BUDGET_PAGE}::test_everybody_sees_their_own_budget_and_golems_alone",
    ),
}
"""The bad input that wallets were asked to stand, by its words."""
OF_A_PART: dict[str, tuple[str, ...]] = {
    "delegations": (
        f"{RUNWAY}::test_a_grant_with_a_signature_of_somebody_else_does_not_stand",
        f"{RUNWAY}::test_a_grant_that_is_over_or_longer_than_any_is_refused",
        f"{RUNWAY}::test_a_grant_that_is_unsafe_in_another_way_is_refused_with_its_reason",
        f"{OTHERWISE}::test_a_grant_of_another_token_is_a_right_over_that_token_alone",
        f"{KEYS}::test_a_stolen_key_takes_what_its_caveats_allow_and_no_more",
        f"{RUNWAY}::test_a_runway_that_its_owner_takes_back_between_preview_and_commit_gives_nothing",
        f"{HANDED_ON}::test_every_word_of_what_is_handed_on_is_read_and_none_may_be_another",
        f"{HANDED_ON}::test_golem_and_key_together_take_no_more_of_a_day_than_its_owner_gave",
    ),
    "allowances": (
        f"{ALLOWED}::test_a_stolen_key_takes_what_its_allowance_allows_and_no_more",
        f"{ALLOWED}::test_an_allowance_is_refused_for_who_has_more_rights_or_is_held_to_permits",
        f"{ALLOWED}::test_a_golem_goes_on_behind_a_module_that_its_owners_signed_for_and_stops_behind_another_way_in",
        f"{ALLOWED}::test_owners_change_an_allowance_and_another_wallet_s_is_told_too",
        f"{ALLOWED}::test_an_audit_of_who_may_take_lists_an_allowance_and_what_takes_it_back",
        f"{AT_CONTRACTS}::test_a_stranger_changes_nothing_of_what_a_safe_holds",
        f"{AT_CONTRACTS}::test_each_word_is_heard_of_whom_the_table_names",
    ),
    "paying by x402": (
        f"{PAYING}::test_a_payee_that_no_owner_listed_is_not_paid",
        f"{PAYING}::test_every_word_of_a_payment_is_read_and_none_may_be_another",
        f"{PAYING}::test_of_two_permits_for_one_payment_the_second_is_not_signed_and_counts_for_nothing",
        f"{PAYING}::test_a_halt_takes_every_payment_back_and_facilitators_come_too_late",
        f"{HOSTS}::test_who_hands_in_an_answer_of_their_own_is_not_believed",
        f"{HOSTS}::test_another_payee_waits_for_the_owners_and_until_then_the_first_one_is_paid",
    ),
    "charging by x402": (
        f"{CHARGING}::test_of_many_with_the_same_payment_at_once_one_is_sold",
        f"{CHARGING}::test_what_was_signed_for_something_else_is_not_taken",
        f"{CHARGING}::test_what_somebody_else_carried_out_before_it_was_handed_in_buys_nothing",
        f"{CHARGING}::test_a_nonce_that_its_payer_used_to_pay_somebody_else_has_paid_nothing",
        f"{CHARGING}::test_a_payment_that_is_overtaken_while_its_answer_is_worked_out_buys_nothing",
        f"{AGAIN}::test_who_reads_a_payment_from_the_chain_has_no_answer_and_who_paid_has_it_again",
    ),
    "signing agents in": (
        f"{SIGN_IN}::test_a_refresh_token_that_comes_again_later_is_in_two_hands_and_ends_the_key",
        f"{SIGN_IN}::test_who_asks_too_often_is_told_to_slow_down",
        f"{SIGN_IN}::test_an_address_keeps_so_many_waiting_and_no_more_and_another_is_not_held_up",
        f"{SIGN_IN}::test_who_approved_and_lost_the_right_meanwhile_gave_nothing",
        f"{SIGN_IN}::test_a_code_in_a_link_is_not_taken",
        f"{SIGN_IN}::test_two_that_collect_or_renew_at_once_end_with_one_key_and_tokens_that_work",
    ),
    "an account that runs code": (
        f"{CODED}::test_somebody_else_s_code_is_an_alarm_stops_it_and_is_not_fought_over",
        f"{CODED}::test_a_key_gives_its_word_for_known_code_alone_and_the_relayer_carries_no_other",
        f"{CODED}::test_other_code_than_owners_were_shown_is_not_taken_up",
        f"{CODED}::test_what_a_reorganisation_took_out_is_sent_again",
        f"{CODED}::test_nothing_is_signed_while_the_golem_has_something_under_way",
        f"{CODED}::test_the_code_is_dropped_once_the_golem_acts_with_another_account",
    ),
    "a wallet's life": (
        f"{SISTERS}::test_a_golem_of_other_people_gives_nothing",
        f"{SISTERS}::test_what_stopped_being_the_owners_between_asking_and_agreeing_is_not_sent",
        f"{SISTERS}::test_the_givers_own_limits_and_recipients_hold_it",
        f"{LIFE}::test_a_migration_waits_for_owners_and_a_stranger_is_paid_nothing",
        f"{LIFE}::test_a_provider_that_makes_no_wallet_here_is_refused_by_name_with_what_to_do",
        f"{LIFE}::test_real_money_is_an_owners_to_send_and_the_refusal_says_where",
        f"{LIFE}::test_asking_twice_for_a_key_elsewhere_makes_one",
        f"{STOPPED}::test_a_migration_whose_worker_dies_half_way_is_finished_by_the_next_one_and_moves_nothing_twice",
        f"{STOPPED}::test_a_migration_that_a_halt_stopped_half_way_leaves_the_rest_and_is_asked_for_again",
    ),
}
"""What is tried against each part."""
PARTS: dict[str, tuple[str, ...]] = {
    "an owner grants, watches and takes back on a page": (
        f"{GRANTING}::test_an_owner_grants_watches_and_takes_back_in_their_own_wallet",
    ),
    "what was granted is read from the grant, and drawn under permits": (
        f"{RUNWAY}::test_what_was_granted_is_read_from_the_grant_and_not_from_what_was_asked_for",
        f"{RUNWAY}::test_a_runway_is_drawn_day_by_day_and_no_more_than_was_granted",
    ),
    "narrower, handed on": (f"{HANDED_ON}::test_a_part_of_a_runway_is_handed_on_taken_by_its_key_once_and_told",),
    "rights are dropped, and their health is told": (
        f"{RUNWAY}::test_a_runway_that_is_given_up_is_used_no_more_and_what_is_open_on_the_chain_is_named",
        f"{RUNWAY}::test_health_is_told_from_the_contracts_and_a_golem_looks_for_itself_alone",
    ),
    "what its giver takes back is told": (
        f"{RIGHTS_FAIL}::test_a_right_that_was_taken_back_is_told_before_the_tick_and_drawn_no_more",
    ),
    "what fails is told within a tick, entered no more and left in order": (
        f"{RIGHTS_FAIL}::test_a_right_whose_token_stands_still_is_told_within_a_tick_gives_nothing_and_gives_again",
        f"{RIGHTS_FAIL}::"
        "test_a_halt_takes_what_was_handed_on_back_before_it_gives_the_right_up_also_of_a_token_that_stands_still",
        f"{ALLOWANCES_FAIL}::test_a_module_that_was_taken_off_the_safe_is_told_and_its_keys_take_nothing",
        f"{PAYMENTS_FAIL}::test_of_a_token_that_stands_still_nothing_is_signed_and_what_was_signed_is_taken_back",
        f"{SALES_FAIL}::test_while_who_carries_payments_out_is_away_nothing_is_taken_and_what_was_signed_stays_good",
        f"{SESSIONS_FAIL}::test_a_cage_that_was_taken_off_its_safe_is_told_and_its_keys_do_nothing",
    ),
    "several owners and clients at once": (
        f"{AT_ONCE}::test_accounts_of_two_owners_take_up_their_code_once_though_four_sweeps_look_at_once",
        f"{AT_ONCE}::test_two_golems_that_ask_the_same_sister_at_once_are_sent_what_her_limit_allows_and_no_more",
        f"{AT_ONCE}::test_what_two_owners_agreed_to_at_once_is_sent_once",
        f"{AT_ONCE}::test_one_payment_that_four_clients_retry_at_once_is_signed_once",
        f"{SIGN_IN}::test_two_that_collect_or_renew_at_once_end_with_one_key_and_tokens_that_work",
    ),
    "a delegation without amount, end or nonce is refused": (
        f"{RUNWAY}::test_a_grant_without_an_amount_an_end_or_a_nonce_is_refused",
    ),
    "session keys: provisioned, listed, ended, counted": (
        f"{CAGED}::test_a_session_key_is_signed_by_owners_counted_on_chain_and_ended_by_owners",
        f"{ALLOWED}::test_an_allowance_is_asked_for_signed_told_counted_and_ended",
        f"{KEYS}::test_a_delegation_to_the_golems_key_is_told_with_what_it_may_and_how_often_it_was_used",
    ),
    "a wallet by its provider": (
        f"{LIFE}::test_a_golem_without_a_wallet_gets_one_when_its_owner_agreed_and_not_before",
        f"{LIFE}::test_a_safe_that_owners_made_is_taken_up_with_their_approval",
        f"{LIFE}::test_a_key_elsewhere_is_made_when_it_is_asked_for_and_acts_once_its_owners_agreed",
        f"{CODED}::test_an_account_takes_up_the_code_that_its_owners_agreed_to_and_acts_then_and_not_before",
    ),
    "funded by faucet, transfer and bridge": (
        f"{LIFE}::test_the_faucet_gives_a_bounded_gift_on_the_local_chain",
        f"{SISTERS}::test_a_golem_is_sent_what_owners_agreed_to_by_another_under_that_one_s_own_permit",
        f"{BRIDGED}::test_what_the_golem_has_on_another_chain_comes_by_the_bridges_own_call",
    ),
    "account types and chains": (
        f"{CHAINS}::test_an_address_is_told_by_the_code_that_is_there",
        f"{CHAINS}::test_a_chain_that_answers_is_healthy_and_one_that_does_not_is_down",
        f"{CODED}::test_owners_read_that_it_runs_what_they_agreed_to_and_nobody_is_alarmed",
    ),
    "everything moves to another wallet in one bounded plan": (
        f"{LIFE}::test_everything_moves_to_a_registered_wallet_tokens_first_and_the_coin_last",
    ),
    "an owner withdraws to a registered address, without an agent": (
        f"{PAID_OUT}::test_what_owners_approved_leaves_once_and_is_told_as_a_withdrawal",
        f"{PAID_OUT}::test_the_owner_who_asks_does_not_approve_and_nothing_leaves_without_a_second_factor",
        f"{PAID_OUT}::test_money_goes_to_no_address_that_was_not_registered",
    ),
    "keys in KMS behind the signer": (
        f"{KEPT_ELSEWHERE}::test_a_golem_swaps_with_its_key_in_kms_and_nothing_is_stored_that_it_did_not_sign",
    ),
    "an agent pays within caps and gets a receipt": (
        f"{RECEIPTS}::test_an_agent_asks_is_asked_for_money_pays_and_is_answered",
        f"{RECEIPTS}::test_payments_that_nobody_settled_yet_are_of_the_days_budget_until_they_end",
        f"{RECEIPTS}::test_a_settled_payment_stands_in_the_months_statement_and_in_its_file",
        f"{PAYING}::test_a_halt_takes_every_payment_back_and_facilitators_come_too_late",
        f"{PAYING}::test_of_a_payment_of_up_to_an_amount_its_facilitator_takes_what_it_says_and_nobody_else",
        f"{HOSTS}::test_caps_of_a_host_hold_for_one_payment_and_for_the_day_also_at_once",
    ),
    "a read has a price, over A2A too": (
        f"{CHARGING}::test_the_standards_own_client_pays_and_is_answered_and_the_golems_account_has_the_money",
        f"{CHARGING}::test_over_a2a_a_task_waits_to_be_paid_for_and_is_answered",
    ),
    "short-lived tokens of agents": (
        f"{SIGN_IN}::test_an_agent_is_signed_in_by_the_code_that_its_owner_types_and_acts_for_that_golem",
        f"{SIGN_IN}::test_the_library_renews_by_itself_and_the_token_before_stays_good_for_its_minutes",
    ),
    "publish, price, catalogue, paid reads": (
        f"{MARKET}::test_what_episodes_bear_out_is_published_with_a_confidence_that_follows_from_them",
        f"{SOLD}::test_a_publication_is_found_without_its_words_and_bought_for_its_own_price",
    ),
    "one budget over several golems": (
        f"{BUDGET}::test_what_one_golem_spends_is_missing_for_the_other_of_the_same_owner",
    ),
}
"""What wallets were asked to do, part by part."""


@pytest.mark.parametrize("part", PARTS)
def test_each_part_that_was_asked_for_is_held_by_tests_that_exist(part: str) -> None:
    assert [name for name in PARTS[part] if not _exists(name)] == []


@pytest.mark.parametrize("phrase", BAD_INPUT)
def test_each_bad_input_that_was_named_is_held_by_tests_that_exist(phrase: str) -> None:
    assert [name for name in BAD_INPUT[phrase] if not _exists(name)] == []


@pytest.mark.parametrize("part", OF_A_PART)
def test_six_adversaries_of_each_part_are_held_by_tests_that_exist(part: str) -> None:
    assert [name for name in OF_A_PART[part] if not _exists(name)] == []
    assert len(set(OF_A_PART[part])) >= LEAST
