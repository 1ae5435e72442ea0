"""Others' money is moved under a right that the golem holds, that stands now, and that has so much left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from permits_app.hook_rejection import Reject
from permits_app.limits.received_rights import read_limit
from permits_app.models import ReceivedRight, RightUse
from permits_app.safety.hook import HookCall
from permits_app.safety.received_rules import judge_received
from tests.factories.golems import make_golem, make_owner
from tests.factories.permits import make_permit
from tests.factories.requests import make_received_right
from tools_app.toolkit.others_money import PrincipalFlow, RightStanding
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.toolkit.views import TokenMeta

pytestmark = pytest.mark.django_db
STARTS = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
TOKEN = TokenMeta(31_337, "0x" + "e5" * 20, "CASH", 0, "Cash", is_registered=True)
MOST = 100


@dataclass
class Purse:
    """A golem with a right over a hundred a day for two days, and what the right's contract says of it."""

    right: ReceivedRight
    standing: RightStanding = field(default_factory=lambda: RightStanding(stands=True, available=MOST))
    is_silent: bool = False

    def ask(self, right: Any) -> list[Any]:
        return []

    def judge(self, right: Any, outcomes: Any) -> RightStanding:
        if self.is_silent:
            raise PositionsUnreadable("no answer")
        return self.standing

    def flow(self, most: int, **changes: Any) -> PrincipalFlow:
        right = self.right
        flow = PrincipalFlow("purse", right.reference, right.principal, TOKEN, most, read_limit(right))
        return replace(flow, **changes)

    def judge_flows(
        self,
        *flows: PrincipalFlow,
        now: datetime = STARTS,
        block: datetime = STARTS,
        own_permit_id: Any = None,
        chain_id: int = 31_337,
        holder: str = "",
    ) -> Reject | None:
        call = SimpleNamespace(
            golem=self.right.golem,
            view=SimpleNamespace(address=holder or self.right.holder),
            plan=SimpleNamespace(principals=flows, chain_id=chain_id),
            chain=SimpleNamespace(
                block=SimpleNamespace(timestamp=int(block.timestamp())), call_many=lambda calls: [None for _ in calls]
            ),
            now=now,
            own_permit_id=own_permit_id,
        )
        return judge_received(cast("HookCall", call))

    def move(self, raw: int, *, status: str = "COMMITTED", at: datetime = STARTS) -> RightUse:
        permit = make_permit(golem=self.right.golem, status=status, finished_at=at)
        return RightUse.objects.create(right=self.right, permit=permit, raw=raw, claimed_at=at)


@pytest.fixture
def purse() -> Iterator[Purse]:
    right = make_received_right(golem=make_golem(owner=make_owner()))
    right.token, right.most, right.starts_at, right.ends_at = TOKEN.address, MOST, STARTS, STARTS + 2 * DAY
    right.save()
    made = Purse(right)
    nowhere = ProtocolDef(
        name="purse", label="Purse", entry="purse", deployments=lambda chain_id: None, no_lending="it lends nothing"
    )
    SHELF.add(replace(nowhere, received=made))
    try:
        yield made
    finally:
        SHELF.remove("purse")


def rule_of(refused: Reject | None) -> str | None:
    return refused.rule.removeprefix("policy_cage.") if refused is not None else None


@pytest.mark.parametrize(
    ("at", "rule"),
    [
        (STARTS - SECOND, "right_ended"),
        (STARTS, None),
        (STARTS + 2 * DAY - SECOND, None),
        (STARTS + 2 * DAY, "right_ended"),
    ],
)
def test_a_right_holds_from_its_first_second_until_the_one_before_its_end(
    purse: Purse, at: datetime, rule: str | None
) -> None:
    """By the clock or by the block, whichever is later."""
    long_ago = STARTS - DAY
    assert rule_of(purse.judge_flows(purse.flow(1), now=at, block=long_ago)) == rule
    refused = purse.judge_flows(purse.flow(1), now=long_ago, block=at)
    assert rule_of(refused) == rule
    if refused is not None:
        assert refused.data["starts_at"] == STARTS.isoformat()
        assert refused.data["ends_at"] == (STARTS + 2 * DAY).isoformat()
        assert refused.observed == at.isoformat()


def test_nothing_of_others_is_nothing_to_judge(purse: Purse) -> None:
    assert purse.judge_flows() is None
    none = SimpleNamespace(plan=None, chain=object())
    assert judge_received(cast("HookCall", none)) is None
    unread = SimpleNamespace(plan=SimpleNamespace(principals=(purse.flow(1),)), chain=None)
    assert judge_received(cast("HookCall", unread)) is None


def test_a_right_is_used_as_its_principal_gave_it_or_not_at_all(purse: Purse) -> None:
    given = read_limit(purse.right)
    assert purse.judge_flows(purse.flow(1)) is None
    other = "0x" + "77" * 20
    for wrong in (
        purse.flow(1, reference="0xother"),
        purse.flow(1, principal=other),
        purse.flow(1, protocol="nobody"),
        purse.flow(1, token=replace(TOKEN, address=other)),
        purse.flow(1, limit=replace(given, most=MOST + 1)),
        purse.flow(1, limit=replace(given, ends_at=given.ends_at + 1)),
        purse.flow(0),
        purse.flow(-1),
    ):
        refused = purse.judge_flows(wrong)
        assert rule_of(refused) == "right_not_received", wrong
    assert rule_of(purse.judge_flows(purse.flow(1), holder=other)) == "right_not_received"
    assert rule_of(purse.judge_flows(purse.flow(1), chain_id=1)) == "right_not_received"


def test_a_right_of_a_protocol_that_follows_none_is_not_used(purse: Purse) -> None:
    protocol = SHELF.get("purse")
    assert protocol is not None
    SHELF.remove("purse")
    SHELF.add(replace(protocol, received=None))
    assert rule_of(purse.judge_flows(purse.flow(1))) == "right_not_received"


def test_a_right_that_was_seen_to_be_gone_is_not_asked_of_its_contract(purse: Purse) -> None:
    purse.right.state, purse.right.state_at = "WITHDRAWN", STARTS
    purse.right.save()
    refused = purse.judge_flows(purse.flow(1))
    assert refused is not None
    assert (rule_of(refused), refused.observed) == ("right_withdrawn", "Withdrawn by its principal")
    purse.right.state_reason = "the purse was emptied"
    purse.right.save()
    refused = purse.judge_flows(purse.flow(1))
    assert refused is not None and refused.observed == "the purse was emptied"


def test_a_right_that_its_contract_does_not_honour_moves_nothing(purse: Purse) -> None:
    purse.standing = RightStanding(stands=False, available=MOST, reason="taken back")
    refused = purse.judge_flows(purse.flow(1))
    assert refused is not None and (rule_of(refused), refused.observed) == ("right_withdrawn", "taken back")
    purse.is_silent = True
    refused = purse.judge_flows(purse.flow(1))
    assert refused is not None and rule_of(refused) == "right_withdrawn" and "no answer" in refused.reason


def test_two_flows_of_one_right_are_one_sum(purse: Purse) -> None:
    assert purse.judge_flows(purse.flow(50), purse.flow(50)) is None
    refused = purse.judge_flows(purse.flow(50), purse.flow(51))
    assert refused is not None
    assert (rule_of(refused), refused.observed) == ("right_limit", "101 CASH (101 base units)")


def test_what_is_left_is_the_least_that_book_and_contract_say(purse: Purse) -> None:
    """Forty were moved today, which the contract knows, and ten are open, which it does not."""
    purse.move(40)
    purse.move(10, status="CREATED")
    purse.standing = RightStanding(stands=True, available=60)
    assert purse.judge_flows(purse.flow(50)) is None
    refused = purse.judge_flows(purse.flow(51))
    assert refused is not None
    assert (refused.remaining, refused.limit) == (
        "50 CASH (50 base units)",
        "100 CASH (100 base units) in each 86400 s",
    )
    assert refused.resets_at == (STARTS + DAY).isoformat()
    assert refused.would_pass == "at most 50 CASH (50 base units)"
    assert refused.data["remaining_raw"] == "50"
    purse.standing = RightStanding(stands=True, available=30)
    refused = purse.judge_flows(purse.flow(21))
    assert refused is not None and refused.data["remaining_raw"] == "20"
    assert purse.judge_flows(purse.flow(20)) is None
    purse.standing = RightStanding(stands=True, available=5)
    refused = purse.judge_flows(purse.flow(1))
    assert refused is not None and refused.data["remaining_raw"] == "0"
    assert refused.would_pass == f"nothing before {(STARTS + DAY).isoformat()}"


def test_a_permits_own_part_is_not_held_against_it(purse: Purse) -> None:
    own = purse.move(100, status="CREATED")
    assert rule_of(purse.judge_flows(purse.flow(100))) == "right_limit"
    assert purse.judge_flows(purse.flow(100), own_permit_id=own.permit_id) is None


def test_a_new_period_begins_anew_and_the_last_one_is_followed_by_none(purse: Purse) -> None:
    purse.move(100)
    refused = purse.judge_flows(purse.flow(1), now=STARTS + DAY - SECOND)
    assert refused is not None and refused.resets_at == (STARTS + DAY).isoformat()
    assert purse.judge_flows(purse.flow(100), now=STARTS + DAY) is None
    refused = purse.judge_flows(purse.flow(101), now=STARTS + DAY)
    assert refused is not None and refused.resets_at == ""
    purse.move(100, at=STARTS + DAY)
    refused = purse.judge_flows(purse.flow(1), now=STARTS + DAY)
    assert refused is not None and refused.would_pass == "nothing before another right"


def test_a_right_for_its_whole_life_has_no_next_period(purse: Purse) -> None:
    purse.right.period_seconds = 0
    purse.right.save()
    refused = purse.judge_flows(purse.flow(101))
    assert refused is not None and refused.resets_at == ""
    assert refused.limit == "100 CASH (100 base units) in all"
