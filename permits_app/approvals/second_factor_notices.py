"""Every change of a person's second factors is told: in the audit log and as an event of each golem they decide for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from archetypes_app.ownership import list_golems_with
from archetypes_app.roles import Power
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType

BY_OPERATOR: Final = "system:operator"


class FactorChange(StrEnum):
    """What became of a second factor, as the audit log calls it."""

    PASSKEY_ADDED = "PasskeyAdded"
    PASSKEY_REMOVED = "PasskeyRemoved"
    PASSKEY_COPIED = "PasskeyCopied"
    CODE_SET_UP = "AuthenticatorSetUp"
    CODE_REPLACED = "AuthenticatorReplaced"
    CODE_REMOVED = "AuthenticatorRemoved"
    RESET = "SecondFactorReset"


_WORDS: Final = {
    FactorChange.PASSKEY_ADDED: "a passkey was added",
    FactorChange.PASSKEY_REMOVED: "a passkey was removed",
    FactorChange.CODE_SET_UP: "an authenticator was set up",
    FactorChange.CODE_REPLACED: "the authenticator was replaced",
    FactorChange.CODE_REMOVED: "the authenticator was removed",
    FactorChange.RESET: "all were forgotten by who runs the server",
}
_NONE_LEFT: Final = ", and none is left"


def tell_guesses(
    user: Any,  # Any: an account, whose model is a setting of Django's
    *,
    count: int,
    now: datetime,
) -> None:
    """Tell where `user` decides that wrong codes were typed in their name; joins the caller's transaction."""
    for golem in list_golems_with(user, Power.DECIDE).order_by("pk"):
        facts = {"person": str(user.pk), "count": count}
        event_bus.emit(golem_id=golem.pk, event=Event(EventType.SECOND_FACTOR_GUESSED, facts), now=now)
        audit_log.append(
            golem_id=golem.pk,
            event="SecondFactorGuessed",
            actor=f"owner:{user.pk}",
            now=now,
            data={"owner": str(user.pk), "wrong_codes": str(count)},
        )


def tell_change(
    user: Any,  # Any: an account, whose model is a setting of Django's
    change: FactorChange,
    *,
    now: datetime,
    data: Mapping[str, str],
    actor: str = "",
    is_none_left: bool = False,
) -> None:
    """Tell of it where `user` decides; joins the caller's transaction. `actor` is the person where none is said."""
    if change is FactorChange.PASSKEY_COPIED:
        event = Event(EventType.PASSKEY_COPIED, {"person": str(user.pk)})
    else:
        words = _WORDS[change] + (_NONE_LEFT if is_none_left else "")
        event = Event(EventType.SECOND_FACTOR_CHANGED, {"person": str(user.pk), "change": words})
    for golem in list_golems_with(user, Power.DECIDE).order_by("pk"):
        event_bus.emit(golem_id=golem.pk, event=event, now=now)
        audit_log.append(
            golem_id=golem.pk,
            event=str(change),
            actor=actor or f"owner:{user.pk}",
            now=now,
            data={"owner": str(user.pk), **data},
        )
