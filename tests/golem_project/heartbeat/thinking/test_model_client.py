"""Which model a process asks follows from the environment; a wrong word stops the server and names the variable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.models.archetype import InferenceTier
from golem_project import wiring
from golem_project.heartbeat.thinking.errors import ModelNotConfigured
from golem_project.heartbeat.thinking.model_client import PROVIDER_URLS, ModelClient, ModelPrice, read_client
from golem_project.heartbeat.thinking.model_planner import get_model_planner
from golem_project.pi.definitions import define_tools
from golem_project.pi.token_count import cost_little
from permits_app.errors import DelegateNeedsModel
from permits_app.reviewers.delegate_to_archetype import check_runnable
from tests.golem_project.heartbeat.thinking.conftest import API_KEY, Think
from tests.live_golem import SWAP, LiveGolem
from tests.scripted_model import anthropic_calls, anthropic_says, raw, say


@pytest.fixture
def configured(settings: Any) -> Iterator[Any]:
    settings.GOLEM_MODEL_T1 = "small"
    settings.GOLEM_MODEL_T2 = "large"
    settings.GOLEM_MODEL_API_KEY = API_KEY
    settings.GOLEM_MODEL_T1_INPUT_MICRO_USD = 150_000
    settings.GOLEM_MODEL_T2_INPUT_MICRO_USD = 3_000_000
    settings.GOLEM_MODEL_T2_OUTPUT_MICRO_USD = 15_000_000
    yield settings
    settings.GOLEM_MODEL_T1 = settings.GOLEM_MODEL_T2 = ""
    wiring.configure_thinking()


def read() -> ModelClient:
    client = read_client(write_tools=define_tools, cost_little=cost_little)
    assert client is not None
    return client


def test_without_a_model_name_there_is_no_planner_and_no_delegate_that_plans(settings: Any) -> None:
    settings.GOLEM_MODEL_T1 = settings.GOLEM_MODEL_T2 = ""
    wiring.configure_thinking()
    assert get_model_planner() is None
    with pytest.raises(DelegateNeedsModel):
        check_runnable("trade-executor")
    check_runnable("risk-assessor")


def test_with_one_both_are_there(configured: Any) -> None:
    wiring.configure_thinking()
    planner = get_model_planner()
    assert planner is not None
    check_runnable("trade-executor")


def test_each_tier_has_its_model_and_price_and_t0_has_none(configured: Any) -> None:
    client = read()
    assert client.choose_model(InferenceTier.T1).name == "small"
    large = client.choose_model(InferenceTier.T2)
    assert (large.name, large.price) == ("large", ModelPrice(3_000_000, 15_000_000))
    with pytest.raises(ModelNotConfigured, match="GOLEM_MODEL_T0"):
        client.choose_model(InferenceTier.T0)


@pytest.mark.parametrize("provider", PROVIDER_URLS)
def test_a_provider_has_its_own_address_unless_one_is_given(configured: Any, provider: str) -> None:
    configured.GOLEM_MODEL_PROVIDER = provider
    assert read().endpoint.url == PROVIDER_URLS[provider]
    configured.GOLEM_MODEL_BASE_URL = "https://models.example.com/v1"
    assert read().endpoint.host == "models.example.com"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("GOLEM_MODEL_PROVIDER", "gemini", "GOLEM_MODEL_PROVIDER"),
        ("GOLEM_MODEL_BASE_URL", "http://127.0.0.1:11434/v1", "GOLEM_MODEL_ALLOW_LOCAL"),
        ("GOLEM_MODEL_BASE_URL", "https://me:secret@models.example.com", "GOLEM_MODEL_API_KEY"),
    ],
)
def test_a_wrong_word_stops_the_server_and_names_the_variable(
    configured: Any, name: str, value: str, words: str
) -> None:
    setattr(configured, name, value)
    with pytest.raises(ImproperlyConfigured, match=words) as refused:
        wiring.configure_thinking()
    assert "secret" not in str(refused.value)


def test_a_local_endpoint_is_taken_where_the_operator_says_so(configured: Any) -> None:
    configured.GOLEM_MODEL_BASE_URL = "http://127.0.0.1:11434/v1"
    configured.GOLEM_MODEL_ALLOW_LOCAL = True
    assert read().endpoint.port == 11434


def test_nothing_prints_the_key(configured: Any) -> None:
    wiring.configure_thinking()
    assert API_KEY not in repr(get_model_planner()) + str(read()) + repr(read().api_key)


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_cost_is_a_whole_number_never_too_small_and_never_a_unit_too_much(
    tokens_in: int, tokens_out: int, price_in: int, price_out: int
) -> None:
    cost = ModelPrice(price_in, price_out).cost(input_llm_tokens=tokens_in, output_llm_tokens=tokens_out)
    exact = tokens_in * price_in + tokens_out * price_out
    assert exact <= cost * 1_000_000 < exact + 1_000_000


def test_anthropics_messages_are_spoken_too(live_golem: LiveGolem, think: Think) -> None:
    found, model = think(
        live_golem.golem,
        anthropic_calls("preview_action", **SWAP),
        anthropic_says("previewed"),
        client={"provider": "anthropic"},
    )
    assert (found.stopped_by, found.refusals, found.summary) == ("", (), "previewed")
    assert len(found.touched) == 1
    assert set(model.paths) == {"/v1/messages"}
    assert all(API_KEY in str(each) for each in model.authorizations)
    assert (found.input_llm_tokens, found.output_llm_tokens) == (1_600, 40)


def test_what_stays_the_same_in_every_round_is_marked_for_anthropics_cache(live_golem: LiveGolem, think: Think) -> None:
    found, model = think(
        live_golem.golem,
        anthropic_calls("query_state", query="phase"),
        anthropic_says("seen"),
        client={"provider": "anthropic"},
    )
    assert found.stopped_by == ""
    first, second = model.requests
    assert first["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert (first["system"], first["tools"]) == (second["system"], second["tools"])
    assert second["messages"][: len(first["messages"])] == first["messages"]


def test_writing_to_a_cache_is_paid_for_and_reading_from_it_never_lowers_the_count(
    live_golem: LiveGolem, think: Think
) -> None:
    def paid(**usage: int) -> int:
        body = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": "done"}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 5, **usage},
        }
        answer = raw(json.dumps(body).encode())
        return think(live_golem.golem, answer, client={"provider": "anthropic"})[0].input_llm_tokens

    assert paid() == 100
    assert paid(cache_creation_input_tokens=1_001) == 100 + 1_001 + 251
    assert paid(cache_read_input_tokens=1_000) == 1_100


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"content": 7}', b"<html>", b'{"type": "error"}'], ids=range(6))
def test_garbage_from_anthropics_interface_ends_the_thinking_and_nothing_else(
    live_golem: LiveGolem, think: Think, body: bytes
) -> None:
    found, _ = think(live_golem.golem, raw(body), client={"provider": "anthropic"})
    assert found.stopped_by in ("MODEL_ANSWER_INVALID", "MODEL_UNAVAILABLE") or found.summary == ""


@pytest.mark.parametrize("status", [401, 429, 500, 529])
def test_a_refusal_of_anthropics_interface_is_told_by_its_status(
    live_golem: LiveGolem, think: Think, status: int
) -> None:
    found, model = think(live_golem.golem, raw(b'{"type":"error"}', status=status), client={"provider": "anthropic"})
    assert (found.stopped_by, len(model.requests)) == ("MODEL_UNAVAILABLE", 1)


def test_each_tier_asks_its_own_model(live_golem: LiveGolem, think: Think) -> None:
    _, model = think(live_golem.golem, say("x"), tier=InferenceTier.T1)
    assert model.requests[0]["model"] == "scripted-1"
    assert model.requests[0].get("max_tokens", model.requests[0].get("max_completion_tokens")) == 2_048
