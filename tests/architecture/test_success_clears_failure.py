"""Whatever counts failures forgets them with a success: each counter of the product stands here with its test.

A column, a field or an attribute whose name says that it counts or dates failures is found by reading; a new one fails
here until it has a test in which a success clears it, or a reason why it ends with its row.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import pytest

from tests.architecture.sources import ROOT, dotted, list_sources, list_tracked, parse

_COUNTS: Final = re.compile(
    r"(^|_)(failures?|failing|crashes|attempts|tries|missed|trouble|doubted|strikes|guesses|misses|retries|not_before)"
    r"(_count|_since|_at|_until)?$"
)


@dataclass(frozen=True, slots=True)
class Cleared:
    """A counter, and the test in which a success clears it."""

    test: str


@dataclass(frozen=True, slots=True)
class EndsWithItsRow:
    """It counts the tries of one thing that a success ends, and the test of that."""

    test: str


@dataclass(frozen=True, slots=True)
class CountsNoFailures:
    """The name is the same, the thing is not: what it is."""

    what: str


_Entry = Cleared | EndsWithItsRow | CountsNoFailures

COUNTERS: Final[dict[str, _Entry]] = {
    "golem_project/a2a/models.py:PushNotification.attempts": EndsWithItsRow(
        "test_a_receiver_that_failed_and_takes_it_then_is_sent_it_no_more"
    ),
    "golem_project/alerts/models.py:AlertChannel.code_tries": Cleared(
        "test_a_code_ends_with_its_hour_its_tries_and_the_next_code"
    ),
    "golem_project/alerts/models.py:AlertChannel.failures": Cleared(
        "test_a_channel_that_fails_is_tried_later_and_told_everything_then"
    ),
    "golem_project/cockpit/page_contents.py:Decision.failure": CountsNoFailures(
        "a sentence on why a model could not think"
    ),
    "golem_project/embedded/stack.py:KeptProcess.crashes": Cleared(
        "test_a_crash_is_forgotten_with_every_stretch_of_health"
    ),
    "golem_project/embedded/stack.py:self.crashes": Cleared("test_a_crash_is_forgotten_with_every_stretch_of_health"),
    "golem_project/heartbeat/recorded_interventions.py:RecordedIntervention.doubted": CountsNoFailures(
        "the doubt that held a decision back, as its record tells it"
    ),
    "golem_project/a2a/uptime.py:_Ticks.missed": CountsNoFailures("ticks that a pause left out"),
    "permits_app/tools/golem_state.py:_TickSums.missed": CountsNoFailures("ticks that a pause left out"),
    "golem_project/heartbeat/tick_claims.py:TickEnd.missed": CountsNoFailures("ticks that a pause left out"),
    "golem_project/heartbeat/schedule.py:NextTick.missed": CountsNoFailures("ticks that a pause left out"),
    "golem_project/heartbeat/thinking/loop_values.py:ConversationLimits.retries": CountsNoFailures(
        "how often one request may be asked again; the next request begins anew"
    ),
    "golem_project/stream/models.py:OutgoingTurn.failures": Cleared(
        "test_failures_in_a_row_are_followed_by_ever_longer_pauses_and_a_success_clears_them"
    ),
    "golem_project/stream/models.py:OutgoingTurn.not_before": Cleared(
        "test_failures_in_a_row_are_followed_by_ever_longer_pauses_and_a_success_clears_them"
    ),
    "golem_project/stream/models.py:WebhookDelivery.attempts": EndsWithItsRow(
        "test_one_success_clears_what_failed_before_so_the_next_24_hours_begin_anew"
    ),
    "golem_project/stream/models.py:WebhookEndpoint.failing_since": Cleared(
        "test_one_success_clears_what_failed_before_so_the_next_24_hours_begin_anew"
    ),
    "permits_app/actions/hold_restored.py:HeldGolem.trouble": CountsNoFailures(
        "why its accounts could not be compared"
    ),
    "permits_app/execution/commit_turns.py:self._missed": CountsNoFailures("that a permit found no place, asked once"),
    "permits_app/models/reconciler_state.py:ChainMark.trouble": Cleared(
        "test_a_node_that_serves_another_chain_from_now_on_stops_previews_commits_and_sending"
    ),
    "permits_app/models/reconciler_state.py:ChainMark.trouble_since": Cleared(
        "test_a_node_that_serves_another_chain_from_now_on_stops_previews_commits_and_sending"
    ),
    "permits_app/models/chain_follower_lease.py:ChainWatch.failing_since": Cleared(
        "test_a_node_that_fails_is_written_down_with_its_first_failure_and_cleared_by_an_answer"
    ),
    "permits_app/models/pending_request.py:PendingRequest.missed_at": Cleared(
        "test_what_is_gone_is_given_up_only_when_it_stays_away"
    ),
    "permits_app/models/permit.py:ActionPermit.doubted_at": Cleared(
        "test_a_receipt_that_the_balances_contradict_ends_nothing_and_is_read_again"
    ),
    "permits_app/limits/pending_requests.py:RequestVerdict.missed_at": Cleared(
        "test_what_is_gone_is_given_up_only_when_it_stays_away"
    ),
    "permits_app/policy_cage/preflight_types.py:Observed.failure": CountsNoFailures("why one batch would be refused"),
    "permits_app/safety/loop_and_breaker_rules.py:Breaker.failures": Cleared(
        "test_one_try_decides_and_what_was_under_way_does_not"
    ),
    "tools_app/chain/rpc_pool.py:NodeHealth.failures": Cleared(
        "test_an_answer_clears_a_nodes_failures_so_the_next_one_is_the_first_in_a_row"
    ),
    "tools_app/chain/rpc_pool.py:PoolRules.failures": CountsNoFailures("how many make a node rest"),
    "tools_app/models/history.py:FollowedChain.failures": Cleared(
        "test_a_node_that_is_away_is_noted_until_it_is_back_and_what_is_kept_stays"
    ),
    "tools_app/models/subscription.py:StreamSubscription.failures": Cleared(
        "test_a_node_that_is_away_is_told_once_waited_for_and_loses_nothing"
    ),
    "tools_app/simulation/revm_screening/state_server.py:self.failure": CountsNoFailures("why one run ended"),
}
"""Found by name."""

ELSEWHERE: Final[dict[str, str]] = {
    "a golem's wish that was refused (golem_project/heartbeat/refused_wish_backoff.py:WishBackoff.count)": (
        "test_what_was_carried_out_begins_anew_so_a_later_refusal_of_it_is_the_first_in_a_row"
    ),
    "a position whose way out reverted under a halt (permits_app/execution/position_unwinding.py:_count_attempts)": (
        "test_what_reverted_three_times_in_a_row_is_left_to_the_owner_and_a_success_forgets_what_failed_before"
    ),
    "wrong codes (django_otp: TOTPDevice.throttling_failure_count)": (
        "test_a_right_code_during_the_pause_is_not_called_wrong_and_is_told_until_when"
    ),
    "wrong answers of a passkey (django_otp: Passkey.throttling_failure_count)": (
        "test_wrong_answers_never_keep_a_passkey_out_for_longer_than_two_seconds"
    ),
    "wrong passwords (django-axes: AccessAttempt.failures_since_start)": (
        "test_a_right_password_forgets_the_wrong_ones_before_it"
    ),
    "a silence of beat or a queue (golem_project/alerts/silent_queues.py)": (
        "test_a_silence_that_ended_and_comes_again_is_told_again"
    ),
    "a test line to a channel (golem_project/alerts/channels.py:try_channel)": (
        "test_a_test_line_that_arrives_ends_the_pause_after_failures_and_what_waits_follows_at_once"
    ),
    "a node that rests (tools_app/chain/rpc_pool.py:NodeHealth.resting_until_ms)": (
        "test_a_node_that_rests_and_answers_where_no_other_does_rests_no_longer"
    ),
}
"""Counted in a fold, in JSON or by a library, where no name of ours says so."""


def _list_counters() -> Iterator[str]:
    for path in list_sources():
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                yield from (f"{path}:{node.name}.{name}" for each in node.body for name in _fields(each))
            elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from (
                    f"{path}:self.{target.attr}"
                    for target in targets
                    if isinstance(target, ast.Attribute) and dotted(target.value) == "self"
                )


def _fields(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (target.id for target in targets if isinstance(target, ast.Name))


@cache
def _all_tests() -> str:
    return "\n".join(
        (ROOT / path).read_text() for path in list_tracked() if path.startswith("tests/") and path.endswith(".py")
    )


def test_every_counter_of_failures_is_listed_with_what_clears_it() -> None:
    found = {name for name in _list_counters() if _COUNTS.search(name.rsplit(".", 1)[1])}
    assert sorted(found - COUNTERS.keys()) == [], "say here which test shows that a success clears it"
    assert sorted(COUNTERS.keys() - found) == [], "it is gone"


@pytest.mark.parametrize(
    "test",
    [
        *(entry.test for entry in COUNTERS.values() if not isinstance(entry, CountsNoFailures)),
        *ELSEWHERE.values(),
    ],
)
def test_what_is_said_to_show_it_is_a_test(test: str) -> None:
    assert f"def {test}(" in _all_tests()
