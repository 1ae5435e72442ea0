"""Each row of the two specifications of tools, each bad input of the coding tools, each part of the one tool loop, and
the tests that prove it by name. A row without a test fails here.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

TESTS = Path(__file__).resolve().parents[1]
CODING = "tools_app/subsystems/coding"
PI = "golem_project/pi"

BUILT_IN_TOOLS = {
    "FileOps and ExecOps are handed in": (
        f"{CODING}/test_ssh.py::test_all_six_tools_work_on_the_other_machine",
        f"{CODING}/test_six_tools.py::test_absolute_paths_are_taken_as_commands_see_them",
    ),
    "LocalFileOps": (f"{CODING}/test_hostile_paths.py::test_a_path_that_leads_out_is_refused_by_every_tool",),
    "LocalExecOps": (f"{CODING}/test_hostile_commands.py::test_a_command_over_its_time_is_killed_with_all_it_started",),
    "SSHFileOps": (f"{CODING}/test_ssh.py::test_links_and_changes_are_refused_there_too",),
    "SSHExecOps": (f"{CODING}/test_ssh.py::test_a_command_over_its_time_is_killed_there_with_all_it_started",),
    "ToolBackend names its machine": (
        "golem_project/test_let_a_golem_code.py"
        "::test_an_agent_fixes_a_failing_test_and_the_owner_approves_the_one_command",
    ),
    "NewReadTool: text with limits": (
        f"{CODING}/test_six_tools.py::test_a_long_file_is_continued_with_the_offset_that_the_answer_names",
        f"{CODING}/test_editing.py::test_a_line_without_end_is_cut_and_an_enormous_file_says_so",
    ),
    "NewReadTool: images as base64": (
        f"{CODING}/test_six_tools.py::test_an_image_is_an_image_block_and_a_large_one_a_resource",
    ),
    "NewWriteTool: parent folders are made": (
        f"{CODING}/test_six_tools.py::test_write_makes_a_file_and_its_folders_and_read_shows_it",
    ),
    "NewEditTool: exact replacement": (
        f"{CODING}/test_six_tools.py::test_edit_replaces_the_one_place",
        f"{CODING}/test_editing.py::test_an_edit_that_does_not_say_one_change_is_refused",
    ),
    "NewBashTool: a command with a time-out": (
        f"{CODING}/test_six_tools.py::test_bash_answers_output_errors_and_the_exit_code",
        f"{CODING}/test_hostile_commands.py::test_a_command_over_its_time_is_killed_with_all_it_started",
    ),
    "NewGrepTool: search by regular expression": (
        f"{CODING}/test_six_tools.py::test_grep_names_path_line_and_text_and_keeps_to_names",
    ),
    "NewFindTool: search by name": (f"{CODING}/test_six_tools.py::test_find_lists_names_by_pattern_and_kind",),
    "CodingTools, ReadOnlyTools, AllTools": (f"{CODING}/test_owners.py::test_a_preset_is_exactly_its_tools",),
    "RemoteTools": (f"{CODING}/test_ssh.py::test_all_six_tools_work_on_the_other_machine",),
    "BuiltinToolOptions: defaults and bounds": (
        f"{CODING}/test_seed_defaults.py::test_the_limits_are_those_specified",
    ),
    "ContentBlock: text, image, resource, error": (
        f"{CODING}/test_six_tools.py::test_what_is_no_text_is_named_and_not_shown",
        f"{CODING}/test_hostile_commands.py::test_a_flood_of_output_is_cut_and_its_end_is_kept",
    ),
    "ToolOutput: how long it took, how it ended": (
        f"{CODING}/test_six_tools.py::test_every_answer_says_how_long_it_took_and_a_command_how_it_ended",
    ),
    "ErrorBlock: what went wrong by a code": (
        f"{CODING}/test_six_tools.py::test_find_lists_names_by_pattern_and_kind",
        f"{CODING}/test_full_folder.py::test_a_command_that_fills_its_folder_is_stopped_while_it_runs",
    ),
    "Custom configuration: limits of one call": (
        f"{CODING}/test_seed_defaults.py::test_the_limits_are_those_specified",
        f"{CODING}/test_six_tools.py::test_a_long_file_is_continued_with_the_offset_that_the_answer_names",
    ),
    "ToLegacyResult": (
        f"{CODING}/test_six_tools.py::test_the_older_result_shape_is_answered_where_it_is_asked_for",
        f"{CODING}/test_six_tools.py::test_the_older_shape_names_what_it_lost_and_calls_a_failed_command_an_error",
    ),
    "RegisterBuiltinTools, GetBuiltinTool": (
        f"{CODING}/test_owners.py::test_the_six_tools_are_the_category_and_no_profile_brings_them",
    ),
    "GenerateSchemasWithBuiltins: a built-in wins over TOML": (
        "permits_app/test_written_tools.py::test_a_built_in_of_the_same_word_wins_whatever_was_approved",
        "permits_app/test_replaced_tools.py::test_no_other_built_in_is_replaced",
        "permits_app/test_replaced_tools.py::test_a_text_answers_in_the_place_of_the_built_in_for_this_golem_alone",
    ),
    "Future work: tool loop": (
        "golem_project/heartbeat/thinking/test_coding_ticks.py"
        "::test_a_model_fixes_a_failing_test_and_goes_on_when_its_owner_approved_the_one_command",
        "golem_project/heartbeat/thinking/test_tool_loop.py"
        "::test_reads_that_stand_together_run_beside_each_other_and_answer_in_the_order_they_were_asked",
        "golem_project/chat/test_reads_beside_each_other.py"
        "::test_reads_of_one_answer_meet_each_on_a_connection_of_its_own_and_answer_in_order",
    ),
    "Future work: SSH backend": (
        f"{CODING}/test_ssh.py::test_all_six_tools_work_on_the_other_machine",
        f"{CODING}/test_ssh.py::test_a_machine_with_another_host_key_is_not_spoken_to",
    ),
    "Future work: streaming output": (
        f"{CODING}/test_six_tools.py::test_a_command_is_told_as_a_step_while_it_runs_and_its_output_comes_whole",
    ),
    "Future work: HTTP backend": (
        "permits_app/test_written_tools.py::test_a_tool_of_one_golem_asks_its_address_and_answers_marked_data",
    ),
    "Future work: tool composition": (
        "permits_app/test_written_tools.py::test_a_composition_reads_what_its_golem_may_read_each_from_the_one_before",
    ),
}

TIERED_TOOLS = {
    "Core tools are always included": (
        f"{PI}/test_visible_tools.py::test_a_key_as_owners_make_it_is_shown_a_core_and_no_more",
    ),
    "Categories have a name, a description and a count": (
        f"{PI}/test_visible_tools.py::test_an_agent_that_only_browses_and_loads_reaches_a_tool_it_was_not_shown",
        "archetypes_app/test_toolset.py::test_completed_categories_are_as_decided",
    ),
    "Core tool list: another product's; here each profile has its own": (
        f"{PI}/test_token_budget.py::test_every_profile_s_core_costs_at_most_1200_tokens_in_every_dialect",
    ),
    "Categories are loaded on demand": (
        f"{PI}/test_visible_tools.py::test_an_agent_that_only_browses_and_loads_reaches_a_tool_it_was_not_shown",
    ),
    "The execution path is unchanged": (
        f"{PI}/test_visible_tools.py::test_what_is_outside_the_toolset_does_not_exist_whatever_is_loaded",
    ),
    "ToolRegistry: each tool in one place": (
        f"{PI}/test_manifest.py::test_every_tool_is_reachable_through_exactly_one_route",
    ),
    "What was loaded is seen by the next turn": (
        "golem_project/heartbeat/thinking/test_loading.py::test_a_model_browses_loads_and_is_shown_what_it_loaded",
        f"{PI}/test_visible_tools.py::test_manifest_etag_and_schemas_follow_what_is_loaded",
    ),
    "Loading does not last beyond one chat": (
        "golem_project/chat/test_conversation.py"
        "::test_it_browses_and_loads_as_an_agent_and_the_next_message_begins_with_the_core",
    ),
    "browse_tools lists categories with counts": (
        f"{PI}/test_token_budget.py::test_browsing_450_tools_costs_at_most_1500_tokens",
    ),
    "load_tools answers what was added": (
        f"{PI}/test_visible_tools.py::test_loading_everything_loads_as_many_as_fit_and_names_the_rest",
    ),
    "Schemas are not in load_tools' answer but in what follows": (
        f"{PI}/test_visible_tools.py::test_manifest_etag_and_schemas_follow_what_is_loaded",
        "golem_project/heartbeat/thinking/test_loading.py::test_a_model_browses_loads_and_is_shown_what_it_loaded",
    ),
    "Tool names are unique": (f"{PI}/test_manifest.py::test_the_manifest_lists_every_tool_of_the_toolset_once",),
    "Core tools cannot be unloaded": (f"{PI}/test_visible_tools.py::test_the_core_cannot_give_way",),
    "Loading twice is idempotent": (f"{PI}/test_visible_tools.py::test_loading_twice_is_loading_once",),
    "browse_tools and load_tools are core": (
        f"{PI}/test_visible_tools.py::test_an_agent_that_only_browses_and_loads_reaches_a_tool_it_was_not_shown",
    ),
    "All tools are dispatched, loaded or not": (
        f"{PI}/test_visible_tools.py::test_a_read_that_is_not_loaded_is_carried_out_and_its_answer_brings_its_schema",
        f"{PI}/test_visible_tools.py"
        "::test_a_write_that_is_not_loaded_is_judged_as_any_and_a_mistake_in_it_is_taught_by_its_schema",
        "golem_project/heartbeat/thinking/test_loading.py"
        "::test_a_tool_that_is_not_shown_is_carried_out_and_shown_next_and_one_outside_the_toolset_does_not_exist",
    ),
    "A category that is larger than the ceiling says what is left": (
        f"{PI}/test_visible_tools.py::test_what_a_category_has_too_many_of_is_loaded_by_need_and_the_rest_is_called_by_name",
    ),
}

TABLE_OF_WAYS_OUT = (
    f"{CODING}/test_hostile_table.py::test_no_known_way_leads_out_of_a_command",
    f"{CODING}/test_hostile_table.py::test_no_known_way_leads_out_where_the_server_is_not_root",
)
BAD_INPUT = {
    "links": (*TABLE_OF_WAYS_OUT, f"{CODING}/test_hostile_paths.py::test_no_link_is_followed_at_any_place_of_a_path"),
    "paths that go up": (
        *TABLE_OF_WAYS_OUT,
        f"{CODING}/test_hostile_paths.py::test_a_path_that_leads_out_is_refused_by_every_tool",
    ),
    "/proc": (
        *TABLE_OF_WAYS_OUT,
        f"{CODING}/test_hostile_paths.py"
        "::test_a_command_sees_neither_the_server_s_files_nor_its_processes_nor_its_secrets",
    ),
    "mounts": (*TABLE_OF_WAYS_OUT, f"{CODING}/test_hostile_paths.py::test_a_mount_inside_the_folder_is_refused"),
    "hard links": (
        *TABLE_OF_WAYS_OUT,
        f"{CODING}/test_hostile_table.py::test_what_has_a_second_name_outside_is_not_changed_there",
    ),
    "device files": (
        *TABLE_OF_WAYS_OUT,
        f"{CODING}/test_hostile_table.py::test_device_files_in_the_folder_are_no_files_and_no_devices",
    ),
    "pipes and sockets": (
        f"{CODING}/test_hostile_paths.py::test_pipes_sockets_and_folders_are_no_files_and_nobody_waits_for_them",
    ),
    "programs that set their user": (
        *TABLE_OF_WAYS_OUT,
        f"{CODING}/test_hostile_table.py::test_a_program_of_root_s_that_sets_its_user_sets_nothing",
    ),
    "inherited descriptors": (
        *TABLE_OF_WAYS_OUT,
        f"{CODING}/test_hostile_table.py::test_a_command_inherits_no_descriptor_of_the_server",
    ),
    "tracing, abstract sockets, signals, the network": TABLE_OF_WAYS_OUT,
    "a machine that cannot fence": (
        f"{CODING}/test_hostile_table.py::test_a_machine_without_user_namespaces_refuses_with_the_reason",
        f"{CODING}/test_hostile_commands.py::test_where_fences_cannot_be_made_no_command_runs_and_files_still_work",
    ),
    "binary files": (f"{CODING}/test_six_tools.py::test_what_is_no_text_is_named_and_not_shown",),
    "enormous files": (
        f"{CODING}/test_editing.py::test_a_line_without_end_is_cut_and_an_enormous_file_says_so",
        f"{CODING}/test_editing.py::test_what_is_too_long_is_neither_edited_nor_written",
    ),
    "mixed line ends, no final newline": (
        f"{CODING}/test_editing.py::test_line_ends_and_what_is_around_stay_as_they_are",
    ),
    "concurrent edits": (
        f"{CODING}/test_editing.py::test_a_file_that_changed_between_preview_and_commit_is_not_edited",
        f"{CODING}/test_editing.py::test_of_two_edits_that_were_previewed_together_the_second_is_refused",
    ),
    "ambiguous edits": (f"{CODING}/test_editing.py::test_an_edit_that_does_not_say_one_change_is_refused",),
    "regex bombs": (f"{CODING}/test_folder_search.py::test_a_pattern_that_bombs_other_engines_ends_at_once",),
    "millions of files": (
        f"{CODING}/test_folder_search.py::test_a_walk_through_more_names_than_a_call_looks_at_ends_and_says_so",
        f"{CODING}/test_full_folder.py::test_a_command_that_fills_its_folder_is_stopped_while_it_runs",
    ),
    "a command that forks": (f"{CODING}/test_hostile_commands.py::test_a_fork_bomb_is_held_and_ends",),
    "a command that ignores signals": (
        f"{CODING}/test_hostile_commands.py::test_a_command_over_its_time_is_killed_with_all_it_started",
    ),
    "a command that floods": (f"{CODING}/test_hostile_commands.py::test_a_flood_of_output_is_cut_and_its_end_is_kept",),
    "a command that waits for input": (
        f"{CODING}/test_hostile_commands.py::test_a_command_that_waits_for_input_gets_none",
    ),
    "a server that changes its key": (f"{CODING}/test_ssh.py::test_a_machine_with_another_host_key_is_not_spoken_to",),
    "a server that closes mid-transfer": (
        f"{CODING}/test_ssh.py::test_a_machine_that_closes_in_the_middle_of_a_transfer_is_told",
        f"{CODING}/test_ssh.py::test_a_write_that_the_machine_breaks_off_leaves_no_file",
    ),
    "a server whose line is lost": (
        f"{CODING}/test_ssh.py::test_a_command_whose_line_is_lost_is_ended_there_by_its_own_time",
    ),
    "a server without SFTP": (f"{CODING}/test_ssh.py::test_a_machine_without_sftp_runs_commands_and_has_no_files",),
}

THINKING = "golem_project/heartbeat/thinking"
TOOL_LOOP = {
    "messages": (f"{THINKING}/test_tool_loop.py::test_what_was_said_before_is_told_before_the_new_words",),
    "tool calls": (f"{THINKING}/test_tool_loop.py::test_every_step_is_told_in_its_order_with_what_was_spent_so_far",),
    "parallel calls where safe": (
        f"{THINKING}/test_tool_loop.py"
        "::test_reads_that_stand_together_run_beside_each_other_and_answer_in_the_order_they_were_asked",
        f"{THINKING}/test_tool_loop.py::test_without_leave_for_it_no_call_runs_beside_another",
    ),
    "retries": (f"{THINKING}/test_tool_loop.py::test_only_what_may_pass_is_asked_again_and_only_so_often",),
    "limits on rounds": (
        f"{THINKING}/test_model_planner.py::test_a_model_that_never_ends_is_stopped_by_rounds_and_by_calls",
    ),
    "limits on tokens": (f"{THINKING}/test_tool_loop.py::test_so_many_tokens_and_no_more_are_read_and_written",),
    "limits on money": (
        f"{THINKING}/test_tool_loop.py::test_what_it_may_cost_bounds_the_worst_case_of_the_next_request",
    ),
    "limits on time": (
        f"{THINKING}/test_model_planner.py::test_without_time_nothing_is_asked",
        f"{THINKING}/test_model_planner.py::test_a_model_that_takes_too_long_is_given_up_within_the_time_of_the_tick",
    ),
    "cancellation": (
        f"{THINKING}/test_tool_loop.py::test_cancelled_between_two_calls_the_second_is_not_run",
        "golem_project/chat/test_terminal.py::test_ctrl_c_ends_the_answer_and_not_the_conversation",
    ),
    "streaming events": (
        f"{THINKING}/test_tool_loop.py::test_every_step_is_told_in_its_order_with_what_was_spent_so_far",
        "golem_project/chat/test_conversation.py"
        "::test_events_and_audit_tell_that_it_was_talked_to_and_not_what_was_said",
    ),
    "browse and load in a conversation": (
        "golem_project/chat/test_conversation.py"
        "::test_it_browses_and_loads_as_an_agent_and_the_next_message_begins_with_the_core",
    ),
    "it goes on when its owner approved": (
        f"{THINKING}/test_coding_ticks.py"
        "::test_a_model_fixes_a_failing_test_and_goes_on_when_its_owner_approved_the_one_command",
    ),
}
TABLES = {
    "built-in tools": BUILT_IN_TOOLS,
    "tiered tools": TIERED_TOOLS,
    "bad input": BAD_INPUT,
    "the tool loop": TOOL_LOOP,
}
ROWS = [pytest.param(named, id=f"{table}: {row}") for table, rows in TABLES.items() for row, named in rows.items()]


@lru_cache
def list_tests(path: str) -> frozenset[str]:
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("named", ROWS)
def test_every_row_has_a_test_that_exists(named: tuple[str, ...]) -> None:
    assert named
    for each in named:
        path, name = each.split("::")
        assert name in list_tests(path), each


def list_callers(name: str) -> set[str]:
    """Files of the product in which the function of this name is called."""
    found = set()
    for path in (ROOT / "golem_project").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                found.add(str(path.relative_to(ROOT / "golem_project")))
    return found


def test_heartbeats_delegates_and_conversations_share_one_loop() -> None:
    assert list_callers("hold_conversation") == {"heartbeat/thinking/thinking_session.py"}
    assert list_callers("think") == {
        "heartbeat/thinking/model_planner.py",
        "heartbeat/thinking/delegate_thinker.py",
        "chat/converse.py",
    }
