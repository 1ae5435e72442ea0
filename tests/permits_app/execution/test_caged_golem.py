"""A golem behind its cage: previewed and committed through it on the local chain, and attacked past the server."""

from __future__ import annotations

import json
import threading
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from eth_utils.crypto import keccak
from web3 import Web3
from web3.exceptions import ContractCustomError

from archetypes_app.toolset import view_golem
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.world.bindings import PARTS
from memory_app.models import Episode
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.actions.remember_outcome import remember_outcome
from permits_app.actions.stage_key import stage_key
from permits_app.custody.signing_route import carries_its_batch, find_route
from permits_app.errors import CageWouldRefuse, SessionNotActive, SignerUnavailable
from permits_app.execution.revocation import revoke_standing
from permits_app.halts.resume import resume_golem
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord, SigningKey, SpendEntry
from permits_app.models.signing_key import KeyState
from permits_app.models.spending import SpendState
from permits_app.permits.permit_hashes import hash_plan
from permits_app.permits.plan_store import decode_calls
from permits_app.policy_cage.contract import (
    PERMIT2,
    Limit,
    encode_acknowledge_drawdown,
    encode_execute,
    encode_propose,
    encode_resume,
    encode_set_session,
    limit_rule,
)
from permits_app.policy_cage.safe_tx import (
    DISABLE_MODULE,
    ZERO_ADDRESS,
    SafeTx,
    encode_exec_transaction,
    hash_safe_tx,
    join_signatures,
)
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import USD, CagedGolem
from tests.proof.caged.engines import CHAIN_ID, sign_raw
from tests.proof.caged.safe import CagedSafe, sign_digest
from tools_app import runner
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.errors import InsufficientBalance
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.toolkit.plan import Call
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

APPROVE = "function approve(address spender, uint256 amount)"
TRANSFER = "function transfer(address to, uint256 amount)"


@pytest.fixture
def caged(live_golem: LiveGolem) -> CagedGolem:
    return CagedGolem(live_golem)


def test_a_swap_through_the_cage_moves_what_its_permit_predicted_in_one_transaction(caged: CagedGolem) -> None:
    before = {symbol: caged.balance(symbol) for symbol in ("USDC", "WETH")}
    answer = caged.live.preview()
    predicted = {each["symbol"]: int(each["raw"]) for each in answer["expected_outcome"]["balance_deltas"]}
    done = caged.live.commit(answer["permit_id"])
    moved = {symbol: caged.balance(symbol) - before[symbol] for symbol in before}
    assert done["status"] == "COMMITTED", done
    assert {symbol: predicted[symbol] for symbol in moved} == moved
    assert moved["USDC"] == -500 * USD
    permit = ActionPermit.objects.get(pk=answer["permit_id"])
    outcome = OutcomeRecord.objects.get(permit=permit)
    assert outcome.is_verified, outcome.findings
    assert abs(outcome.gas_used - outcome.gas_expected) * 100 <= 5 * outcome.gas_used
    row = OutboundTransaction.objects.get(permit=permit)
    assert (row.sender, row.to, row.value_wei) == (caged.key.address, caged.mirror.contract, "0")


def test_the_bytes_that_were_simulated_are_those_that_were_signed(caged: CagedGolem) -> None:
    permit = caged.live.permit(caged.live.preview()["permit_id"])
    assert (permit.account, permit.signer) == (caged.safe.address, caged.key.address)
    assert len(permit.batch) == 2
    assert permit.calls[0]["data"] == "0x" + encode_execute(decode_calls(permit.batch)).hex()
    assert carries_its_batch(permit)
    caged.live.commit(str(permit.pk))
    row = OutboundTransaction.objects.get(permit=permit)
    sent = caged.world.rpc.call("eth_getTransactionByHash", row.tx_hash)
    assert sent["input"] == permit.calls[0]["data"]
    assert sent["to"].lower() == caged.mirror.contract.lower()


def test_gas_is_the_session_keys_and_the_safe_pays_none(caged: CagedGolem) -> None:
    coins = {who: caged.safe.engine.balance(who) for who in (caged.safe.address, caged.key.address)}
    done = caged.live.commit(caged.live.preview()["permit_id"])
    fee = int(done["result"]["actual_outcome"]["fee_wei"])
    assert caged.safe.engine.balance(caged.safe.address) == coins[caged.safe.address]
    assert caged.safe.engine.balance(caged.key.address) == coins[caged.key.address] - fee


def test_a_session_key_without_coins_for_gas_is_told_so(caged: CagedGolem) -> None:
    caged.safe.engine.give_coins(caged.key.address, 10**9)
    with pytest.raises(InsufficientBalance, match="signing key"):
        caged.live.preview()


def test_the_ledger_settles_what_left_the_safe(caged: CagedGolem) -> None:
    answer = caged.live.preview()
    caged.live.commit(answer["permit_id"])
    entry = SpendEntry.objects.get(permit_id=answer["permit_id"])
    assert entry.state == SpendState.SETTLED
    assert entry.settled_micro_usd is not None
    assert 500 * USD <= entry.settled_micro_usd <= entry.reserved_micro_usd


def test_the_session_keys_nonces_are_reserved_one_after_the_other(caged: CagedGolem) -> None:
    for _ in range(3):
        assert caged.live.commit(caged.live.preview()["permit_id"])["status"] == "COMMITTED"
        caged.sync()
    sent = OutboundTransaction.objects.filter(sender=caged.key.address).order_by("nonce")
    assert list(sent.values_list("nonce", flat=True)) == [0, 1, 2]


def test_what_the_contract_would_refuse_is_refused_in_the_preview_with_its_own_error(caged: CagedGolem) -> None:
    caged.appoint(caged.key, budget=400 * USD)
    with pytest.raises(CageWouldRefuse) as refused:
        caged.live.preview()
    assert refused.value.data["error"] == "SessionBudgetExceeded"
    assert int(refused.value.data["values"][0]) >= 500 * USD
    assert int(refused.value.data["values"][1]) == 400 * USD


def test_a_permit_of_a_key_that_was_replaced_is_not_signed(caged: CagedGolem) -> None:
    answer = caged.live.preview()
    other = stage_key(golem=caged.live.golem, reason="rotation", actor="system:test", now=clock.now())
    caged.world.fund(other.address, 10**18)
    caged.appoint(other)
    done = caged.live.commit(answer["permit_id"])
    assert (done["status"], done["problem"]["code"]) == ("BLOCKED", "POLICY_CHANGED")
    assert not OutboundTransaction.objects.filter(permit_id=answer["permit_id"]).exists()
    assert caged.live.commit(caged.live.preview()["permit_id"])["status"] == "COMMITTED"
    states = {key.address: key.state for key in SigningKey.objects.filter(golem=caged.live.golem)}
    assert states[other.address] == KeyState.ACTIVE and states[caged.key.address] == KeyState.DROPPED


def test_a_session_that_the_owners_ended_stops_the_golem_before_anything_is_signed(caged: CagedGolem) -> None:
    answer = caged.live.preview()
    data = encode_set_session(key=ZERO_ADDRESS, expires_at=0, operations=0, budget_micro_usd=0)
    caged.safe.owner_call(caged.mirror.contract, data)
    caged.sync()
    with pytest.raises(SessionNotActive):
        caged.live.preview()
    assert caged.live.commit(answer["permit_id"])["status"] == "BLOCKED"


def test_a_cage_that_the_safe_no_longer_acts_through_is_not_signed_for(caged: CagedGolem) -> None:
    data = encode_call(DISABLE_MODULE, "0x" + "00" * 19 + "01", caged.mirror.contract)
    caged.safe.owner_call(caged.safe.address, data)
    caged.sync()
    with pytest.raises(SignerUnavailable, match="no module"):
        caged.live.preview()


def test_a_plan_changed_in_the_database_is_never_signed(caged: CagedGolem) -> None:
    answer = caged.live.preview()
    permit = caged.live.permit(answer["permit_id"])
    thief = caged.world.actors.traders[0].address
    batch = [{**permit.batch[0], "to": thief}, *permit.batch[1:]]
    for change in ({"batch": batch}, {"acts_for": thief}, {"signer": thief}):
        kept = {name: getattr(permit, name) for name in change}
        ActionPermit.objects.filter(pk=permit.pk).update(**change)
        assert hash_plan(ActionPermit.objects.get(pk=permit.pk)) != permit.plan_hash
        ActionPermit.objects.filter(pk=permit.pk).update(**kept)
    ActionPermit.objects.filter(pk=permit.pk).update(batch=batch)
    assert not carries_its_batch(ActionPermit.objects.get(pk=permit.pk))
    done = caged.live.commit(answer["permit_id"])
    assert (done["status"], done["problem"]["code"]) == ("BLOCKED", "PLAN_HASH_MISMATCH")


def test_an_owners_own_transaction_in_the_same_block_is_not_taken_for_the_golems(caged: CagedGolem) -> None:
    """Both move the Safe's USDC in one block; the outcome follows the receipt, and says the balances cannot tell."""
    answer = caged.live.preview()
    caged.world.rpc.call("evm_setAutomine", False)
    try:
        usdc = caged.world.tokens["USDC"].address
        tx = SafeTx(to=usdc, data=encode_call(TRANSFER, caged.safe.owners[0].address, 7 * USD), nonce=caged.safe.nonce)
        digest = hash_safe_tx(tx, safe=caged.safe.address, chain_id=CHAIN_ID)
        owner = caged.safe.owners[0]
        signed = join_signatures({str(owner.address): sign_digest(owner, digest)})
        nonce = int(caged.world.rpc.call("eth_getTransactionCount", owner.address, "latest"), 16)
        raw = sign_raw(owner, caged.safe.address, encode_exec_transaction(tx, signatures=signed), 0, nonce)
        caged.world.rpc.send_raw(raw)
        caged.live.start(answer["permit_id"])
        worker = threading.Thread(target=mine_when_two_wait, args=(caged.world.connect(),))
        worker.start()
        done = caged.live.work(answer["permit_id"])
        worker.join()
    finally:
        caged.world.rpc.call("evm_setAutomine", True)
    assert done is not None and done["status"] == "COMMITTED"
    outcome = OutcomeRecord.objects.get(permit_id=answer["permit_id"])
    assert outcome.findings == ["no balances tell what this permit moved: it is judged by its receipts alone"]
    assert not outcome.is_verified
    [usdc_delta] = [each for each in outcome.actual["balance_deltas"] if each["symbol"] == "USDC"]
    assert usdc_delta["raw"] == str(-500 * USD)


def mine_when_two_wait(rpc: Any) -> None:
    deadline = clock.Deadline.after_ms(60_000)
    while not deadline.is_over:
        if int(rpc.call("txpool_status")["pending"], 16) >= 2:
            rpc.call("evm_mine")
            return
        threading.Event().wait(0.01)
    raise AssertionError("the two transactions never waited together")


def test_a_halt_takes_allowances_back_through_the_cage(caged: CagedGolem) -> None:
    usdc, router = caged.world.tokens["USDC"].address, caged.world.contracts["uniswap_v3_swap_router_02"]
    approve = Call(usdc, encode_call(APPROVE, router, 77 * USD), 0, "left over")
    assert caged.send_past_the_server(caged.steal_key(), (approve,)).succeeded
    caged.sync()
    report = halt_golem(golem=caged.live.golem, reason="drill", actor="system:test", now=clock.now())
    keys = {step["step"].partition(" ")[0]: step["keys"] for step in report["steps"] if "keys" in step}
    assert keys["signing"] == [caged.key.address]
    caged.live.golem.refresh_from_db()
    [told] = revoke_standing(
        golem=caged.live.golem,
        epoch=1,
        chain_id=CHAIN_ID,
        pairs=[(usdc, router)],
        actor="system:test",
        now=clock.now(),
    )
    assert (told["was"], told["outcome"]) == (str(77 * USD), "COMMITTED")
    left = caged.world.rpc.read(usdc, "allowance(address,address)", caged.safe.address, router, returns="(uint256)")
    assert left in (0, (0,), [0])


def test_a_halt_drops_the_session_key_when_its_steps_are_done_and_resuming_brings_it_back(caged: CagedGolem) -> None:
    golem = caged.live.golem
    epoch = halt_golem(golem=golem, reason="drill", actor="system:test", now=clock.now())["epoch"]
    caged.key.refresh_from_db()
    assert caged.key.state == KeyState.ACTIVE, "the steps on the chain are signed with it"
    steps = carry_out_halt(golem_id=golem.pk, epoch=epoch, now=clock.now())
    assert steps[-1]["keys"] == [caged.key.address]
    caged.sync()
    caged.key.refresh_from_db()
    assert caged.key.state == KeyState.DROPPED, "the mirror does not bring it back"
    golem.refresh_from_db()
    with pytest.raises(SessionNotActive):
        find_route(golem=golem, chain=None)
    resume_golem(golem=golem, reason="all is well", actor="system:test", now=clock.now())
    caged.key.refresh_from_db()
    assert caged.key.state == KeyState.ACTIVE
    assert caged.live.commit(caged.live.preview()["permit_id"])["status"] == "COMMITTED"


def test_the_permits_page_tells_the_plan_and_what_carries_it(caged: CagedGolem, admin_client: Client) -> None:
    answer = caged.live.preview()
    caged.live.commit(answer["permit_id"])
    text = admin_client.get(f"/admin/permits_app/actionpermit/{answer['permit_id']}/change/").content.decode()
    assert "exactInputSingle" in text or "multicall" in text
    assert caged.safe.address in text and caged.key.address in text
    assert "unknown function" not in text


def test_the_wallets_state_names_the_safe_and_its_session(caged: CagedGolem) -> None:
    tool = REGISTRY.get("wallet_get_status")
    assert isinstance(tool, ReadTool)
    told = runner.run_read(tool=tool, params={}, golem=view_golem(caged.live.golem), now=clock.now()).as_dict()["data"]
    assert (told["account_type"], told["address"]) == ("safe", caged.safe.address)
    assert told["active_session_keys"] == 1
    assert told["provider"] == "policy_cage"


def test_an_outcome_is_remembered_with_the_accounts_own_calls(caged: CagedGolem) -> None:
    answer = caged.live.preview()
    caged.live.commit(answer["permit_id"])
    episode_id = remember_outcome(permit_id=UUID(answer["permit_id"]), now=clock.now())
    assert episode_id is not None
    calls = Episode.objects.get(pk=episode_id).calls
    assert len(calls) == 2 and {call["sender"] for call in calls} == {caged.safe.address}


# ---- the server is bypassed ------------------------------------------------------------------------------------------


def swap_calls(caged: CagedGolem, amount: int) -> tuple[Call, ...]:
    usdc, weth = caged.world.tokens["USDC"].address, caged.world.tokens["WETH"].address
    router = caged.world.contracts["uniswap_v3_swap_router_02"]
    single = encode_call(v3.EXACT_IN_SINGLE, (usdc, weth, 500, caged.safe.address, amount, 0, 0))
    return (
        Call(usdc, encode_call(APPROVE, router, amount), 0, "approve"),
        Call(router, encode_call(v3.MULTICALL_UNTIL, 2**40, [single]), 0, "swap"),
    )


def test_with_the_stolen_session_key_and_no_server_every_bound_still_holds(caged: CagedGolem) -> None:
    """The thief has the very key of the keystore and plain web3 with the contract's ABI; nothing of ours judges."""
    thief, loot = caged.steal_key(), caged.world.actors.traders[1].address
    usdc, weth = caged.world.tokens["USDC"].address, caged.world.tokens["WETH"].address
    router, cage, safe = caged.world.contracts["uniswap_v3_swap_router_02"], caged.mirror.contract, caged.safe.address
    away = encode_call(v3.EXACT_IN_SINGLE, (usdc, weth, 500, loot, 1_000 * USD, 0, 0))
    attacks: dict[str, tuple[Call, ...]] = {
        "CallNotAllowed": (Call(usdc, encode_call(TRANSFER, loot, USD), 0, ""),),
        "SpenderNotAllowed": (Call(usdc, encode_call(APPROVE, loot, USD), 0, ""),),
        "AllowanceTooLarge": swap_calls(caged, 11_000 * USD),
        "TargetForbidden": (Call(safe, encode_call(DISABLE_MODULE, loot, cage), 0, ""),),
        "SelectorForbidden": (Call(PERMIT2, encode_call(TRANSFER, loot, USD), 0, ""),),
        "TargetHasNoCode": (Call(loot, b"", 1, ""),),
        "CoinNotApproved": (Call(router, b"", 1, ""),),
        "CallCount": (),
        "ConditionNotMet": (
            Call(usdc, encode_call(APPROVE, router, 1_000 * USD), 0, ""),
            Call(router, encode_call(v3.MULTICALL_UNTIL, 2**40, [away]), 0, ""),
        ),
    }
    before = {symbol: caged.balance(symbol) for symbol in ("USDC", "WETH")}
    for wanted, calls in attacks.items():
        assert attack_by_web3(caged, thief, calls) == wanted
    assert {symbol: caged.balance(symbol) for symbol in before} == before


def test_the_stolen_key_may_do_what_the_golem_may_until_its_budget_and_operations_are_used_up(
    caged: CagedGolem,
) -> None:
    thief = caged.steal_key()
    caged.appoint(caged.key, operations=2, budget=5_000 * USD)
    assert caged.send_past_the_server(thief, swap_calls(caged, 3_000 * USD)).succeeded
    assert refusal_of(caged, thief, swap_calls(caged, 3_000 * USD)) == "SessionBudgetExceeded"
    assert caged.send_past_the_server(thief, swap_calls(caged, 1_000 * USD)).succeeded
    assert refusal_of(caged, thief, swap_calls(caged, 1 * USD)) == "NoOperationsLeft"


def test_the_stolen_key_changes_no_rule_and_no_session(caged: CagedGolem) -> None:
    thief, cage = caged.steal_key(), caged.mirror.contract
    own = encode_set_session(key=thief.address, expires_at=2**40, operations=2**31, budget_micro_usd=2**100)
    looser = encode_propose([limit_rule(Limit.MAX_LOSS_BPS, 1_000)])
    for data in (own, looser, encode_resume(), encode_acknowledge_drawdown()):
        caged.safe.engine._next = max(caged.safe.engine._next, caged.safe.engine._head_time() + 1)
        sent = caged.safe.engine.send(thief, cage, data)
        assert CagedSafe.error(None, sent)[0] == "NotTheAccount"  # type: ignore[arg-type]


def test_when_its_time_is_over_the_stolen_key_is_worth_nothing(caged: CagedGolem) -> None:
    thief = caged.steal_key()
    caged.safe.engine.advance(86_401)
    sent = caged.safe.engine.send(thief, caged.mirror.contract, encode_execute(swap_calls(caged, USD)))
    assert CagedSafe.error(None, sent)[0] == "SessionExpired"  # type: ignore[arg-type]


def refusal_of(caged: CagedGolem, thief: Any, calls: tuple[Call, ...]) -> str:
    sent = caged.send_past_the_server(thief, calls)
    assert not sent.succeeded
    return str(CagedSafe.error(None, sent)[0])  # type: ignore[arg-type]


def attack_by_web3(caged: CagedGolem, thief: Any, calls: tuple[Call, ...]) -> str:
    """The name of the contract's error, after the transaction was really mined and failed."""
    w3 = Web3(Web3.HTTPProvider(caged.world.rpc_url))
    abi = json.loads((CHECKOUT / "contracts" / "out" / "PolicyCage.json").read_text())["abi"]
    cage = w3.eth.contract(address=w3.to_checksum_address(caged.mirror.contract), abi=abi)
    execute = cage.functions.execute([(call.to, call.value, call.data) for call in calls])
    transaction = execute.build_transaction(
        {  # type: ignore[arg-type]
            "from": thief.address,
            "nonce": w3.eth.get_transaction_count(thief.address),
            "gas": 5_000_000,
            "maxFeePerGas": 10**11,
            "maxPriorityFeePerGas": 10**9,
        }
    )
    sent = w3.eth.send_raw_transaction(thief.sign_transaction(transaction).raw_transaction)
    receipt = w3.eth.wait_for_transaction_receipt(sent)
    assert receipt["status"] == 0
    with pytest.raises(ContractCustomError) as refused:
        execute.call({"from": thief.address}, block_identifier=receipt["blockNumber"])
    selector = str(refused.value.data)[:10]
    # The cage's parts run as the cage, and refuse in words of their own.
    folder = CHECKOUT / "contracts" / "out"
    parts = [json.loads((folder / f"{part}.json").read_text())["abi"] for part in PARTS["PolicyCage"]]
    errors = [each for entries in (abi, *parts) for each in entries if each["type"] == "error"]
    named = {
        "0x" + keccak(text=f"{each['name']}({','.join(one['type'] for one in each['inputs'])})").hex()[:8]: each["name"]
        for each in errors
    }
    return str(named[selector])
