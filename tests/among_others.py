"""Rows of other people in the database, before a test begins: what a query must leave out.

Most tests begin with an empty database, where a query that lost one of its conditions finds the same rows. Those of the
files listed here begin with what `rows_of_others.py` makes of a stranger, so that each of them is also a test of whose
rows its queries take, and in which state.
"""

from __future__ import annotations

from typing import Final

import pytest

PLACES: Final = (
    "tests/archetypes_app/",
    "tests/golem_project/a2a/",
    "tests/golem_project/alerts/",
    "tests/golem_project/chat/",
    "tests/golem_project/cockpit/",
    "tests/golem_project/heartbeat/",
    "tests/golem_project/people/test_stopped_accounts.py",
    "tests/golem_project/stream/",
    "tests/golem_project/test_edges.py",
    "tests/golem_project/test_edges_of_doors.py",
    "tests/memory_app/",
    "tests/permits_app/approvals/test_at_once.py",
    "tests/permits_app/approvals/test_operations.py",
    "tests/permits_app/approvals/test_outcomes_of_approvals.py",
    "tests/permits_app/approvals/test_people_come_and_go.py",
    "tests/permits_app/execution/",
    "tests/permits_app/policy_cage/",
    "tests/permits_app/test_edges.py",
    "tests/permits_app/test_edges_of_deciding.py",
    "tests/permits_app/test_second_halt.py",
    "tests/permits_app/test_signer_addresses.py",
    "tests/permits_app/test_two_switches.py",
    "tests/tools_app/history/test_kept_for_owners.py",
)
"""Folders and files."""
ALONE: Final = frozenset(
    {
        "tests/archetypes_app/test_commands.py::test_all_archetypes_are_listed_with_their_resolved_tool_counts",
        "tests/archetypes_app/test_spend_on_model.py::test_another_day_and_another_golem_have_caps_of_their_own",
        "tests/archetypes_app/test_sync_builtins.py::test_what_is_stored_is_the_graph_that_is_shipped",
        "tests/archetypes_app/test_update_vitality.py::test_a_golem_that_never_had_a_balance_is_not_measured_and_does_not_die",
        "tests/archetypes_app/test_update_vitality.py::test_impossible_figures_change_nothing",
        "tests/golem_project/a2a/test_admin.py",
        "tests/golem_project/alerts/test_push.py",
        "tests/golem_project/heartbeat/strategies/test_ticks_of_strategies.py::test_a_strategy_that_is_not_complete_is_refused_at_its_field",
        "tests/golem_project/heartbeat/test_duties.py",
        "tests/golem_project/heartbeat/test_owner_of_a_heartbeat.py::test_a_rule_that_is_not_complete_is_refused_at_its_field",
        "tests/golem_project/heartbeat/test_owner_of_a_heartbeat.py::test_another_owner_sees_nothing_of_it",
        "tests/golem_project/heartbeat/test_tick_claims.py",
        "tests/golem_project/stream/test_webhook_admin.py",
        "tests/memory_app/test_hygiene.py::test_over_its_cap_the_least_retained_are_archived_first_and_pinned_ones_stay",
        "tests/memory_app/test_insights.py::test_malformed_changes_are_refused_before_anything_is_written",
        "tests/memory_app/test_insights.py::test_the_store_of_insights_answers_by_words_and_by_meaning",
        "tests/memory_app/test_publication_tools.py",
        "tests/memory_app/test_month_of_nights.py::test_over_a_month_of_nights_a_golem_dreams_after_each_surprise_and_of_the_same_again_after_a_week",
        "tests/memory_app/test_prompt_injection_score.py::test_the_hourly_scan_holds_back_what_got_its_vector_later",
        "tests/memory_app/test_prompt_injection_score.py::test_what_an_agent_concluded_is_held_back_once_it_has_its_vector",
        "tests/memory_app/test_store_episode.py::test_a_backlog_is_embedded_few_at_a_time_so_that_questions_come_between",
        "tests/memory_app/test_store_episode.py::test_without_the_model_the_episode_is_kept_and_embedded_later",
        "tests/permits_app/test_signer_addresses.py::test_the_command_writes_csv_and_json_of_one_golem_or_all",
    }
)
"""Files in them, and functions: they count what is there, as a sweep does, or choose the only one there is."""


@pytest.hookimpl(trylast=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """A quick test that asks for the database begins so, before any other fixture moves a clock."""
    file, _, name = item.nodeid.partition("::")
    names = getattr(item, "fixturenames", [])
    if (
        (item.get_closest_marker("django_db") is not None or "db" in names)
        and item.get_closest_marker("slow") is None
        and file.startswith(PLACES)
        and not ALONE & {file, f"{file}::{name.partition('[')[0]}"}
    ):
        names.insert(0, "among_others")


@pytest.fixture
def among_others(db: None) -> None:
    """A stranger's rows."""
    # Not before: the product would be loaded when the run begins.
    from tests.rows_of_others import insert_rows_of_others

    insert_rows_of_others()
