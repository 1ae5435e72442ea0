"""Push notifications: each change of a task goes to the addresses its asker named, signed, a bounded number of times.

Where they go is checked when they are named and again each time, as every request of ours to an address that others
chose. What the receiver knows us by is sealed in the database and shown to nobody again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from a2a.types import a2a_pb2 as wire
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from google.protobuf.json_format import MessageToDict

from archetypes_app.ownership import is_owned
from golem_project.a2a.card_key import sign_detached
from golem_project.a2a.errors import PushRefused, PushUnknown
from golem_project.a2a.models import PushConfig, PushNotification, PushState, Task
from golem_project.a2a.task_messages import show_change
from golem_project.stream import delivery_turns, sealed_secrets
from golem_project.stream.delivery_turns import DeliveryTurn, Wanting
from golem_project.stream.models import TurnKind
from tools_app.core import clock, guarded_http
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.transaction_retry import retry_aborted

# Seconds before the second, third, … try; after the last one it is given up.
RETRY_AFTER_SECONDS = (5, 30, 120, 600, 1_800)
_LEASE = timedelta(seconds=60)
_LONGEST = 2_000
_MOST_IN_A_ROW = 20
_SIGNATURE, _TOKEN = "A2A-Notification-Signature", "X-A2A-Notification-Token"


def add_config(*, task: Task, config: wire.TaskPushNotificationConfig, is_legacy: bool, now: datetime) -> PushConfig:
    """Keep where `task` is to be told of; the same id again replaces it. Raises PushRefused."""
    try:
        guarded_http.resolve(config.url, allows_private=settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES)
    except (AddressRefused, ExchangeFailed) as error:
        raise PushRefused(str(error)) from None
    token, secret, scheme = config.token, config.authentication.credentials, config.authentication.scheme
    for text in (token, secret, scheme):
        if len(text) > _LONGEST or not text.isascii() or not text.isprintable():
            raise PushRefused("token and credentials are printable ASCII of at most 2000 characters")
    if len(scheme) > 32 or len(config.id) > 64 or " " in scheme:
        raise PushRefused("id or scheme is too long, or the scheme is not one word")
    row = PushConfig(task=task, url=config.url, scheme=scheme, is_legacy=is_legacy, created_at=now)
    row.name = config.id or str(row.pk)
    row.sealed_token = _seal(row, token)
    row.sealed_credentials = _seal(row, secret)
    return _replace(row)


@retry_aborted
def _replace(row: PushConfig) -> PushConfig:
    most = settings.GOLEM_A2A_MOST_PUSH_CONFIGS
    try:
        with transaction.atomic():
            Task.objects.select_for_update(no_key=True).only("pk").get(pk=row.task_id)
            PushConfig.objects.filter(task=row.task, name=row.name).delete()
            if PushConfig.objects.filter(task=row.task).count() >= most:
                raise PushRefused(f"a task tells at most {most} addresses", limit=most)
            row.save(force_insert=True)
    except IntegrityError:
        raise PushRefused("this id is being set by another request") from None
    return row


def get_config(*, task: Task, name: str) -> PushConfig:
    """One of the task's. Raises PushUnknown."""
    row = PushConfig.objects.filter(task=task, name=name).first()
    if row is None:
        raise PushUnknown("the task has no notification address with this id")
    return row


def list_configs(*, task: Task) -> list[PushConfig]:
    """All of the task's, oldest first."""
    return list(PushConfig.objects.filter(task=task).order_by("created_at", "pk"))


def delete_config(*, task: Task, name: str) -> None:
    """Forget one; nothing happens where there is none."""
    PushConfig.objects.filter(task=task, name=name).delete()


def show_config(row: PushConfig) -> wire.TaskPushNotificationConfig:
    """As its asker sees it: without token and credentials, which are shown to nobody."""
    shown = wire.TaskPushNotificationConfig(id=row.name, task_id=str(row.task_id), url=row.url)
    if row.scheme:
        shown.authentication.scheme = row.scheme
    return shown


def note_change(task: Task, *, now: datetime) -> None:
    """Make a notification of the task's state for each of its addresses; joins the caller's transaction."""
    configs = list(PushConfig.objects.filter(task=task))
    if not configs:
        return
    told = wire.StreamResponse(status_update=show_change(task))
    bodies: dict[bool, dict[str, object]] = {False: MessageToDict(told)}
    if any(config.is_legacy for config in configs):
        # Loaded where it is needed: few are told in these words, and every worker knows this module.
        from a2a.compat.v0_3.conversions import to_compat_stream_response

        legacy = to_compat_stream_response(told, str(task.pk))
        bodies[True] = legacy.model_dump(mode="json", by_alias=True, exclude_none=True)["result"]
    PushNotification.objects.bulk_create(
        [
            PushNotification(
                config=config, version=task.version, body=bodies[config.is_legacy], next_attempt_at=now, created_at=now
            )
            for config in configs
        ],
        ignore_conflicts=True,
    )


def list_wanting(*, now: datetime) -> list[Wanting]:
    """Addresses with a notification whose time has come. Places are shared out between the owners of the golems asked:
    whoever asks may come under many names, and takes no place of another owner's.
    """
    due = PushNotification.objects.filter(config_id=OuterRef("pk"), state=PushState.WAITING, next_attempt_at__lte=now)
    rows = PushConfig.objects.filter(Exists(due)).order_by("created_at", "pk")
    return [Wanting(receiver=pk, person_id=owner) for pk, owner in rows.values_list("pk", "task__golem__owner_id")]


def take_turn(*, turn: DeliveryTurn, read_clock: Callable[[], datetime]) -> int:
    """Tell the address whose turn it is what is due for it, until it fails. Returns how many it took."""
    begun = delivery_turns.begin_turn(kind=TurnKind.NOTICE, turn=turn, now=read_clock())
    if begun is None:
        return 0
    taken, failed, longest = 0, True, 0.0
    try:
        for _ in range(_MOST_IN_A_ROW):
            now = read_clock()
            if not delivery_turns.keep_turn(kind=TurnKind.NOTICE, turn=begun, now=now):
                break
            following = _find_due(now).filter(config_id=turn.receiver).values_list("pk", flat=True).first()
            if following is None:
                break
            began = clock.monotonic_ms()
            is_taken = notify(notification_id=following, now=now)
            longest = max(longest, clock.monotonic_ms() - began)
            if not is_taken:
                return taken
            taken += 1
        failed = False
    finally:
        delivery_turns.end_turn(kind=TurnKind.NOTICE, turn=begun, now=read_clock(), failed=failed, longest_ms=longest)
    return taken


def _find_due(now: datetime) -> QuerySet[PushNotification]:
    rows = PushNotification.objects.filter(state=PushState.WAITING, next_attempt_at__lte=now)
    return rows.order_by("next_attempt_at", "version")


def notify(*, notification_id: UUID, now: datetime) -> bool:
    """Try one whose time has come; True when it was taken. The claim is a lease: a process may die.

    Who asked with a key that was revoked or ran out since is told no more.
    """
    claimed = PushNotification.objects.filter(
        pk=notification_id, state=PushState.WAITING, next_attempt_at__lte=now
    ).update(next_attempt_at=now + _LEASE, attempts=F("attempts") + 1)
    rows = PushNotification.objects.select_related("config__task__api_key__created_by")
    row = rows.filter(pk=notification_id).first()
    if not claimed or row is None:
        return False
    if not _may_hear(row.config.task, now=now):
        _record(row, now=now, error="the key it was asked with is no longer good", is_final=True)
        return False
    body = json.dumps(row.body, separators=(",", ":")).encode()
    began_ms = clock.monotonic_ms()
    try:
        target = guarded_http.resolve(row.config.url, allows_private=settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES)
        answer = guarded_http.post(
            target, headers=_headers(row.config, body), body=body, seconds=settings.GOLEM_A2A_PUSH_TIMEOUT_SECONDS
        )
        error = "" if 200 <= answer.status < 300 else f"answered {answer.status}"
    except (AddressRefused, ExchangeFailed, sealed_secrets.SealBroken) as problem:
        error = str(problem)
    # The pause before the next try begins when this one ended, not when it began.
    _record(row, now=now + timedelta(milliseconds=int(clock.monotonic_ms() - began_ms)), error=error)
    return not error


def _may_hear(task: Task, *, now: datetime) -> bool:
    """Whether the key that asked still opens its golem; a stranger hears of a golem that somebody owns."""
    key = task.api_key
    is_over = key is not None and (key.revoked_at is not None or now >= key.expires_at)
    maker = key.created_by if key is not None else None
    return not is_over and (maker is None or maker.is_active) and is_owned(task.golem_id)


def _record(row: PushNotification, *, now: datetime, error: str, is_final: bool = False) -> None:
    state, next_at = PushState.DELIVERED, None
    if error:
        is_over = is_final or row.attempts > len(RETRY_AFTER_SECONDS)
        state = PushState.DEAD if is_over else PushState.WAITING
        next_at = None if is_over else now + timedelta(seconds=RETRY_AFTER_SECONDS[row.attempts - 1])
    # Only this try writes what became of it.
    mine = PushNotification.objects.filter(pk=row.pk, state=PushState.WAITING, attempts=row.attempts)
    mine.update(state=state, next_attempt_at=next_at, last_error=error[:200])


def _headers(config: PushConfig, body: bytes) -> Mapping[str, str]:
    headers = {
        "Content-Type": "application/json" if config.is_legacy else "application/a2a+json",
        "User-Agent": "golem-a2a/1",
        _SIGNATURE: sign_detached(body),
    }
    token, credentials = _unseal(config, config.sealed_token), _unseal(config, config.sealed_credentials)
    if token:
        headers[_TOKEN] = token
    if config.scheme and credentials:
        headers["Authorization"] = f"{config.scheme} {credentials}"
    return headers


def _seal(row: PushConfig, text: str) -> bytes | None:
    return sealed_secrets.seal(text.encode(), bound_to=row.pk.bytes) if text else None


def _unseal(row: PushConfig, text: bytes | memoryview | None) -> str:
    return sealed_secrets.unseal(bytes(text), bound_to=row.pk.bytes).decode() if text is not None else ""
