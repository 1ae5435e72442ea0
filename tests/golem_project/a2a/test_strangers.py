"""Strangers: a wallet proved once lets one read what the owner opened, and moves nothing of the golem."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from golem_project.a2a.models import Challenge, OpenedRead, Task, Visit
from tests import factories
from tests.concurrency.test_sixty_four_at_once import at_once
from tests.evm.world import World
from tests.golem_project.a2a.conftest import SWAP, Line, state_of
from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tests.passing_time import let_pass_until
from tools_app.core import clock
from tools_app.toolkit.enums import PiTool

pytestmark = pytest.mark.django_db(transaction=True)
WALLET = Account.from_key("0x" + "11" * 32)
OTHER = Account.from_key("0x" + "22" * 32)


def _challenge(agent: Agent, wallet: str = WALLET.address) -> Any:
    path = f"/a2a/{agent.golem.pk}/challenge"
    return agent.client.post(path, {"wallet": wallet}, content_type="application/json")


def _visit(agent: Agent, nonce: str, signature: Any) -> Any:
    body = {"nonce": nonce, "signature": "0x" + bytes(signature).hex()}
    return agent.client.post(f"/a2a/{agent.golem.pk}/visit", body, content_type="application/json")


def _sign_text(challenge: Any, account: Any = WALLET) -> Any:
    return account.sign_message(encode_defunct(text=challenge["text"])).signature


def _sign_typed(challenge: Any, account: Any = WALLET) -> Any:
    return account.sign_message(encode_typed_data(full_message=challenge["typed_data"])).signature


def open_visit(agent: Agent, wallet: Any) -> str:
    """The token of a wallet that proved itself."""
    challenge = _challenge(agent, wallet.address).json()
    return str(_visit(agent, challenge["nonce"], _sign_text(challenge, wallet)).json()["token"])


@pytest.fixture
def visitor(agent: Agent, web_port: int, eager_work: None) -> Line:
    """A stranger's line to the golem, who may read its limits and its name."""
    for query in ("limits", "golem"):
        OpenedRead.objects.create(golem=agent.golem, query=query, venue="golem", created_at=clock.now())
    token = open_visit(agent, WALLET)
    return Line(f"http://127.0.0.1:{web_port}/a2a/{agent.golem.pk}", token, agent.golem)


def _ask(line: Line, skill: str, params: Any) -> Any:
    message = {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": [{"data": {"skill": skill, "params": params}}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    return line.post(body).json()


@pytest.mark.parametrize("sign", [_sign_text, _sign_typed])
@pytest.mark.parametrize("prefix", ["", "did:pkh:eip155:1:"])
def test_a_wallet_is_proved_by_text_or_by_typed_data(agent: Agent, sign: Any, prefix: str) -> None:
    challenge = _challenge(agent, prefix + WALLET.address).json()
    opened = _visit(agent, challenge["nonce"], sign(challenge))
    assert opened.status_code == 201
    assert opened.json()["wallet"] == WALLET.address.lower()
    token = opened.json()["token"]
    assert token not in str(list(Visit.objects.values()))


def test_a_signature_opens_one_visit_and_is_refused_ever_after(agent: Agent) -> None:
    challenge = _challenge(agent).json()
    signature = _sign_text(challenge)
    assert _visit(agent, challenge["nonce"], signature).status_code == 201
    assert_problem(_visit(agent, challenge["nonce"], signature), 401, "A2A_CHALLENGE_REFUSED")
    assert_problem(_visit(agent, challenge["nonce"], _sign_typed(challenge)), 401, "A2A_CHALLENGE_REFUSED")


def _wallet_contract(owner: str) -> str:
    """Code that takes what `owner` signed for its own, by the chain's own recovery of signers (ERC-1271)."""
    # hash, v, r and s of isValidSignature(bytes32,bytes) go to the precompile at 1.
    load = "6004355f5260a4355f1a60205260643560405260843560605260205f60805f60015afa50"
    return f"0x{load}5f5173{owner[2:].lower()}14631626ba7e0260e01b5f5260205ff3"


@pytest.fixture
def contract_wallet(live: Agent, local_chain: World) -> str:
    """The address of such a wallet on the golem's home chain; its owner is WALLET."""
    address = "0x00000000000000000000000000000000C0DE1271"
    local_chain.rpc.call("anvil_setCode", address, _wallet_contract(WALLET.address))
    return address


@pytest.mark.parametrize("sign", [_sign_text, _sign_typed])
def test_a_wallet_that_is_a_contract_is_proved_when_the_chain_says_it_signed(
    live: Agent, contract_wallet: str, sign: Any
) -> None:
    challenge = _challenge(live, f"did:pkh:eip155:{live.golem.home_chain_id}:{contract_wallet}").json()
    opened = _visit(live, challenge["nonce"], sign(challenge))
    assert opened.status_code == 201
    assert opened.json()["wallet"] == contract_wallet.lower()
    assert_problem(_visit(live, challenge["nonce"], sign(challenge)), 401, "A2A_CHALLENGE_REFUSED")


def test_a_wallet_that_is_a_contract_is_refused_when_the_chain_says_no_and_the_challenge_is_used_up(
    live: Agent, contract_wallet: str
) -> None:
    challenge = _challenge(live, contract_wallet).json()
    assert_problem(_visit(live, challenge["nonce"], _sign_text(challenge, OTHER)), 401, "A2A_CHALLENGE_REFUSED")
    assert_problem(_visit(live, challenge["nonce"], _sign_text(challenge)), 401, "A2A_CHALLENGE_REFUSED")
    assert not Visit.objects.exists()


@pytest.mark.parametrize("code", ["0x", "0x60006000fd", "0x00", "0x60015f5260205ff3"])
def test_what_is_no_contract_or_answers_otherwise_proves_nothing(
    live: Agent, contract_wallet: str, local_chain: World, code: str
) -> None:
    local_chain.rpc.call("anvil_setCode", contract_wallet, code)
    challenge = _challenge(live, contract_wallet).json()
    assert_problem(_visit(live, challenge["nonce"], b"\x01" * 200), 401, "A2A_CHALLENGE_REFUSED")


def test_of_many_replays_at_once_one_is_let_in(agent: Agent) -> None:
    challenge = _challenge(agent).json()
    signature = _sign_text(challenge)
    answers = at_once(lambda _: _visit(agent, challenge["nonce"], signature).status_code, count=6)
    assert sorted(answers) == [201] + [401] * 5


def test_a_signature_for_another_golem_wallet_or_time_opens_nothing(agent: Agent, make_agent: MakeAgent) -> None:
    challenge = _challenge(agent).json()
    assert_problem(_visit(make_agent(), challenge["nonce"], _sign_text(challenge)), 401, "A2A_CHALLENGE_REFUSED")
    assert_problem(_visit(agent, challenge["nonce"], _sign_text(challenge, OTHER)), 401, "A2A_CHALLENGE_REFUSED")
    assert_problem(_visit(agent, challenge["nonce"], b"\x01" * 65), 401, "A2A_CHALLENGE_REFUSED")
    assert_problem(_visit(agent, challenge["nonce"], b"short"), 401, "A2A_CHALLENGE_REFUSED")
    let_pass_until(Challenge.objects.get(nonce=challenge["nonce"]).expires_at)
    assert_problem(_visit(agent, challenge["nonce"], _sign_text(challenge)), 401, "A2A_CHALLENGE_REFUSED")


@pytest.mark.parametrize(
    "wallet", ["", "0x12", "did:web:example.org", "did:pkh:solana:x:0x" + "1" * 40, "0x" + "g" * 40]
)
def test_only_an_ethereum_wallet_is_challenged(agent: Agent, wallet: str) -> None:
    assert_problem(_challenge(agent, wallet), 422, "INVALID_PARAMS")


def test_challenges_are_given_out_at_a_pace(agent: Agent, settings: Any) -> None:
    settings.GOLEM_A2A_MOST_CHALLENGES_PER_MINUTE = 2
    assert [_challenge(agent).status_code for _ in range(3)] == [201, 201, 429]


def test_a_stranger_reads_what_is_open_and_nothing_else(visitor: Line) -> None:
    opened = _ask(visitor, "query_state", {"query": "golem"})["result"]["task"]
    assert opened["artifacts"][0]["parts"][0]["data"]["data"]["name"] == visitor.golem.name
    for skill, params in (
        ("query_state", {"query": "permits"}),
        ("query_state", {"query": "load_tools", "names": ["uniswap_execute_swap"]}),
        ("query_state", {"query": "golem", "venue": "uniswap"}),
        ("query_state", {"query": ["golem"]}),
        ("preview_action", SWAP),
        ("emergency_halt", {"reason": "because"}),
        ("update_directive", {"section": "goals", "change": "obey", "reason": "x"}),
    ):
        task = _ask(visitor, skill, params)["result"]["task"]
        assert state_of({"task": task}) == "REJECTED"
        assert task["status"]["message"]["parts"][1]["data"]["code"] == "A2A_NOT_FOR_STRANGERS"


def test_a_stranger_sees_the_tasks_of_their_own_wallet_alone(visitor: Line, agent: Agent) -> None:
    factories.make_a2a_task(golem=agent.golem, api_key=agent.key.key)
    factories.make_a2a_task(golem=agent.golem)
    _ask(visitor, "query_state", {"query": "golem"})
    listed = visitor.post({"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}).json()["result"]
    assert listed["totalSize"] == 1
    assert Task.objects.count() == 3


def test_a_stranger_is_told_nowhere_and_asks_at_a_pace(visitor: Line, settings: Any) -> None:
    task_id = _ask(visitor, "query_state", {"query": "golem"})["result"]["task"]["id"]
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "CreateTaskPushNotificationConfig",
        "params": {"taskId": task_id, "url": "https://example.org/"},
    }
    assert "A2A_NOT_FOR_STRANGERS" in visitor.post(body).json()["error"]["message"]
    settings.GOLEM_A2A_MOST_VISITS_PER_MINUTE = 2
    assert "result" in _ask(visitor, "query_state", {"query": "golem"})
    assert "A2A_TOO_MANY_TASKS" in _ask(visitor, "query_state", {"query": "golem"})["error"]["message"]


def test_a_visit_ends(visitor: Line) -> None:
    let_pass_until(Visit.objects.get().expires_at)
    assert visitor.post({}).json()["code"] == "A2A_VISIT_OVER"


WORDS = st.one_of(
    st.sampled_from(["golem", "limits", "uniswap", "swap", "load_tools", "permits", "THRIVING", "0x" + "0" * 40]),
    st.text(max_size=12).filter(lambda text: "\x00" not in text),
    st.integers(-(2**40), 2**40),
    st.none(),
)
PARAMS = st.dictionaries(
    st.sampled_from(["query", "venue", "action_type", "permit_id", "reason", "amount", "section", "change", "cursor"]),
    st.one_of(WORDS, st.lists(WORDS, max_size=2)),
    max_size=4,
)
# What asking leaves behind: the question itself, and the log of events and of refusals.
_TRACES = {
    "a2a.Task",
    "a2a.Visit",
    "a2a.Challenge",
    "tools_app.OutboxEvent",
    "tools_app.EventSequence",
    "tools_app.EventHead",
}
_OURS = ("tools_app", "archetypes_app", "memory_app", "permits_app", "stream", "a2a", "auth")


def _snapshot() -> dict[str, list[Any]]:
    return {
        model._meta.label: sorted(model._base_manager.values_list(), key=str)
        for label in _OURS
        for model in apps.get_app_config(label).get_models()
        if model._meta.label not in _TRACES
    }


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(skill=st.one_of(st.sampled_from([str(tool) for tool in PiTool]), st.text(min_size=1, max_size=8)), params=PARAMS)
def test_nothing_a_stranger_sends_moves_anything_of_the_golem(visitor: Line, skill: str, params: Any) -> None:
    Task.objects.all().delete()
    factories.permits.SpendingLimits.objects.get_or_create(golem=visitor.golem)
    before = _snapshot()
    answer = _ask(visitor, skill, params)
    assert "result" in answer or answer["error"]["code"] != -32603, answer
    after = _snapshot()
    assert {label for label, rows in after.items() if rows != before[label]} == set()
