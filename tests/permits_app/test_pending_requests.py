"""What finishes later is followed from the receipt that opened it to its end, whoever dies, repeats or interferes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from archetypes_app.models import AlertBatch, Golem, Heartbeat, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.heartbeat.duties.request_alerts import tell_requests
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.actions.query import query_state
from permits_app.limits.pending_requests import LONGEST, MISSED_FOR, RequestLook, judge_look, plan_next_look
from permits_app.models import ActionPermit, PendingRequest
from permits_app.models.pending_request import RequestState
from permits_app.models.permit import PermitStatus
from tests.concurrency.doors import is_change, kill_at_each_door
from tests.concurrency.test_sixty_four_at_once import at_once
from tests.evm.world import CHAIN_ID, World
from tests.factories.golems import make_golem, make_owner
from tests.factories.permits import make_permit
from tests.golem_project.heartbeat.pulses import turn_on
from tests.live_golem import LiveGolem
from tests.tools_app.factories import report_of
from tests.tools_app.protocols.lido.staking import ETH, act, at, report
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core import clock
from tools_app.core.models import OutboxEvent
from tools_app.toolkit.positions import Act, Leg, Position, PositionRef, Stuck, Wait
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.views import NATIVE
from tools_app.toolkit.withdrawal_request_claims import Taking

S = RequestState
NOW = datetime(2026, 1, 1, tzinfo=UTC)
REF = PositionRef("queue", "request", CHAIN_ID, "7")
UNTIL = int((NOW + timedelta(days=3)).timestamp())


def row_of(state: str = "REQUESTED", **fields: Any) -> PendingRequest:
    ends = {"chain_id": CHAIN_ID, "expects_chain_id": CHAIN_ID}
    return PendingRequest(ref=str(REF), state=state, created_at=NOW, **{**ends, **fields})


def there(free_at: int | None = UNTIL) -> Position:
    return Position(REF, "a place", (Leg(NATIVE, 5, free_at=free_at),))


def claim_in(status: str) -> ActionPermit:
    return ActionPermit(status=status)


@pytest.mark.parametrize(
    ("look", "state"),
    [
        (RequestLook(NOW, there(), Wait(UNTIL, "a queue")), S.REQUESTED),
        (RequestLook(NOW, there(), Wait(None, "nobody knows")), S.REQUESTED),
        (RequestLook(NOW, there()), S.REQUESTED),
        (RequestLook(NOW, there(None)), S.READY),
        (RequestLook(NOW, there(), Act("claim", {})), S.READY),
        (RequestLook(NOW, there(), Stuck("blocked")), S.STUCK),
        (RequestLook(NOW + timedelta(days=120), there(), Wait(UNTIL, "")), S.REQUESTED),
        (RequestLook(NOW + timedelta(days=120, microseconds=1), there(), Wait(UNTIL, "")), S.STUCK),
        (RequestLook(NOW + timedelta(days=121), there(), Act("claim", {})), S.READY),
        (RequestLook(NOW, there(), Act("claim", {}), claim_in("COMMITTING")), S.CLAIMING),
        (RequestLook(NOW, there(), Act("claim", {}), claim_in("UNKNOWN")), S.CLAIMING),
        (RequestLook(NOW, there(), Act("claim", {}), claim_in("REVERTED")), S.READY),
        (RequestLook(NOW, there(), Act("claim", {}), claim_in("COMMITTED")), S.READY),
        (RequestLook(NOW, None, None, claim_in("COMMITTED")), S.DONE),
        (RequestLook(NOW, None, None, claim_in("COMMITTING")), S.CLAIMING),
    ],
)
@pytest.mark.parametrize("before", ["REQUESTED", "READY", "CLAIMING", "STUCK"])
def test_what_was_seen_alone_decides_the_state(look: RequestLook, state: RequestState, before: str) -> None:
    verdict = judge_look(row_of(before), look)
    assert verdict.state == state
    # The same look again changes nothing more.
    assert judge_look(row_of(str(verdict.state)), look).state == state


def test_what_is_gone_is_given_up_only_when_it_stays_away() -> None:
    first = judge_look(row_of("READY"), RequestLook(NOW, None))
    assert first.state == S.READY and first.missed_at == NOW
    row = row_of("READY", missed_at=NOW)
    assert judge_look(row, RequestLook(NOW + timedelta(seconds=5), None)).state == S.READY
    assert judge_look(row, RequestLook(NOW + MISSED_FOR, None)).state == S.LOST
    back = judge_look(row, RequestLook(NOW + MISSED_FOR, there(None)))
    assert back.state == S.READY and back.missed_at is None


def test_what_ended_by_itself_has_arrived_only_where_the_account_got_it() -> None:
    ended = Position(REF, "a place", (), is_settled=True)
    confirmed = KNOWN_NETWORKS[CHAIN_ID].confirmations
    row = row_of("READY", account="0xA", arrived_block=100)

    def judge(*receivers: str, at: datetime = NOW, block: int = 100 + confirmed, claim: str = "") -> RequestState:
        takings = tuple(Taking(each, Leg(NATIVE, 5), 100) for each in receivers)
        by = claim_in(claim) if claim else None
        verdict = judge_look(row, RequestLook(at, ended, claim=by, takings=takings, block=block))
        return S(verdict.state)

    assert judge("0xA") == judge("0xA", "0xA") == S.DONE
    assert judge("0xB") == judge("0xA", "0xB") == judge("0xB", "0xA", claim="COMMITTED") == S.LOST
    assert judge("0xA", block=100 + confirmed - 1) == judge("0xB", block=100 + confirmed - 1) == S.READY
    # Nobody saw where it went: it is missed first, and then given up; a claim of the golem's own took it.
    assert judge() == S.READY
    row.missed_at = NOW
    assert judge(at=NOW + MISSED_FOR) == S.LOST
    assert judge(at=NOW + MISSED_FOR, claim="COMMITTED") == S.DONE


def test_looks_are_soon_where_something_is_to_be_done_and_seldom_where_not() -> None:
    far = judge_look(row_of(), RequestLook(NOW, there(), Wait(UNTIL, "")))
    assert far.expected_at == datetime.fromtimestamp(UNTIL, tz=UTC)
    assert plan_next_look(row_of(), far, NOW) == NOW + timedelta(hours=1)
    over = replace(far, expected_at=NOW - timedelta(days=1))
    assert plan_next_look(row_of(), over, NOW) <= NOW + timedelta(minutes=5)
    ready = judge_look(row_of(), RequestLook(NOW, there(None)))
    assert plan_next_look(row_of(), ready, NOW) <= NOW + timedelta(minutes=1)


# ---- on the chain, with a queue ------------------------------------------------------------------------------------


def events(kind: str) -> int:
    return OutboxEvent.objects.filter(type=f"request:{kind}").count()


def look(after: timedelta = timedelta(0)) -> dict[str, int]:
    """A follower, at a time at which everything is due."""
    PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
    return check_pending_requests(now=clock.now() + after)


def ask(chain: World, account: Any, golem: Golem, *, ether: int = ETH) -> PendingRequest:
    """A place in the queue of an account of the test's own, as the end of a permit would note it."""
    asked = act(chain, account, "lido_unstake", amounts=[str(ether)])
    (request_id,) = report_of("lido_unstake", asked)["request_ids"]
    return PendingRequest.objects.create(
        golem=golem,
        permit=make_permit(golem=golem),
        chain_id=CHAIN_ID,
        expects_chain_id=CHAIN_ID,
        account=account.address,
        protocol="lido",
        ref=f"lido/request/{CHAIN_ID}/{request_id}",
        block_number=asked.receipts[-1].block_number,
        next_check_at=clock.now(),
    )


def finalise(chain: World, row: PendingRequest) -> None:
    report(chain, last_id=int(row.ref.rpartition("/")[2]), ether=100 * ETH)


def claim_by_hand(chain: World, account: Any, row: PendingRequest) -> None:
    act(chain, account, "lido_claim_withdrawal", request_ids=[row.ref.rpartition("/")[2]])


def note_claim(row: PendingRequest, status: str) -> ActionPermit:
    """A permit of the golem that speaks of taking it."""
    permit = make_permit(golem=row.golem)
    change = {"protocol": "lido", "kind": "request", "token": NATIVE, "expected": "-1", "bound": "-1", "ref": row.ref}
    ActionPermit.objects.filter(pk=permit.pk).update(
        status=status, committing_at=clock.now(), bounds={**permit.bounds, "changes": [change]}
    )
    return permit


@pytest.fixture
def staker(db: None, local_chain: World) -> Any:
    account = local_chain.new_account(100 * ETH)
    act(local_chain, account, "lido_stake", amount=str(50 * ETH), output_token="stETH")
    return account


@pytest.mark.protocols("lido")
def test_a_request_waits_becomes_ready_is_claimed_and_done(local_chain: World, staker: Any) -> None:
    row = ask(local_chain, staker, make_golem(owner=make_owner()))
    assert look() == {"looked": 1, "changed": 0}
    row.refresh_from_db()
    assert row.state == "REQUESTED" and row.expected_at is not None and row.expected_at > clock.now()
    assert row.amounts == [{"token": NATIVE, "raw": str(int(row.amounts[0]["raw"]))}]
    finalise(local_chain, row)
    assert look()["changed"] == 1 and events("ready") == 1
    assert look()["changed"] == 0 and events("ready") == 1
    permit = note_claim(row, "COMMITTING")
    assert look()["changed"] == 1
    row.refresh_from_db()
    assert row.state == "CLAIMING" and row.claim_id == permit.pk
    claim_by_hand(local_chain, staker, row)
    ActionPermit.objects.filter(pk=permit.pk).update(status=PermitStatus.COMMITTED)
    assert look()["changed"] == 1 and events("done") == 1
    row.refresh_from_db()
    assert row.state == "DONE"
    assert look() == {"looked": 0, "changed": 0}


@pytest.mark.protocols("lido")
@pytest.mark.parametrize("field", ["ref", "golem", "chain_id", "time", "committing"])
def test_a_permit_that_speaks_of_something_else_or_of_another_golem_claims_nothing(
    local_chain: World, staker: Any, field: str
) -> None:
    golem = make_golem(owner=make_owner())
    row = ask(local_chain, staker, golem)
    finalise(local_chain, row)
    permit = note_claim(row, "COMMITTING")
    changes: dict[str, dict[str, Any]] = {
        "ref": {"bounds": {**permit.bounds, "changes": []}},
        "golem": {"golem": make_golem(name="another", owner=golem.owner)},
        "chain_id": {"chain_id": 1},
        "time": {"created_at": row.permit.created_at - timedelta(seconds=1)},
        "committing": {"committing_at": None},
    }
    ActionPermit.objects.filter(pk=permit.pk).update(**changes[field])
    look()
    row.refresh_from_db()
    assert (row.state, row.claim_id) == ("READY", None)


@pytest.mark.protocols("lido")
def test_a_claim_that_fails_leaves_it_ready(local_chain: World, staker: Any) -> None:
    row = ask(local_chain, staker, make_golem(owner=make_owner()))
    finalise(local_chain, row)
    note_claim(row, "UNKNOWN")
    look()
    ActionPermit.objects.exclude(pk=row.permit_id).update(status="REVERTED")
    look()
    row.refresh_from_db()
    assert row.state == "READY" and "reverted" in row.last_error


@pytest.mark.protocols("lido")
def test_what_somebody_else_took_is_lost_and_the_owner_is_told(local_chain: World, staker: Any) -> None:
    golem = make_golem(owner=make_owner())
    row = ask(local_chain, staker, golem)
    thief = local_chain.new_account(ETH)
    number = int(row.ref.rpartition("/")[2])
    local_chain.transact(
        staker, at("queue"), "transferFrom(address,address,uint256)", staker.address, thief.address, number
    )
    look()
    row.refresh_from_db()
    assert row.state == "REQUESTED" and row.missed_at is not None, "one look is not enough"
    look(after=2 * MISSED_FOR)
    row.refresh_from_db()
    assert row.state == "LOST" and events("lost") == 1
    assert tell_requests(now=clock.now()) == 1 and tell_requests(now=clock.now()) == 0
    (batch,) = AlertBatch.objects.filter(golem=golem, source="pending-requests")
    assert batch.alerts[0]["observed"] == row.ref


@pytest.mark.protocols("lido")
def test_a_request_that_never_ends_is_stuck_told_once_and_still_looked_at(local_chain: World, staker: Any) -> None:
    golem = make_golem(owner=make_owner())
    row = ask(local_chain, staker, golem)
    PendingRequest.objects.update(created_at=clock.now() - LONGEST - timedelta(days=1))
    look()
    look()
    row.refresh_from_db()
    assert row.state == "STUCK" and events("stuck") == 1
    tell_requests(now=clock.now())
    tell_requests(now=clock.now() + timedelta(minutes=10))
    assert AlertBatch.objects.filter(golem=golem, source="pending-requests").count() == 1
    finalise(local_chain, row)
    look()
    row.refresh_from_db()
    assert row.state == "READY" and events("ready") == 1


@pytest.mark.protocols("lido")
def test_a_request_that_is_ready_wakes_the_heartbeat(local_chain: World, staker: Any) -> None:
    golem = make_golem(owner=make_owner())
    turn_on(golem, rule={})
    row = ask(local_chain, staker, golem)
    finalise(local_chain, row)
    look()
    later = clock.now() + timedelta(hours=5)
    Heartbeat.objects.filter(golem=golem).update(next_tick_at=later)
    assert tell_requests(now=clock.now()) == 1
    assert Heartbeat.objects.get(golem=golem).next_tick_at < later
    Heartbeat.objects.filter(golem=golem).update(next_tick_at=later)
    tell_requests(now=clock.now())
    assert Heartbeat.objects.get(golem=golem).next_tick_at == later, "it wakes once"


@pytest.mark.protocols("lido")
def test_what_cannot_be_read_keeps_its_state_and_is_looked_at_again(
    local_chain: World, staker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ask(local_chain, staker, make_golem(owner=make_owner()))
    PendingRequest.objects.update(block_number=10**9)
    asked_at = row.updated_at
    look()
    row.refresh_from_db()
    assert row.state == "REQUESTED" and "behind" in row.last_error and row.updated_at > asked_at
    PendingRequest.objects.update(protocol="nobody_knows")
    look()
    row.refresh_from_db()
    assert row.state == "REQUESTED" and "no longer knows" in row.last_error
    assert row.next_check_at > clock.now()
    assert CHAIN_ID in KNOWN_NETWORKS


@pytest.mark.protocols("lido")
def test_many_requests_of_one_golem_make_no_other_golem_wait(local_chain: World, staker: Any) -> None:
    owner = make_owner()
    crowd, lone = make_golem(owner=owner), make_golem(owner=owner, name="Lone")
    first = ask(local_chain, staker, crowd)
    PendingRequest.objects.bulk_create(
        PendingRequest(
            golem=crowd,
            permit=first.permit,
            chain_id=CHAIN_ID,
            expects_chain_id=CHAIN_ID,
            account=staker.address,
            protocol="lido",
            ref=f"lido/request/{CHAIN_ID}/{10_000 + number}",
            block_number=1,
            next_check_at=clock.now(),
        )
        for number in range(30)
    )
    other = local_chain.new_account(10 * ETH)
    act(local_chain, other, "lido_stake", amount=str(5 * ETH), output_token="stETH")
    row = ask(local_chain, other, lone)
    PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
    check_pending_requests(now=clock.now(), limit=2)
    row.refresh_from_db()
    assert row.checked_at is not None


@pytest.mark.protocols("lido")
def test_two_followers_at_once_change_and_tell_each_thing_once(transactional_db: None, local_chain: World) -> None:
    account = local_chain.new_account(100 * ETH)
    act(local_chain, account, "lido_stake", amount=str(50 * ETH), output_token="stETH")
    golem = make_golem(owner=make_owner())
    rows = [ask(local_chain, account, golem) for _ in range(3)]
    finalise(local_chain, rows[-1])
    PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
    now = clock.now()
    answers = at_once(lambda _: check_pending_requests(now=now), count=4)
    assert sum(answer["changed"] for answer in answers) == 3
    assert events("ready") == 3


@pytest.mark.protocols("lido")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_a_follower_that_dies_before_any_of_its_doors_loses_and_doubles_nothing(
    transactional_db: None, local_chain: World
) -> None:
    account = local_chain.new_account(100 * ETH)
    act(local_chain, account, "lido_stake", amount=str(50 * ETH), output_token="stETH")
    golem = make_golem(owner=make_owner())

    def start(number: int) -> PendingRequest:
        row = ask(local_chain, account, golem)
        finalise(local_chain, row)
        return row

    met: list[str | None] = []
    for row, door in kill_at_each_door(start, lambda row: check_pending_requests(now=clock.now()), is_door=is_change):
        where = f"door {len(met)}: {door}"
        check_pending_requests(now=clock.now() + timedelta(seconds=61))
        row.refresh_from_db()
        assert row.state == "READY", where
        told = OutboxEvent.objects.filter(type="request:ready", payload__request_id=str(row.pk))
        assert told.count() == 1, where
        met.append(door)
        PendingRequest.objects.filter(pk=row.pk).update(state="DONE")
    assert "COMMIT" in met


@pytest.mark.protocols("lido")
def test_a_permit_that_asks_is_followed_and_shown_until_its_claim_is_done(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    for tool in REGISTRY:
        if tool.venue == "lido":
            ToolOverride.objects.create(golem=golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)

    def do(action: str, **params: Any) -> dict[str, Any]:
        clean = dict.fromkeys(("token_in", "token_out", "amount"))
        permit = live_golem.preview(**{**clean, "action_type": action, "venue": "lido", **params})
        done = live_golem.commit(permit["permit_id"])
        assert done["status"] == "COMMITTED", done
        return done

    do("stake", amount=str(2 * ETH), output_token="stETH")
    assert not PendingRequest.objects.exists()
    do("unstake", amounts=[str(ETH)])
    row = PendingRequest.objects.get()
    assert row.state == "REQUESTED" and events("opened") == 1
    assert row.permit.action_type == "unstake" and row.amounts[0]["token"] == NATIVE
    told = query_state(golem=golem, query="requests", venue=None, params={}, now=clock.now())["data"]
    assert [each["position"] for each in told["waiting"]] == [row.ref]
    check_pending_requests(now=clock.now())
    assert check_pending_requests(now=clock.now() + timedelta(minutes=50))["looked"] == 0, (
        "nobody expects it within the hour"
    )
    finalise(live_golem.world, row)
    do("claim_withdrawal", request_ids=[row.ref.rpartition("/")[2]])
    assert check_pending_requests(now=clock.now()) == {"looked": 1, "changed": 1}
    row.refresh_from_db()
    assert row.state == "DONE" and row.claim is not None and row.claim.action_type == "claim_withdrawal"
    told = query_state(golem=golem, query="requests", venue=None, params={}, now=clock.now())["data"]
    assert told["waiting"] == [] and told["ended"][0]["state"] == "DONE"
