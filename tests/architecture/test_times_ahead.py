"""Whatever waits for a stored time, or lives until one, bears one that lies in a future that did not come.

A clock that went forward and back leaves such times behind. Each column that says until when, or when next, stands here
with what bounds it.
"""

from __future__ import annotations

import re
from typing import Final

import pytest
from django.apps import apps

from golem_project.runtime.future_times import ENDS, HAPPENED, LEASES, NEXT
from tests.architecture.sources import ROOT, list_tracked

_SAYS_WHEN: Final = re.compile(r"(until|expires|ends|next_|lease|not_before|due_at|deadline|executes|throttl)")
_OURS: Final = (
    "archetypes_app",
    "permits_app",
    "memory_app",
    "tools_app",
    "stream",
    "a2a",
    "alerts",
    "chat",
    "otp_totp",
)
MENDED: Final = {f"{each.model}.{each.name}" for each in (*HAPPENED, *NEXT, *LEASES, *ENDS)}

BOUNDED: Final[dict[str, str]] = {
    "permits_app.ActionPermit.expires_at": "test_a_permit_made_before_a_clock_went_back_is_over_at_once",
    "permits_app.PasskeyChallenge.expires_at": "test_a_passkeys_challenge_of_the_future_is_over",
    "a2a.Challenge.expires_at": (
        "test_a_strangers_challenge_and_visit_of_the_future_are_over_and_keep_no_other_stranger_waiting"
    ),
    "a2a.Visit.expires_at": (
        "test_a_strangers_challenge_and_visit_of_the_future_are_over_and_keep_no_other_stranger_waiting"
    ),
    "archetypes_app.AgentSignIn.ends_at": "test_a_code_and_a_token_of_a_future_that_did_not_come_are_over",
    "archetypes_app.AccessToken.ends_at": "test_a_code_and_a_token_of_a_future_that_did_not_come_are_over",
    "archetypes_app.Heartbeat.next_tick_at": "test_a_clock_that_went_back_stops_no_golem",
    "archetypes_app.Heartbeat.lease_expires_at": "test_a_clock_that_went_back_stops_no_golem",
    "stream.OutgoingTurn.until": "test_what_a_clock_that_was_set_back_left_in_the_future_holds_nothing_up",
    "stream.OutgoingTurn.not_before": "test_what_a_clock_that_was_set_back_left_in_the_future_holds_nothing_up",
    "tools_app.ActionWish.expires_at": "test_a_wish_of_a_future_that_did_not_come_is_over",
}
"""By who reads it; the test of it."""

LATER_DOES_NO_HARM: Final[dict[str, str]] = {
    "tools_app.LogGap.until_time": "the chain's time, of a block that was seen",
    "permits_app.Announcement.executes_at": "an announced action comes later than it should; its owner sees when",
    "permits_app.Announcement.expires_at": "it ends with its permit",
    "permits_app.ChangeRequest.executes_at": "what owners approved comes later than it should; they see when",
    "permits_app.ChangeRequest.deadline_at": "owners have longer to decide; the page says until when",
    "permits_app.Death.due_at": "a golem ends later than it should, and may be stopped until then",
    "permits_app.StandingPlan.ends_at": "its owners agreed to the day, see it, and end it when they like",
    "permits_app.CapabilityGrant.expires_at": "used at once by the process that made it, and once",
    "permits_app.IdempotencyRecord.expires_at": "an answer is kept for longer",
    "permits_app.PendingRequest.ends_at": "the chain's time, as the order's protocol tells it",
    "permits_app.SignedPromise.ends_at": "the chain's time, as it was signed",
    "permits_app.SoldAnswer.ends_at": "the chain's time, as its payer signed it; its token takes it no longer",
    "permits_app.ReceivedRight.ends_at": "the chain's time, as its principal gave it; its contract takes it no longer",
    "archetypes_app.ApiKey.expires_at": "its owner chose the day, and sees it",
    "tools_app.StreamSubscription.expires_at": "what is asked for again and again is renewed; a golem has only so many",
}
"""What is late is on the side of too little, or seen by its owner."""


def test_every_time_that_something_waits_for_is_bounded() -> None:
    found = {
        f"{model._meta.app_label}.{model.__name__}.{field.name}"
        for model in apps.get_models()
        if model._meta.app_label in _OURS
        for field in model._meta.fields
        if field.get_internal_type() == "DateTimeField" and _SAYS_WHEN.search(field.name)
    }
    listed = MENDED | BOUNDED.keys() | LATER_DOES_NO_HARM.keys()
    assert sorted(found - listed) == [], "say what bounds it"
    assert sorted((BOUNDED.keys() | LATER_DOES_NO_HARM.keys()) - found) == [], "it is gone"
    assert not (BOUNDED.keys() & MENDED), "said twice"


@pytest.mark.parametrize("test", sorted(set(BOUNDED.values())))
def test_what_is_said_to_bound_it_has_its_test(test: str) -> None:
    texts = ((ROOT / path).read_text() for path in list_tracked() if path.startswith("tests/") and path.endswith(".py"))
    assert any(f"def {test}(" in text for text in texts)
