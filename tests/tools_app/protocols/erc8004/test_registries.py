"""What the registries themselves refuse and forget, and what a plan leaves for the chain to say."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.rpc import call_data
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import call_tool, make_context, report_of
from tests.tools_app.protocols.erc8004.registries import ETH, GIVE, act, as_data, ask, register, registry, speak
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError
from tools_app.protocols.erc8004 import addresses
from tools_app.protocols.erc8004.addresses import CHAINS, VALIDATION_CHAINS, deployments
from tools_app.protocols.erc8004.protocol import PROTOCOL
from tools_app.simulation.rights import find_right
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import LogEntry

pytestmark = pytest.mark.protocols("erc8004")
REGISTRATION = '{"tool_endpoint": "https://tools.example/mcp", "ens": "watch.eth", "x402_support": true}'
OTHER = "0x" + "33" * 20


def is_refused(chain: World, account: Any, key: str, signature: str, *args: Any) -> bool:
    """Whether a transaction to a registry reverts."""
    data = call_data(signature, *args)
    return bool(chain.send(account, registry(key), data, gas=1_000_000)["status"] == "0x0")


def test_nobody_rates_himself_neither_as_owner_nor_as_whom_the_owner_approved(chain: World) -> None:
    owner, friend, operator, client = (chain.new_account(ETH) for _ in range(4))
    agent_id = register(chain, owner)
    number = int(agent_id.partition(":")[2])
    chain.transact(owner, registry("identity"), "approve(address,uint256)", friend.address, number)
    chain.transact(owner, registry("identity"), "setApprovalForAll(address,bool)", operator.address, True)
    for each in (owner, friend, operator):
        assert is_refused(chain, each, "reputation", GIVE, number, 100, 0, "starred", "", "", "", bytes(32))
        with pytest.raises(GolemError) as refused:
            call_tool(
                make_context(chain, address=each.address), "identity_submit_feedback", agent_id=agent_id, score=500
            )
        assert refused.value.code == "OWN_AGENT_FEEDBACK"
    assert not is_refused(chain, client, "reputation", GIVE, number, 100, 0, "starred", "", "", "", bytes(32))


def test_an_agent_that_changes_hands_forgets_its_wallet_and_who_was_approved(chain: World) -> None:
    owner, friend = chain.new_account(ETH), chain.new_account(ETH)
    agent_id = register(chain, owner)
    number = int(agent_id.partition(":")[2])
    assert ask(chain, "identity_get_agent_profile", agent_id=agent_id)["wallet"] == owner.address
    chain.transact(owner, registry("identity"), "approve(address,uint256)", friend.address, number)
    act(chain, owner, "identity_transfer_ownership", agent_id=agent_id, recipient=OTHER)
    told = ask(chain, "identity_get_agent_profile", agent_id=agent_id)
    assert (told["owner"], told["wallet"]) == (OTHER, None)
    assert is_refused(chain, friend, "identity", "setAgentURI(uint256,string)", number, "")
    assert "it has no wallet of its own set" in str(ask(chain, "identity_evaluate_agent_trust", agent_id=agent_id))


def test_the_key_of_the_wallet_is_written_by_a_signature_alone(chain: World) -> None:
    owner = chain.new_account(ETH)
    number = int(register(chain, owner).partition(":")[2])
    write = "setMetadata(uint256,string,bytes)"
    assert is_refused(chain, owner, "identity", write, number, "agentWallet", bytes(20))
    assert not is_refused(chain, owner, "identity", write, number, "anything", bytes(20))


def test_only_the_validator_who_was_asked_answers_and_one_proof_is_asked_once(chain: World) -> None:
    owner, validator = chain.new_account(ETH), chain.new_account(ETH)
    agent_id = register(chain, owner)
    asked = {"agent_id": agent_id, "method": "stake-secured", "proof": "ran it again", "validator": validator.address}
    report = report_of("identity_verify_agent", act(chain, owner, "identity_verify_agent", **asked))
    answer = ("validationResponse(bytes32,uint8,string,bytes32,string)", bytes.fromhex(report["request_hash"][2:]))
    before = ask(chain, "identity_get_validation_status", agent_id=agent_id)
    assert (before["validated"], before["validation_score"], len(before["history"])) == (False, None, 1)
    assert is_refused(chain, owner, "validation", *answer, 100, "", bytes(32), "zkml")
    chain.transact(validator, registry("validation"), *answer, 88, "", bytes(32), "stake-secured")
    after = ask(chain, "identity_get_validation_status", agent_id=agent_id)
    assert (after["validated"], after["validation_score"]) == (True, 88)
    assert after["method"] == {"value": "stake-secured", "untrusted": True}
    with pytest.raises(GolemError) as again:
        call_tool(make_context(chain, address=owner.address), "identity_verify_agent", **asked)
    assert again.value.code == "VALIDATION_REQUESTED"


def test_where_no_validation_registry_is_known_nobody_is_asked(chain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = chain.new_account(ETH)
    asked = {"agent_id": register(chain, owner), "method": "zkml", "proof": "ran it", "validator": OTHER}
    known = addresses._DEPLOYMENTS[CHAIN_ID]
    # As on every main network.
    without = {key: address for key, address in known.items() if key != addresses.VALIDATION}
    monkeypatch.setitem(addresses._DEPLOYMENTS, CHAIN_ID, without)
    with pytest.raises(GolemError) as refused:
        call_tool(make_context(chain, address=owner.address), "identity_verify_agent", **asked)
    assert refused.value.code == "VALIDATION_NOT_OFFERED"


def test_an_approval_of_an_agent_is_a_right_and_is_taken_back_by_its_own_call(chain: World) -> None:
    owner = chain.new_account(ETH)
    number = int(register(chain, owner).partition(":")[2])
    for signature, args in (
        ("approve(address,uint256)", (OTHER, number)),
        ("setApprovalForAll(address,bool)", (OTHER, True)),
    ):
        receipt = chain.send(owner, registry("identity"), call_data(signature, *args), gas=200_000)
        (raw,) = receipt["logs"]
        log = LogEntry(registry("identity"), tuple(raw["topics"]), raw["data"], 0, "", 0)
        right = find_right(0, log, owner.address)
        assert right is not None and right.spender == OTHER
    assert len(PROTOCOL.rights) == 2
    for event in PROTOCOL.rights:
        back, args = event.revoke(registry("identity"), OTHER, str(number))
        taken = chain.send(owner, registry("identity"), "0x" + encode_call(back, *args).hex(), gas=200_000)
        assert taken["status"] == "0x1"
    approved = chain.rpc.read(registry("identity"), "getApproved(uint256)", number, returns="(address)")
    operator = "isApprovedForAll(address,address)"
    still = chain.rpc.read(registry("identity"), operator, owner.address, OTHER, returns="(bool)")
    assert int(str(approved[0]), 16) == 0 and not still[0]


def test_calls_that_no_tool_makes_are_not_read(chain: World) -> None:
    owner = chain.new_account(ETH)
    reader = make_context(chain, address=owner.address).chain()
    calls = (
        ("identity", "approve(address,uint256)", (OTHER, 0), 0, b""),
        ("identity", "setApprovalForAll(address,bool)", (OTHER, True), 0, b""),
        ("identity", "safeTransferFrom(address,address,uint256)", (OTHER, owner.address, 0), 0, b""),
        ("identity", "register(string)", ("",), 1, b""),
        ("identity", "register(string)", ("",), 0, b"\0"),
        ("reputation", "revokeFeedback(uint256,uint64)", (0, 1), 0, b""),
        ("reputation", "register(string)", ("",), 0, b""),
        (
            "validation",
            "validationResponse(bytes32,uint8,string,bytes32,string)",
            (bytes(32), 1, "", bytes(32), ""),
            0,
            b"",
        ),
    )
    assert PROTOCOL.effects is not None
    for key, signature, args, value, more in calls:
        call = Call(registry(key), encode_call(f"function {signature}", *args) + more, value, signature)
        with pytest.raises(UnknownCall):
            PROTOCOL.effects.read(call, earlier=(), account=owner.address, chain=reader, into=Effects())


def test_public_registries_are_those_of_their_makers_list_and_ours_are_labelled() -> None:
    assert CHAIN_ID in PROTOCOL.simulated_on
    main = {chain: deployments(chain) for chain in CHAINS - {CHAIN_ID}}
    assert all(each == main[1] for each in main.values())
    assert VALIDATION_CHAINS == {CHAIN_ID}


def test_one_client_has_one_voice_and_what_is_revoked_is_none(chain: World) -> None:
    owner = chain.new_account(ETH)
    agent_id = register(chain, owner)
    loud = speak(chain, agent_id, 100)
    for _ in range(4):
        speak(chain, agent_id, 100, client=loud)
    quiet = speak(chain, agent_id, 20)
    speak(chain, agent_id, 560, tag1="responseTime")
    told = ask(chain, "identity_get_reputation_summary", agent_id=agent_id)
    assert (told["total_feedback"], told["clients"], told["average_score"]) == (7, 3, 300)
    assert told["beta_distribution"]["alpha"] == "2.200000"
    number = int(agent_id.partition(":")[2])
    chain.transact(quiet, registry("reputation"), "revokeFeedback(uint256,uint64)", number, 1)
    told = ask(chain, "identity_get_reputation_summary", agent_id=agent_id)
    assert (told["total_feedback"], told["average_score"]) == (6, 500)
    assert told["top_providers"][0] == {"client": loud.address, "feedback": 5}


def test_the_twenty_tags_and_ten_clients_that_are_heard_most_are_told(chain: World) -> None:
    agent_id = register(chain, chain.new_account(ETH))
    first = speak(chain, agent_id, 100, tag1="starred", tag2="twice")
    speak(chain, agent_id, 90, tag1="starred", tag2="twice", client=first)
    for number in range(10):
        speak(chain, agent_id, 80, tag1=f"one {number}", tag2=f"two {number}")
    told = ask(chain, "identity_get_reputation_summary", agent_id=agent_id)
    assert (told["total_feedback"], told["clients"]) == (12, 11)
    assert (len(told["tag_breakdown"]), len(told["top_providers"])) == (20, 10)
    assert [(each["tag"]["value"], each["count"]) for each in told["tag_breakdown"][:2]] == [
        ("starred", 2),
        ("twice", 2),
    ]


def test_the_file_on_the_chain_is_what_was_asked_for_and_changes_field_by_field(chain: World) -> None:
    owner = chain.new_account(ETH)
    agent_id = register(chain, owner, registration=REGISTRATION)
    act(chain, owner, "identity_update_metadata", agent_id=agent_id, updates='{"name": "Day watch", "active": false}')
    told = ask(chain, "identity_get_agent_profile", agent_id=agent_id)
    assert (told["name"]["value"], told["active"], told["x402_support"]) == ("Day watch", False, True)
    assert [each["name"]["value"] for each in told["services"]] == ["MCP", "ENS"]
    chain.transact(
        owner, registry("identity"), "setAgentURI(uint256,string)", int(agent_id.partition(":")[2]), "ipfs://x"
    )
    with pytest.raises(GolemError) as refused:
        call_tool(
            make_context(chain, address=owner.address),
            "identity_update_metadata",
            agent_id=agent_id,
            updates='{"active": true}',
        )
    assert refused.value.code == "REGISTRATION_ELSEWHERE"
    assert as_data({})[:5] == "data:"


def test_a_milestone_is_claimed_once_and_not_before_others_spoke(chain: World) -> None:
    owner = chain.new_account(ETH)
    agent_id = register(chain, owner)
    claim = {"agent_id": agent_id, "tier": "silver"}
    with pytest.raises(GolemError) as early:
        call_tool(make_context(chain, address=owner.address), "identity_claim_milestone", **claim)
    assert (early.value.code, early.value.data["points"]) == ("MILESTONE_NOT_REACHED", 10)
    for _ in range(4):
        speak(chain, agent_id, 100)
    act(chain, owner, "identity_claim_milestone", **claim)
    with pytest.raises(GolemError) as again:
        call_tool(make_context(chain, address=owner.address), "identity_claim_milestone", **claim)
    assert "already" in again.value.detail


def test_a_tier_and_what_an_agent_is_eligible_for_follow_from_how_many_spoke(chain: World) -> None:
    asked: dict[str, Any] = {"agent_id": register(chain, chain.new_account(ETH))}
    wanted = {**asked, "min_reputation": 400, "min_clients": 4}
    assert ask(chain, "identity_check_eligibility", **wanted)["eligible"] is False
    for _ in range(4):
        speak(chain, asked["agent_id"], 100)
    told = ask(chain, "identity_get_tier", **asked)
    assert (told["tier"], told["points"], told["next_tier_threshold"]) == ("silver", 50, 100)
    assert ask(chain, "identity_check_eligibility", **wanted)["eligible"] is True
