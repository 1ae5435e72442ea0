"""What doors, forms and a start take and refuse by a number, just below, at and just above it."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from a2a.types import a2a_pb2 as wire
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Q
from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from golem_project.a2a import notifications
from golem_project.a2a.errors import PushRefused
from golem_project.a2a.task_requests import list_tasks
from golem_project.middleware import restore_form_after_login
from golem_project.pi import authentication, token_count
from golem_project.pi.errors import ApiKeyInvalid, BodyTooLarge
from golem_project.pi.idempotency import IdempotencyKeyInvalid, claim_key
from golem_project.pi.parsers import _read
from golem_project.pi.serializers import QueryGrimoireInput
from golem_project.runtime import start_conditions
from tests import factories
from tools_app.core.errors import InvalidParams

NOW = datetime(2026, 11, 26, tzinfo=UTC)
TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(("size", "is_read"), [(65_536, True), (65_537, False)])
def test_a_body_has_sixty_four_kilobytes_whatever_it_declares(size: int, is_read: bool) -> None:
    for declared in (str(size), "5", ""):
        request = SimpleNamespace(META={"CONTENT_LENGTH": declared})
        if is_read:
            assert len(_read(io.BytesIO(b"x" * size), {"request": request})) == size
            continue
        with pytest.raises(BodyTooLarge, match="at most 65536"):
            _read(io.BytesIO(b"x" * size), {"request": request})


def test_what_is_declared_too_large_is_not_read() -> None:
    request = SimpleNamespace(META={"CONTENT_LENGTH": "65537"})
    stream = io.BytesIO(b"x")
    with pytest.raises(BodyTooLarge):
        _read(stream, {"request": request})
    assert stream.tell() == 0


@pytest.mark.django_db
@pytest.mark.parametrize(("length", "is_looked_up"), [(200, True), (201, False)])
def test_a_token_of_more_than_two_hundred_letters_is_not_looked_up(
    length: int, is_looked_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fetch(*queries: Any) -> list[Any]:
        asked.append("key")
        return look_up(*queries)

    look_up = authentication.fetch_together
    monkeypatch.setattr(authentication, "fetch_together", fetch)
    token = authentication.TOKEN_PREFIX
    with pytest.raises(ApiKeyInvalid):
        authentication.identify(token + "a" * (length - len(token)), now=NOW)
    assert bool(asked) is is_looked_up


@pytest.mark.django_db
@pytest.mark.parametrize(("length", "is_taken"), [(0, False), (1, True), (200, True), (201, False)])
def test_an_idempotency_key_has_two_hundred_letters(length: int, is_taken: bool) -> None:
    made = factories.make_api_key(golem=factories.make_golem(owner=factories.make_owner()))
    asked: dict[str, Any] = {"api_key": made.key, "key": "k" * length, "request_digest": "0x1", "now": NOW}
    if is_taken:
        assert claim_key(**asked) is not None
        return
    with pytest.raises(IdempotencyKeyInvalid):
        claim_key(**asked)


@pytest.mark.parametrize(("chain_id", "is_taken"), [(0, False), (1, True), (2**53 - 1, True), (2**53, False)])
def test_a_chain_has_a_number_that_every_reader_of_json_reads_alike(chain_id: int, is_taken: bool) -> None:
    field = QueryGrimoireInput().fields["chain_id"]
    if is_taken:
        assert field.run_validation(chain_id) == chain_id
        return
    with pytest.raises(ValidationError):
        field.run_validation(chain_id)


@pytest.mark.parametrize(
    ("size", "tokens", "is_cheap"), [(10_000, None, True), (10_001, 2_500, True), (10_001, 2_501, False)]
)
def test_definitions_cost_two_and_a_half_thousand_tokens_of_four_bytes_at_least(
    size: int, tokens: int | None, is_cheap: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(*_: Any, **__: Any) -> int:
        assert tokens is not None, "what is short is not counted"
        return tokens

    monkeypatch.setattr(token_count, "render_tools", lambda *_: ["x" * (size - len('[""]'))])
    monkeypatch.setattr(token_count, "count_text", count)
    assert len(json.dumps(["x" * (size - 4)])) == size
    assert token_count.cost_little((), are_ours=True) is is_cheap


@pytest.mark.django_db
@pytest.mark.parametrize(("size", "is_taken"), [(0, False), (1, True), (100, True), (101, False)])
def test_a_page_of_tasks_has_a_hundred(size: int, is_taken: bool) -> None:
    caller: Any = SimpleNamespace(match_theirs=lambda: Q())
    request = wire.ListTasksRequest(page_size=size)
    if is_taken:
        assert list_tasks(caller=caller, request=request).size == size
        return
    with pytest.raises(InvalidParams, match="1 to 100"):
        list_tasks(caller=caller, request=request)


@pytest.mark.parametrize(("length", "is_taken"), [(2_000, True), (2_001, False)])
@pytest.mark.parametrize("which", ["token", "credentials"])
def test_what_another_agent_is_told_with_has_two_thousand_letters(
    which: str, length: int, is_taken: bool, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    monkeypatch.setattr(notifications, "_replace", lambda row: row)
    monkeypatch.setattr(notifications, "_seal", lambda _, text: text)
    config = wire.TaskPushNotificationConfig(url="http://127.0.0.1:1/told")
    if which == "token":
        config.token = "t" * length
    else:
        config.authentication.scheme = "Bearer"
        config.authentication.credentials = "t" * length
    task: Any = None
    asked = {"task": task, "config": config, "is_legacy": False, "now": NOW}
    if is_taken:
        row = notifications.add_config(**asked)
        assert "t" * length in (row.sealed_token, row.sealed_credentials)
        return
    with pytest.raises(PushRefused, match="at most 2000"):
        notifications.add_config(**asked)


@pytest.mark.parametrize(
    ("difference", "starts"),
    [
        (timedelta(seconds=10), True),
        (timedelta(seconds=10) + TICK, False),
        (-timedelta(seconds=10), True),
        (-timedelta(seconds=10) - TICK, False),
    ],
)
def test_a_clock_ten_seconds_from_the_databases_is_fit_and_no_further(
    difference: timedelta, starts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def cursor() -> Any:
        yield SimpleNamespace(execute=lambda _: None, fetchone=lambda: (NOW + difference,))

    monkeypatch.setattr(start_conditions, "connection", SimpleNamespace(cursor=cursor))
    monkeypatch.setattr(start_conditions.clock, "now", lambda: NOW)
    if starts:
        start_conditions._check_clock()
        return
    with pytest.raises(ImproperlyConfigured, match="BOOT_CLOCK_DIFFERS"):
        start_conditions._check_clock()


def test_sixty_values_of_a_form_are_given_back() -> None:
    typed = QueryDict(mutable=True)
    typed.setlist("amount", [str(number) for number in range(61)])
    request: Any = SimpleNamespace(POST=typed)
    assert [value for _, value in restore_form_after_login._read_kept(request)] == [str(number) for number in range(60)]
