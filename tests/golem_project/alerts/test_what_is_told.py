"""Which events people are told of, and in which words: every event the product knows stands in one of two tables."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

import pytest
from django.utils import timezone

from archetypes_app.models import Golem
from golem_project.alerts.topics import TOPICS
from tests.golem_project.alerts.room import make_channel, read_texts, run
from tests.receiver import Receiver
from tools_app.core import clock, event_bus
from tools_app.core.event_schemas import SCHEMAS, FieldKind
from tools_app.core.events import Event
from tools_app.core.events import EventType as E

CAGE_FALL: Final = {"rule": "policy_cage.drawdown", "mark": "$9"}
AGAIN: Final = {"operation": "resume", "status": "STALE"}
ALERTS: Final[list[dict[str, Any]]] = [{}, {}]

TOLD: Final[list[tuple[E, dict[str, Any], str, str]]] = [
    (E.APPROVAL_REQUESTED, {"summary": "S"}, "decide", "Atlas: waits for a decision: S"),
    (E.APPROVAL_ANNOUNCED, {"summary": "S"}, "decide", "Atlas: announced: S"),
    (E.APPROVAL_GRANTED, {"summary": "S"}, "decided", "Atlas: one owner approved: S"),
    (E.APPROVAL_EXECUTED, {"summary": "S"}, "decided", "Atlas: carried out: S"),
    (E.APPROVAL_EXECUTED, {"summary": "S", "operation": "permit", "permit_id": str(uuid4())}, "decided", "begun"),
    (E.APPROVAL_REJECTED, {"summary": "S"}, "decided", "Atlas: rejected: S"),
    (E.APPROVAL_EXPIRED, {"summary": "S"}, "decided", "Atlas: nobody decided in time: S"),
    (E.APPROVAL_CANCELLED, {"summary": "S"}, "decided", "Atlas: cancelled: S"),
    (E.APPROVAL_CANCELLED, AGAIN, "decided", "was halted again"),
    (E.APPROVAL_CANCELLED, {"summary": "S", "status": "FAILED"}, "decided", "approved, but not carried out: S"),
    (E.HALT_STARTED, {}, "stopped", "Atlas is halted"),
    (E.HALT_RESUMED, {}, "stopped", "Atlas is resumed"),
    (E.PERMIT_UNKNOWN, {"tool_name": "a_swap"}, "danger", "Atlas: sent a_swap and did not see what came of it"),
    (E.PHASE_TRANSITION, {"to": "terminal"}, "danger", "Atlas: its phase became terminal"),
    (E.REQUEST_STUCK, {}, "danger", "Atlas: a request at a protocol is stuck"),
    (E.REQUEST_TAKEN, {"reason": "R"}, "danger", "Atlas: somebody else took a part of a request at a protocol: R"),
    (E.REQUEST_LOST, {}, "danger", "Atlas: a request at a protocol is lost"),
    (
        E.POSITION_SLASHED,
        {"lost_units": "250", "symbol": "DAI", "protocol": "EigenLayer"},
        "danger",
        "Atlas: a slash took 250 DAI from what it has at EigenLayer",
    ),
    (E.RIGHT_WITHDRAWN, {}, "danger", "Atlas: a right over somebody else's money was taken back"),
    (E.RIGHT_RESTORED, {}, "danger", "that was taken back stands again"),
    (E.CHAIN_STOPPED, {}, "danger", "Atlas: its chain stopped making blocks"),
    (E.CHAIN_ROLLED_BACK, {}, "danger", "Atlas: its chain took blocks back"),
    (E.SECOND_FACTOR_GUESSED, {"count": 7}, "danger", "Atlas: 7 wrong codes in a row"),
    (E.ACCOUNT_STOPPED, {"outcome": "O"}, "danger", "part in it is not active any more: O"),
    (E.ACCOUNT_BACK, {"outcome": "O"}, "danger", "part in it is active again: O"),
    (E.SAFE_OPEN, {"danger": "D"}, "danger", "Atlas: D; sign the request that closes it"),
    (E.SIGNER_DELEGATED, {"account": "0xaa", "contract": "0xcc"}, "danger", "Atlas: its key 0xaa has delegated"),
    (E.SAFE_CHANGED, {"count": 3}, "danger", "changed in 3 ways that its owners did not agree to"),
    (E.PASSKEY_COPIED, {}, "danger", "may have been copied; it counts no more"),
    (E.SECOND_FACTOR_CHANGED, {"change": "C"}, "danger", "decides for it changed: C"),
    (E.POLICY_VIOLATION, CAGE_FALL, "danger", "Atlas: its holdings fell further below $9 than its limit allows"),
    (E.HEARTBEAT_ALERT, {"alerts": ALERTS, "source": "health-under"}, "danger", "2 of its debts fell under the floor"),
    (E.HEARTBEAT_ALERT, {"alerts": ALERTS, "source": "health-near"}, "danger", "2 of its debts came near the floor"),
    (
        E.HEARTBEAT_ALERT,
        {"alerts": ALERTS, "source": "locked-positions"},
        "danger",
        "can be taken out of its positions",
    ),
    (E.HEARTBEAT_ALERT, {"alerts": ALERTS, "source": "off-peg"}, "danger", "left the dollar or ether it stands for"),
    (E.HEARTBEAT_ALERT, {"alerts": ALERTS, "source": "stands-still"}, "danger", "was paused or frozen by who issues"),
    (E.HEARTBEAT_ALERT, {"alerts": ALERTS, "source": "sales-wait"}, "danger", "nobody can pay for the answers"),
    (E.HEARTBEAT_ALERT, {"alerts": ALERTS, "source": "health-unknown"}, "danger", "health of 2 of its debts cannot be"),
    (E.HEARTBEAT_ALERT, {"alerts": ALERTS}, "noticed", "Atlas: 2 things that its heartbeat watches are amiss"),
    (E.POLICY_VIOLATION, {"code": "X", "action_type": "swap"}, "refused", "Atlas: refused by X: swap"),
    (E.POLICY_LIMIT_HIT, {"code": "X", "action_type": "swap"}, "refused", "Atlas: refused by a limit (X): swap"),
    (E.PERMIT_BLOCKED, {"tool_name": "a_swap"}, "refused", "Atlas: a permit was blocked: a_swap"),
    (E.PERMIT_COMMITTED, {"tool_name": "a_swap", "status": "REVERTED"}, "done", "Atlas: REVERTED: a_swap"),
]
URGENT: Final = {"stopped", "danger"}
NOT_TOLD: Final[dict[str, frozenset[E]]] = {
    "it is how work goes on, and pages show it live": frozenset(
        {
            *(E.TOOL_START, E.TOOL_UPDATE, E.TOOL_END, E.TOOL_ERROR, E.PERMIT_CREATED, E.POLICY_TRIAL),
            *(E.HEARTBEAT_TICK, E.HEARTBEAT_COMPLETE, E.HEARTBEAT_TIER, E.CHAT_TURN, E.WASM_START, E.WASM_COMPLETE),
            *(E.STREAM_SUBSCRIBED, E.STREAM_ENDED, E.STREAM_FAILED, E.A2A_TASK, E.POOL_EVENT, E.POOL_STATE),
            E.POOL_CREATED,
            *(E.POSITION_ALERT, E.PRICE_UPDATE, E.TOKENJAR_UPDATE, E.TRADE_EXECUTED, E.REQUEST_OPENED),
        }
    ),
    "nothing was sent, or it ended as it was meant to": frozenset(
        {
            *(E.PERMIT_EXPIRED, E.PERMIT_CANCELLED, E.REQUEST_READY, E.REQUEST_DONE, E.CHAIN_RESUMED),
            *(E.REQUEST_EXECUTED, E.REQUEST_CANCELLED, E.REQUEST_EXPIRED),
            *(E.PROMISE_SIGNED, E.PROMISE_FILLED, E.PROMISE_CANCELLED, E.PROMISE_EXPIRED, E.RIGHT_ENDED),
        }
    ),
    "another event of the same thing is told": frozenset(
        {E.HALT_COMPLETED, E.DEATH_INITIATED, E.DEATH_STOPPED, E.DEATH_COMPLETED, E.APPROVAL_COMMENTED}
    ),
    "its page says so where it is looked for": frozenset({E.POLICY_CAGE_UPDATED, E.STREAM_WEBHOOK_DISABLED}),
    "it is what it learns": frozenset(event for event in E if event.startswith(("grimoire:", "dream:"))),
}
_SAMPLES: Final[dict[FieldKind, Any]] = {
    FieldKind.TEXT: "text",
    FieldKind.INTEGER: 1,
    FieldKind.FLAG: True,
    FieldKind.AMOUNT: "1",
    FieldKind.UNITS: "1",
    FieldKind.HEX: "0x11",
    FieldKind.UUID: str(uuid4()),
    FieldKind.TEXTS: ["text"],
    FieldKind.OBJECT: {},
    FieldKind.OBJECTS: [{}],
}


def emit(golem: Golem, event: E, payload: dict[str, Any]) -> None:
    """As the product does, with whatever else its schema asks for."""
    samples = {**_SAMPLES, FieldKind.TIME: timezone.now().isoformat()}
    whole = {name: samples[kind] for name, kind in SCHEMAS[event].required.items()} | payload
    event_bus.emit(golem_id=golem.pk, event=Event(event, whole), now=clock.now())


def test_every_event_is_told_or_says_why_it_is_not() -> None:
    told, not_told = {event for event, *_ in TOLD}, [event for events in NOT_TOLD.values() for event in events]
    assert told | set(not_told) == set(E), "an event without its line here"
    assert told & set(not_told) == set() and len(not_told) == len(set(not_told))
    assert {topic for _, _, topic, _ in TOLD} == set(TOPICS)
    assert {name for name, topic in TOPICS.items() if topic.is_urgent} == URGENT


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("topic", sorted({topic for _, _, topic, _ in TOLD}))
def test_whoever_hears_of_one_topic_is_told_all_of_it_and_nothing_else(
    golem: Golem, receiver: Receiver, topic: str
) -> None:
    channel = make_channel(golem, receiver.url, topics=[topic])
    for event, payload, _, _ in TOLD:
        emit(golem, event, payload)
    for event in sorted(set(E) - {event for event, *_ in TOLD}):
        emit(golem, event, {})
    run()
    lines = sorted(channel.alerts.values_list("text", "is_urgent"))
    expected = [words for _, _, of, words in TOLD if of == topic]
    missing = [words for words in expected if not any(words in line for line, _ in lines)]
    assert missing == []
    assert [line for line, _ in lines if not any(words in line for words in expected)] == []
    assert len(lines) == len(expected)
    assert {is_urgent for _, is_urgent in lines} == {topic in URGENT}
    said = "\n".join(read_texts(receiver))
    assert [words for words in expected if words not in said] == [] or topic == "danger"
