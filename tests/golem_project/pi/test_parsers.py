"""Strict JSON: what is refused, what arrives unrounded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_project.pi.errors import BodyNotJson, BodyNotObject, BodyTooDeep, DuplicateField
from golem_project.pi.parsers import MAX_BODY_BYTES, MAX_DEPTH, parse_object
from tests.golem_project.pi.conftest import PI, Agent, assert_problem
from tools_app.core.errors import GolemError


def nested(levels: int) -> bytes:
    return b'{"a":' * (levels - 1) + b"{}" + b"}" * (levels - 1)


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"", BodyNotJson),
        (b"{", BodyNotJson),
        (b"{'a': 1}", BodyNotJson),
        (b'{"a": NaN}', BodyNotJson),
        (b'{"a": -Infinity}', BodyNotJson),
        (b'{"a": 1,}', BodyNotJson),
        (b"\xff\xfe{}", BodyNotJson),
        (b"\xef\xbb\xbf{}", BodyNotJson),
        (b'{"a": "\\u0000"}', BodyNotJson),
        (b'{"\\ud800": 1}', BodyNotJson),
        (b"[]", BodyNotObject),
        (b"null", BodyNotObject),
        (b'"text"', BodyNotObject),
        (b'{"a": 1, "a": 1}', DuplicateField),
        (b'{"params": {"amount": "1", "amount": "2"}}', DuplicateField),
        (nested(MAX_DEPTH + 1), BodyTooDeep),
        (b"[" * 30_000 + b"]" * 30_000, BodyTooDeep),
    ],
)
def test_a_body_that_is_not_one_plain_object_is_refused(raw: bytes, error: type[GolemError]) -> None:
    with pytest.raises(error):
        parse_object(raw)


def test_the_deepest_body_that_is_allowed_passes() -> None:
    assert json.dumps(parse_object(nested(MAX_DEPTH))).count("{") == MAX_DEPTH


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"amount": 1.5}', "1.5"),
        (b'{"amount": 0.1000000000000000055511151231257827}', "0.1000000000000000055511151231257827"),
        (b'{"amount": 1e18}', "1e18"),
        (b'{"amount": 115792089237316195423570985008687907853269984665640564039457584007913129639935}', 2**256 - 1),
        (b'{"amount": ' + b"9" * 5_000 + b"}", "9" * 5_000),
    ],
)
def test_no_number_is_rounded_on_its_way_in(raw: bytes, value: Any) -> None:
    assert parse_object(raw)["amount"] == value


@given(st.dictionaries(st.text(max_size=8), st.one_of(st.integers(), st.text(), st.booleans(), st.none()), max_size=6))
def test_every_plain_object_comes_through_as_it_was_or_is_refused_as_bad_text(body: dict[str, Any]) -> None:
    try:
        parsed = parse_object(json.dumps(body).encode())
    except BodyNotJson:
        assert "\\u0000" in json.dumps(body) or "\\ud" in json.dumps(body)
        return
    assert {name: str(value) for name, value in parsed.items()} == {name: str(v) for name, v in body.items()}


@given(st.binary(max_size=200))
def test_no_bytes_at_all_cause_anything_but_a_refusal_or_an_object(raw: bytes) -> None:
    try:
        assert isinstance(parse_object(raw), dict)
    except GolemError as error:
        assert error.http_status == 400


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        (b"{", "application/json", 400, "BODY_NOT_JSON"),
        (b"[1]", "application/json", 400, "BODY_NOT_OBJECT"),
        (b'{"query": "a", "query": "b"}', "application/json", 400, "DUPLICATE_FIELD"),
        (nested(MAX_DEPTH + 1), "application/json", 400, "BODY_TOO_DEEP"),
        (b'{"query": "' + b"x" * MAX_BODY_BYTES + b'"}', "application/json", 413, "BODY_TOO_LARGE"),
        (b"{" + b" " * 400_000 + b"}", "application/json", 413, "BODY_TOO_LARGE"),
        (b'{"query": "golem"}', "text/plain", 415, "UNSUPPORTED_MEDIA_TYPE"),
        (b"query=golem", "application/x-www-form-urlencoded", 415, "UNSUPPORTED_MEDIA_TYPE"),
        (b'{"query": "golem"}', "application/json; charset=utf-16", 415, "UNSUPPORTED_MEDIA_TYPE"),
        (b'{"query": "golem"}', "", 415, "UNSUPPORTED_MEDIA_TYPE"),
    ],
)
def test_a_bad_body_is_a_problem_with_its_code(
    agent: Agent, body: bytes, content_type: str, status: int, code: str
) -> None:
    response = agent.send("POST", f"{PI}/query_state", body, content_type=content_type)
    assert_problem(response, status, code, "FIX_PARAMS")


def test_utf8_named_as_a_charset_is_fine(agent: Agent) -> None:
    response = agent.send(
        "POST", f"{PI}/query_state", b'{"query": "golem"}', content_type='application/json; charset="UTF-8"'
    )
    assert response.status_code == 200


@pytest.mark.parametrize("number", ["1.5", "-6.02e16", "1e400"])
def test_a_number_is_no_word_and_no_text(agent: Agent, number: str) -> None:
    """A fuzzer of others found that `cursor` took one; an amount and a price stay what was written."""
    for tool, body in (
        ("query_grimoire", f'{{"read": "search", "query": "a swap", "cursor": {number}}}'),
        ("query_grimoire", f'{{"query": {number}}}'),
        ("query_state", f'{{"query": "limits", "cursor": {number}}}'),
        ("search_context", f'{{"query": {number}}}'),
        ("commit_action", f'{{"permit_id": {number}}}'),
    ):
        answer = agent.client.post(
            f"/api/v1/pi/{tool}",
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {agent.key.token}"},
        )
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_PARAMS"), (tool, answer.content)
