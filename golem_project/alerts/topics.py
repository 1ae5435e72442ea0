"""Defines the topics of alerts, the events behind each, and the sentence that an event becomes. Pure.

What an agent, a model or a chain wrote never gets into a sentence, only the product's own words, titles and figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tools_app.core.events import EventType as E
from tools_app.core.stored_json import read_stored

LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Only:
    """A sentence for those of an event alone whose payload says so."""

    event: E
    is_meant: Callable[[Mapping[str, object]], bool]
    text: str


@dataclass(frozen=True, slots=True)
class Topic:
    """One thing to be told about. What is urgent is told in quiet hours and waits for no digest."""

    words: str
    events: Mapping[E, str]
    is_urgent: bool = False
    only: tuple[Only, ...] = ()


@dataclass(frozen=True, slots=True)
class _ToldEvent:
    """What an event's payload says of which of its sentences is meant."""

    rule: object = None
    source: object = None
    operation: object = None
    status: object = None


def _is_fall(payload: Mapping[str, object]) -> bool:
    """Whether holdings fell; a rule that refused an action says which."""
    return "code" not in payload and read_stored(_ToldEvent, payload).rule == "policy_cage.drawdown"


def _is_from(source: str) -> Callable[[Mapping[str, object]], bool]:
    return lambda payload: read_stored(_ToldEvent, payload).source == source


def _is_ended_resume(payload: Mapping[str, object]) -> bool:
    """Whether a later halt ended a request to resume."""
    told = read_stored(_ToldEvent, payload)
    return told.operation == "resume" and told.status == "STALE"


def _is_not_carried_out(payload: Mapping[str, object]) -> bool:
    """Whether owners approved it and it ended otherwise."""
    return read_stored(_ToldEvent, payload).status == "FAILED"


def _is_begun(payload: Mapping[str, object]) -> bool:
    """Whether it is an action: that it is approved and begun says nothing of its outcome yet."""
    return "permit_id" in payload and read_stored(_ToldEvent, payload).operation == "permit"


TOPICS: Final[Mapping[str, Topic]] = {
    "decide": Topic(
        "A decision waits for owners",
        {E.APPROVAL_REQUESTED: "waits for a decision: {summary}", E.APPROVAL_ANNOUNCED: "announced: {summary}"},
    ),
    "decided": Topic(
        "What became of a decision",
        {
            E.APPROVAL_GRANTED: "one owner approved: {summary}",
            E.APPROVAL_EXECUTED: "carried out: {summary}",
            E.APPROVAL_REJECTED: "rejected: {summary}",
            E.APPROVAL_EXPIRED: "nobody decided in time: {summary}",
            E.APPROVAL_CANCELLED: "cancelled: {summary}",
        },
        only=(
            Only(
                E.APPROVAL_CANCELLED,
                _is_ended_resume,
                "was halted again, so the request to resume it is over; find out why, then ask anew",
            ),
            Only(
                E.APPROVAL_CANCELLED,
                _is_not_carried_out,
                "approved, but not carried out: {summary}; its page says why, and what comes next",
            ),
            Only(E.APPROVAL_EXECUTED, _is_begun, "approved and begun, its outcome follows: {summary}"),
        ),
    ),
    "stopped": Topic(
        "A golem is stopped or resumed",
        {E.HALT_STARTED: "is halted", E.HALT_RESUMED: "is resumed"},
        is_urgent=True,
    ),
    "danger": Topic(
        "Something may be lost",
        {
            E.PERMIT_UNKNOWN: "sent {tool_name} and did not see what came of it",
            E.PHASE_TRANSITION: "its phase became {to}",
            E.REQUEST_STUCK: "a request at a protocol is stuck",
            E.REQUEST_TAKEN: "somebody else took a part of a request at a protocol: {reason}",
            E.REQUEST_LOST: "a request at a protocol is lost",
            E.POSITION_SLASHED: "a slash took {lost_units} {symbol} from what it has at {protocol}, for the faults of"
            " whom it was delegated to; its statement lists it, and the operator can be left",
            E.RIGHT_WITHDRAWN: "a right over somebody else's money was taken back; its page says whose and why",
            E.RIGHT_RESTORED: "a right over somebody else's money that was taken back stands again",
            E.CHAIN_STOPPED: "its chain stopped making blocks",
            E.CHAIN_ROLLED_BACK: "its chain took blocks back",
            E.SECOND_FACTOR_GUESSED: "{count} wrong codes in a row were typed by somebody signed in as one who decides"
            " for it; if that was not them, the password is known to others and has to be changed",
            E.ACCOUNT_STOPPED: "the account of somebody with a part in it is not active any more: {outcome}",
            E.ACCOUNT_BACK: "the account of somebody with a part in it is active again: {outcome}",
            E.SAFE_OPEN: "{danger}; sign the request that closes it, or move what the Safe holds",
            E.SIGNER_DELEGATED: "its key {account} has delegated its account to the code of {contract}; if none of you"
            " did that, somebody else has the key",
            E.SAFE_CHANGED: "the Safe that it acts through changed in {count} ways that its owners did not agree to",
            E.PASSKEY_COPIED: "a passkey of somebody who decides for it may have been copied; it counts no more",
            E.SECOND_FACTOR_CHANGED: "the second factors of somebody who decides for it changed: {change}",
        },
        is_urgent=True,
        only=(
            Only(
                E.POLICY_VIOLATION,
                _is_fall,
                "its holdings fell further below {mark} than its limit allows; until its owners acknowledge that,"
                " positions are only left",
            ),
            Only(
                E.HEARTBEAT_ALERT,
                _is_from("health-under"),
                "{alerts} of its debts fell under the floor of health that its owner set",
            ),
            Only(
                E.HEARTBEAT_ALERT,
                _is_from("health-near"),
                "{alerts} of its debts came near the floor of health that its owner set",
            ),
            Only(
                E.HEARTBEAT_ALERT,
                _is_from("thinking"),
                "its language model failed three ticks in a row, or thinks again after that; its last decision says"
                " why, what it cost and who acts in its place",
            ),
            Only(
                E.HEARTBEAT_ALERT,
                _is_from("broken-ticks"),
                "three ticks in a row broke off, or one went through again after that; its last decision says why",
            ),
            Only(
                E.HEARTBEAT_ALERT,
                _is_from("locked-positions"),
                "what can be taken out of its positions at lenders, vaults, bridges and the like, or has a price, "
                " changed; its page says what",
            ),
            Only(
                E.HEARTBEAT_ALERT,
                _is_from("off-peg"),
                "a token that it holds or watches left the dollar or ether it stands for, or came back to it; its page"
                " says which",
            ),
            Only(
                E.HEARTBEAT_ALERT,
                _is_from("stands-still"),
                "a token that it holds was paused or frozen by who issues it, or a right over somebody else's money"
                " gives nothing, or that is over; its page says which",
            ),
            Only(
                E.HEARTBEAT_ALERT,
                _is_from("sales-wait"),
                "nobody can pay for the answers that it sells now, or that is over; its page says why",
            ),
            Only(E.HEARTBEAT_ALERT, _is_from("health-unknown"), "the health of {alerts} of its debts cannot be told"),
        ),
    ),
    "noticed": Topic(
        "What its heartbeat noticed", {E.HEARTBEAT_ALERT: "{alerts} things that its heartbeat watches are amiss"}
    ),
    "refused": Topic(
        "A rule refused an action",
        {
            E.POLICY_VIOLATION: "refused by {code}: {action_type}",
            E.POLICY_LIMIT_HIT: "refused by a limit ({code}): {action_type}",
            E.PERMIT_BLOCKED: "a permit was blocked: {tool_name}",
        },
    ),
    "done": Topic("An action is on chain", {E.PERMIT_COMMITTED: "{status}: {tool_name}"}),
}
_RANKS: Final = ("stopped", "danger", "decide", "decided", "done", "noticed", "refused")
"""What counts more first: anybody with a token can have actions refused, without end."""
_OF_EVENT: Final = {str(event): (name, text) for name, topic in TOPICS.items() for event, text in topic.events.items()}
_ONLY: Final = tuple((name, only) for name, topic in TOPICS.items() for only in topic.only)


class _Words(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "not said"


def list_events(topics: list[str]) -> frozenset[str]:
    """Wire names of the events of `topics`; of every topic where none is named. `find_topic` says whose each one is."""
    whole = {event for event, (name, _) in _OF_EVENT.items() if not topics or name in topics}
    return frozenset(whole | {str(only.event) for name, only in _ONLY if not topics or name in topics})


def find_topic(event_type: str, payload: Mapping[str, object]) -> str:
    """The name of an event's topic. Raises KeyError for an event of none."""
    return _find(event_type, payload)[0]


def rank_topic(name: str) -> int:
    """How far behind others the lines of a topic stand where not all are shown. Raises ValueError for none of ours."""
    return _RANKS.index(name)


def tell_event(event_type: str, payload: Mapping[str, object], *, golem: str) -> tuple[str, bool]:
    """The sentence of an event, one line, and whether it is urgent. Raises KeyError for an event of no topic."""
    name, text = _find(event_type, payload)
    # Text from outside travels as an object that says so; it is left out. Of a list it is told how long it is.
    plain = {key: " ".join(str(value).split()) for key, value in payload.items() if isinstance(value, str | int)}
    plain |= {key: str(len(value)) for key, value in payload.items() if isinstance(value, list)}
    told = (
        f"{golem} {text.format_map(_Words(plain))}"
        if text.startswith("is ")
        else f"{golem}: {text.format_map(_Words(plain))}"
    )
    return told[:LONGEST], TOPICS[name].is_urgent


def _find(event_type: str, payload: Mapping[str, object]) -> tuple[str, str]:
    for name, only in _ONLY:
        if only.event == event_type and only.is_meant(payload):
            return name, only.text
    return _OF_EVENT[event_type]
