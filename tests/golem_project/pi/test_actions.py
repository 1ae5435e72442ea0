"""Preview, commit, cancel over HTTP, through the real queue and a real worker, on the real contracts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from celery.contrib.testing.worker import start_worker
from django.core.cache import cache
from django.db import connections
from django.test import Client

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.models import ToolOverride
from archetypes_app.models.api_key import Scope
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from golem_project.pi import serializers as wire
from golem_project.pi.commit_slots import waiting_slot
from permits_app.errors import TooManyWaiting
from permits_app.models import ActionPermit, OutboundTransaction
from tests.golem_project.pi.conftest import Agent, assert_problem
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY

SWAP = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}


@pytest.fixture
def live(shared_golem: LiveGolem) -> Agent:
    return Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client())


@pytest.fixture
def worker(live: Agent) -> Iterator[None]:
    """One worker thread on the two queues, with the broker of this run."""
    app.control.purge()
    with start_worker(
        app, pool="solo", perform_ping_check=False, queues=["simulation", "commit"], loglevel="WARNING"
    ):  # fmt: skip
        yield
    app.control.purge()
    connections.close_all()


@pytest.mark.usefixtures("worker")
def test_a_swap_goes_from_preview_to_its_outcome(live: Agent) -> None:
    permit = live.post("preview_action", SWAP)
    assert permit.status_code == 200, permit.content
    assert set(permit.json()) >= set(wire.PermitOutput().fields)
    permit_id = permit.json()["permit_id"]
    assert live.get(f"permits/{permit_id}").json()["status"] == "CREATED"

    done = live.post("commit_action", {"permit_id": permit_id})
    answer = done.json()
    assert (done.status_code, answer["status"]) == (200, "COMMITTED"), answer
    assert set(answer) == {"status", "permit", "result"}
    assert answer["result"]["ground_truth_source"] == "receipt"
    assert answer["permit"]["permit_id"] == permit_id

    again = live.post("commit_action", {"permit_id": permit_id})
    problem = assert_problem(again, 409, "PERMIT_ALREADY_COMMITTED", "CHECK_STATE")
    assert again.headers["Location"] == f"/api/v1/pi/permits/{permit_id}"
    assert problem["permit_status"] == "COMMITTED"
    assert problem["tx_hashes"] == [row["tx_hash"] for row in answer["permit"]["transactions"]]
    assert OutboundTransaction.objects.filter(permit_id=permit_id).count() == len(problem["tx_hashes"])


@pytest.mark.usefixtures("worker")
def test_the_bad_input_of_an_action_is_refused_by_the_worker_as_a_problem(live: Agent) -> None:
    rows: list[tuple[dict[str, Any], int, str]] = [
        ({**SWAP, "action_type": "teleport"}, 404, "UNKNOWN_ACTION"),
        ({**SWAP, "venue": "aave"}, 404, "UNKNOWN_VENUE"),
        ({**SWAP, "chain_id": 999_999}, 422, "CHAIN_NOT_SUPPORTED"),
        ({**SWAP, "amount": "1.5"}, 422, "INVALID_PARAMS"),
        ({**SWAP, "amount": "0"}, 422, "INVALID_PARAMS"),
        ({**SWAP, "amount": "-5"}, 422, "INVALID_PARAMS"),
        ({**SWAP, "amount": str(2**256)}, 422, "INVALID_PARAMS"),
        ({**SWAP, "amount": "five hundred"}, 422, "INVALID_PARAMS"),
        ({**SWAP, "slippage_bps": 10_001}, 422, "INVALID_PARAMS"),
        ({**SWAP, "token_in": "0x" + "1" * 39}, 422, "INVALID_PARAMS"),
        ({**SWAP, "colour": "red"}, 422, "INVALID_PARAMS"),
        ({"action_type": "swap"}, 422, "INVALID_PARAMS"),
    ]
    for body, status, code in rows:
        assert_problem(live.post("preview_action", body), status, code, "FIX_PARAMS")
    raw = b'{"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": 1.5}'
    fraction = live.send("POST", "/api/v1/pi/preview_action", raw)
    assert "amount" in assert_problem(fraction, 422, "INVALID_PARAMS")["fields"]
    assert ActionPermit.objects.count() == 0


@pytest.mark.usefixtures("worker")
def test_the_seeds_spellings_and_a_strict_providers_nulls_make_the_same_preview(live: Agent) -> None:
    bodies = [
        {"kind": "swap", "params": {name: value for name, value in SWAP.items() if name != "action_type"}},
        {**SWAP, "venue": "Uniswap", "slippage_bps": None, "position_id": None, "chain_id": None},
    ]
    hashes = []
    for body in bodies:
        permit = live.post("preview_action", body).json()
        hashes.append(ActionPermit.objects.get(pk=permit["permit_id"]).action_hash)
        cancelled = live.post("cancel_action", {"permit_id": permit["permit_id"], "reason": "compare only"})
        assert cancelled.json()["status"] == "CANCELLED"
    assert len(set(hashes)) == 1


@pytest.mark.usefixtures("worker")
def test_a_golem_whose_write_tools_are_gone_has_no_preview(live: Agent) -> None:
    for tool in REGISTRY:
        if tool.pi_tool is PiTool.PREVIEW_ACTION:
            ToolOverride.objects.update_or_create(
                golem=live.golem, tool_name=tool.name, defaults={"mode": OverrideMode.EXCLUDE}
            )
    assert_problem(live.post("preview_action", SWAP), 404, "UNKNOWN_TOOL", "FIX_PARAMS")


@pytest.mark.usefixtures("worker")
def test_a_cancelled_permit_cannot_be_committed(live: Agent) -> None:
    permit_id = live.post("preview_action", SWAP).json()["permit_id"]
    live.post("cancel_action", {"permit_id": permit_id, "reason": "no longer wanted"})
    assert_problem(live.post("commit_action", {"permit_id": permit_id}), 409, "PERMIT_NOT_COMMITTABLE")
    again = live.post("cancel_action", {"permit_id": permit_id, "reason": "once more"})
    assert_problem(again, 409, "PERMIT_NOT_CANCELLABLE", "CHECK_STATE")


def test_respond_async_answers_at_once_where_to_look(live: Agent, shared_golem: LiveGolem) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    response = live.post("commit_action", {"permit_id": permit_id}, Prefer="respond-async, wait=10")
    answer = response.json()
    assert (response.status_code, answer["status"], answer["result"]) == (202, "COMMITTING", None)
    assert response.headers["Location"] == f"/api/v1/pi/permits/{permit_id}"
    assert response.headers["Preference-Applied"] == "respond-async"
    shared_golem.work(permit_id)
    assert (
        live.client.get(response.headers["Location"], headers={"Authorization": f"Bearer {live.key.token}"}).json()[
            "status"
        ]
        == "COMMITTED"
    )
    app.control.purge()


def test_a_commit_nobody_works_on_answers_committing_after_the_wait(
    live: Agent, shared_golem: LiveGolem, settings: Any
) -> None:
    settings.GOLEM_COMMIT_WAIT_SECONDS = 0.3
    permit_id = shared_golem.preview()["permit_id"]
    response = live.post("commit_action", {"permit_id": permit_id})
    assert (response.status_code, response.json()["status"]) == (202, "COMMITTING")
    assert "Preference-Applied" not in response.headers
    app.control.purge()


def test_a_preview_nobody_works_on_says_to_look_at_the_state(live: Agent, settings: Any) -> None:
    settings.GOLEM_PREVIEW_WAIT_SECONDS = 0.3
    assert_problem(live.post("preview_action", SWAP), 504, "WORKER_TIMEOUT", "CHECK_STATE")
    app.control.purge()


def test_at_most_four_commits_of_a_token_wait_and_a_fifth_is_not_started(live: Agent, shared_golem: LiveGolem) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    key_id = live.key.key.pk
    entered, leave = threading.Barrier(5), threading.Event()

    def wait() -> None:
        with waiting_slot(key_id, request_id="r"):
            entered.wait(timeout=20)
            leave.wait(timeout=20)

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    entered.wait(timeout=20)
    try:
        response = live.post("commit_action", {"permit_id": permit_id})
        problem = assert_problem(response, 429, "TOO_MANY_COMMITS_WAITING", "WAIT")
        assert (problem["limit"], response.headers["Retry-After"]) == (4, "2")
        assert ActionPermit.objects.get(pk=permit_id).status == "CREATED"
        other = create_api_key(golem=live.golem, scopes=Scope.values, label="other", created_by=None, now=clock.now())
        with waiting_slot(other.key.pk, request_id="r"):
            pass
    finally:
        leave.set()
        for thread in threads:
            thread.join(timeout=20)
    with waiting_slot(key_id, request_id="r"):
        pass


def test_a_place_of_a_dead_process_frees_itself(settings: Any) -> None:
    settings.GOLEM_COMMIT_WAITERS_PER_KEY = 1
    key_id = uuid4()
    with waiting_slot(key_id, request_id="r"):
        assert cache.ttl(f"commit-wait:{key_id}:0") if hasattr(cache, "ttl") else True
        with pytest.raises(TooManyWaiting), waiting_slot(key_id, request_id="r"):
            pass
        cache.delete(f"commit-wait:{key_id}:0")
        with waiting_slot(key_id, request_id="r"):
            pass


def test_a_read_tool_answers_through_query_state_with_units_beside_amounts(live: Agent) -> None:
    body = {"query": "quote", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
    response = live.post("query_state", body)
    answer = response.json()
    assert response.status_code == 200, answer
    assert set(answer) == set(wire.ToolResultOutput().fields)
    assert answer["data"]["amount_in"] == "500000000"
    assert answer["data"]["amount_in_units"] == "500 USDC"


def test_prices_of_tokens_named_in_a_search_come_from_their_feeds(live: Agent) -> None:
    found = live.post("search_context", {"query": "Should I sell WETH for usdc?"}).json()
    assert {price["symbol"] for price in found["prices"]} == {"WETH", "USDC"}, found["warnings"]
    assert all(float(price["price_usd"]) > 0 and price["source"] == "feed" for price in found["prices"])
