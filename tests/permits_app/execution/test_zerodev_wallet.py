"""A golem that acts with a Kernel account through ZeroDev's API: real EntryPoint, real Kernel, a bundler of this test.

What is signed is what was simulated and within what was reserved, or nothing is.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from eth_account import Account
from eth_account.messages import encode_defunct

from archetypes_app.models import Golem
from permits_app.actions.stage_key import stage_key
from permits_app.admin.trace_view import build_trace
from permits_app.approvals.approval_statement import describe_permit
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.signer_addresses import list_addresses
from permits_app.custody.signers import choose_signer
from permits_app.custody.signers.base import UnsignedTransaction
from permits_app.custody.signing_route import carries_its_batch
from permits_app.errors import SignerUnavailable, WalletExists
from permits_app.models import (
    ActionPermit,
    OutboundTransaction,
    OutcomeRecord,
    SigningKey,
    SpendEntry,
)
from permits_app.models.signing_key import KeyState
from permits_app.models.transaction import TransactionState
from permits_app.models.wallet import WalletKind
from permits_app.permits.permit_hashes import hash_plan
from permits_app.permits.plan_store import decode_calls
from tests.evm.world import CHAIN_ID
from tests.permits_app.execution.signers.bundler_stand_in import (
    PROJECT_ID,
    Refused,
)
from tests.permits_app.execution.zerodev_golem import USD, ZerodevGolem
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.simulation.select import EngineSetting
from tools_app.standards import zerodev_kernel
from tools_app.standards.user_operation import ENTRY_POINT, decode_operation


def test_a_plan_of_two_calls_is_one_user_operation_and_the_chain_says_what_became_of_it(zerodev: ZerodevGolem) -> None:
    before = {symbol: zerodev.balance(symbol) for symbol in ("USDC", "WETH")}
    coins = zerodev.coins()
    answer = zerodev.live.preview()
    predicted = {each["symbol"]: int(each["raw"]) for each in answer["expected_outcome"]["balance_deltas"]}
    permit = zerodev.live.permit(answer["permit_id"])
    assert len(permit.batch) == 2 and len(permit.calls) == 1
    assert carries_its_batch(permit) and permit.sends_operation
    done = zerodev.live.commit(answer["permit_id"])
    assert done["status"] == "COMMITTED", done
    moved = {symbol: zerodev.balance(symbol) - before[symbol] for symbol in before}
    assert {symbol: predicted[symbol] for symbol in moved} == moved
    assert moved["USDC"] == -500 * USD
    [row] = zerodev.rows(answer["permit_id"])
    assert (row.sender, row.to, row.nonce, row.entry_point) == (zerodev.address, zerodev.address, 0, ENTRY_POINT)
    assert row.tx_hash == decode_operation(bytes.fromhex(row.raw[2:])).hash(chain_id=CHAIN_ID)
    outcome = OutcomeRecord.objects.get(permit_id=answer["permit_id"])
    assert outcome.is_verified, outcome.findings
    assert outcome.actual["tx_hashes"] == zerodev.bundler.carried
    # What it cost is what left the account, its deposit included, to the wei.
    assert coins - zerodev.coins() == int(outcome.fee_wei) == int(row.fee_wei) > 0
    assert zerodev.used_nonces() == 1


def test_the_bytes_that_are_simulated_are_the_bytes_that_are_signed(zerodev: ZerodevGolem) -> None:
    permit = zerodev.live.permit(zerodev.live.preview()["permit_id"])
    assert permit.simulation["sender"] == ENTRY_POINT and permit.acts_for == permit.signer == zerodev.address
    zerodev.live.commit(str(permit.pk))
    [row] = zerodev.rows(str(permit.pk))
    operation = decode_operation(bytes.fromhex(row.raw[2:]))
    [call] = permit.calls
    assert "0x" + operation.call_data.hex() == call["data"]
    assert operation.call_gas_limit == int(call["user_operation"]["call_gas_limit"])
    assert operation.max_fee_per_gas == int(permit.max_fee_per_gas)
    assert operation.total_gas == row.gas_limit <= int(call["gas_limit"])
    digest = encode_defunct(primitive=bytes.fromhex(row.tx_hash[2:]))
    assert Account.recover_message(digest, signature=operation.signature) == zerodev.key.address


def test_both_engines_say_the_same_of_an_operation(zerodev: ZerodevGolem) -> None:
    Golem.objects.filter(pk=zerodev.live.golem.pk).update(simulation_engine=EngineSetting.BOTH)
    permit = zerodev.live.permit(zerodev.live.preview()["permit_id"])
    assert "+" in permit.simulation["engine"] or "both" in permit.simulation["fidelity"], permit.simulation["fidelity"]
    trace = build_trace(permit)
    assert not trace.problem and len(trace.frames) == 1


def test_the_pages_name_the_operation_its_carrier_and_who_pays(zerodev: ZerodevGolem, client: Client) -> None:
    permit_id = zerodev.live.preview()["permit_id"]
    carrier = describe_permit(zerodev.live.permit(permit_id))["carried_by"]
    assert (carrier["account"], carrier["through"]) == (zerodev.address, ENTRY_POINT)
    zerodev.live.commit(permit_id)
    zerodev.live.owner.is_superuser = True
    zerodev.live.owner.save()
    client.force_login(zerodev.live.owner)
    for page in (
        reverse("admin:permits_app_actionpermit_change", args=[permit_id]),
        reverse("admin:permits_app_outboundtransaction_changelist"),
    ):
        shown = client.get(page, follow=True).content.decode()
        assert "user operation" in shown and zerodev.rows(permit_id)[0].tx_hash in shown
        assert zerodev.bundler.carried[0] in shown
    story = client.get(reverse("admin:permits_app_actionpermit_change", args=[permit_id]), follow=True).content.decode()
    # The call's own gas beside the whole operation's would look like a wrong prediction.
    assert "for its call, at most 400,000 gas around it" in story
    assert "Gas, the whole operation" in story


def test_the_permit_binds_who_pays_what_is_called_and_what_it_may_cost(zerodev: ZerodevGolem) -> None:
    permit = zerodev.live.permit(zerodev.live.preview()["permit_id"])
    assert hash_plan(permit) == permit.plan_hash
    [call] = permit.calls
    terms = call["user_operation"]
    for name, value in (("paymaster", "0x" + "11" * 20), ("entry_point", "0x" + "22" * 20), ("call_gas_limit", "1")):
        permit.calls = [{**call, "user_operation": {**terms, name: value}}]
        assert hash_plan(permit) != permit.plan_hash
    permit.calls = [{**call, "gas_limit": str(int(call["gas_limit"]) + 1)}]
    assert hash_plan(permit) != permit.plan_hash
    stolen = zerodev_kernel.build_execute(decode_calls(permit.batch)[:1], account=zerodev.address)
    permit.calls = [{**call, "data": "0x" + stolen.data.hex()}]
    assert not carries_its_batch(permit)


def test_what_the_ledger_reserves_is_every_limit_at_the_cap_and_it_settles_what_was_paid(zerodev: ZerodevGolem) -> None:
    permit_id = zerodev.live.preview()["permit_id"]
    entry = SpendEntry.objects.get(permit_id=permit_id)
    permit = zerodev.live.permit(permit_id)
    [gas] = [part for part in entry.breakdown if part["role"] == "gas"]
    assert int(gas["raw"]) >= int(permit.calls[0]["gas_limit"]) * int(permit.max_fee_per_gas)
    zerodev.live.commit(permit_id)
    entry.refresh_from_db()
    assert 0 < (entry.settled_micro_usd or 0) < entry.reserved_micro_usd


def test_a_paymaster_pays_when_the_permit_names_it_and_the_gas_still_counts(
    zerodev: ZerodevGolem, settings: Any
) -> None:
    settings.GOLEM_ZERODEV_PAYMASTER = zerodev.accounts.paymaster
    coins = zerodev.coins()
    permit_id = zerodev.live.preview()["permit_id"]
    assert zerodev.live.commit(permit_id)["status"] == "COMMITTED"
    assert zerodev.coins() == coins
    outcome = OutcomeRecord.objects.get(permit_id=permit_id)
    assert outcome.is_verified, outcome.findings
    assert int(outcome.fee_wei) > 0 and outcome.actual["paid_by"] == [zerodev.accounts.paymaster]
    [row] = zerodev.rows(permit_id)
    operation = decode_operation(bytes.fromhex(row.raw[2:]))
    assert operation.paymaster == zerodev.accounts.paymaster
    assert operation.total_gas <= int(zerodev.live.permit(permit_id).calls[0]["gas_limit"])


def test_without_coins_a_paymaster_makes_the_difference(zerodev: ZerodevGolem, settings: Any) -> None:
    zerodev.live.world.rpc.call("anvil_setBalance", zerodev.address, "0x0")
    with pytest.raises(Exception, match="of gas needs") as refused:
        zerodev.live.preview()
    assert getattr(refused.value, "code", "") == "INSUFFICIENT_BALANCE"
    settings.GOLEM_ZERODEV_PAYMASTER = zerodev.accounts.paymaster
    assert zerodev.live.commit(zerodev.live.preview()["permit_id"])["status"] == "COMMITTED"


BIG = hex(10**7)
TWISTS: dict[str, tuple[str, Any, str]] = {
    "another chain": ("eth_chainId", lambda _: "0x1", "SIGNER_MISMATCH"),
    "another EntryPoint": ("eth_supportedEntryPoints", lambda _: ["0x" + "11" * 20], "SIGNER_MISMATCH"),
    "a huge estimate": (
        "eth_estimateUserOperationGas",
        lambda a: {**a, "preVerificationGas": BIG},
        "GAS_LIMIT_REFUSED",
    ),
    "an estimate beyond any block": (
        "eth_estimateUserOperationGas",
        lambda a: {**a, "verificationGasLimit": hex(2**200)},
        "SIGNER_MISMATCH",
    ),
    "a negative estimate": (
        "eth_estimateUserOperationGas",
        lambda a: {**a, "preVerificationGas": "-0x1"},
        "SIGNER_MISMATCH",
    ),
    "no gas for the check": (
        "eth_estimateUserOperationGas",
        lambda a: {**a, "verificationGasLimit": "0x64"},
        "SIGNER_UNAVAILABLE",
    ),
    "a price above the cap": (
        "zd_getUserOperationGasPrice",
        lambda a: {"standard": {**a["standard"], "maxFeePerGas": hex(10**15)}},
        "FEE_TOO_LOW",
    ),
    "a price of another shape": ("zd_getUserOperationGasPrice", lambda _: ["0x1"], "SIGNER_MISMATCH"),
}


@pytest.mark.parametrize("case", sorted(TWISTS))
def test_a_bundler_that_lies_before_the_signature_gets_none(zerodev: ZerodevGolem, case: str) -> None:
    method, twist, code = TWISTS[case]
    zerodev.bundler.twist[method] = twist
    done = zerodev.live.commit(zerodev.live.preview()["permit_id"])
    assert (done["status"], done["problem"]["code"]) == ("BLOCKED", code), done
    assert not OutboundTransaction.objects.exists()
    assert "eth_sendUserOperation" not in [method for method, _ in zerodev.bundler.seen]
    zerodev.bundler.twist.clear()
    # Nothing was signed under the nonce, so the next action takes it.
    assert zerodev.live.commit(zerodev.live.preview()["permit_id"])["status"] == "COMMITTED"
    assert OutboundTransaction.objects.get().nonce == 0


def _change_a_byte(data: str) -> str:
    """The same hex with the last byte but one changed by a bit."""
    return f"{data[:-4]}{int(data[-4:-2], 16) ^ 1:02x}{data[-2:]}"


def test_another_paymaster_than_the_permits_gets_no_signature(zerodev: ZerodevGolem, settings: Any) -> None:
    settings.GOLEM_ZERODEV_PAYMASTER = zerodev.accounts.paymaster
    for method in ("pm_getPaymasterStubData", "pm_getPaymasterData"):
        zerodev.bundler.twist = {method: lambda answer: {**answer, "paymaster": "0x" + "11" * 20}}
        done = zerodev.live.commit(zerodev.live.preview()["permit_id"])
        assert done["problem"]["code"] == "SIGNER_MISMATCH"
    zerodev.bundler.twist = {"pm_getPaymasterData": lambda a: {**a, "paymasterPostOpGasLimit": BIG}}
    done = zerodev.live.commit(zerodev.live.preview()["permit_id"])
    assert done["problem"]["code"] == "GAS_LIMIT_REFUSED"
    # Another signature for sure: one that happens to end in the same bytes would be none.
    zerodev.bundler.twist = {
        "pm_getPaymasterData": lambda a: {**a, "paymasterData": _change_a_byte(a["paymasterData"])}
    }
    done = zerodev.live.commit(zerodev.live.preview()["permit_id"])
    assert done["problem"]["code"] == "SIGNER_UNAVAILABLE" and "FailedOp" in done["problem"]["detail"]
    assert not OutboundTransaction.objects.exists()


def test_an_operation_whose_call_fails_is_a_failed_action_in_a_transaction_that_succeeded(
    zerodev: ZerodevGolem,
) -> None:
    permit_id = zerodev.commit_held()
    token = zerodev.live.world.tokens["USDC"].address
    # The account loses its dollars between signature and bundle.
    zerodev.act_as_account(
        token, "transfer(address,uint256)", zerodev.accounts.deployer.address, zerodev.balance("USDC")
    )
    zerodev.bundler.release()
    [carrier] = zerodev.bundler.carried
    assert zerodev.live.world.rpc.call("eth_getTransactionReceipt", carrier)["status"] == "0x1"
    zerodev.live.work(permit_id)
    permit = zerodev.live.permit(permit_id)
    assert permit.status == "REVERTED" and "call 1 reverted" in permit.status_reason
    [row] = zerodev.rows(permit_id)
    assert (row.state, int(row.fee_wei) > 0) == (TransactionState.REVERTED, True)


def test_a_key_that_no_longer_rules_the_account_signs_in_vain(zerodev: ZerodevGolem) -> None:
    permit_id = zerodev.live.preview()["permit_id"]
    zerodev.act_as_account(zerodev_kernel.ECDSA_VALIDATOR, "onInstall(bytes)", bytes.fromhex("11" * 20))
    done = zerodev.live.commit(permit_id)
    assert done["problem"]["code"] == "SIGNER_UNAVAILABLE" and "AA24" in done["problem"]["detail"]
    assert not OutboundTransaction.objects.exists()


def test_the_project_id_is_in_no_row_event_or_text(zerodev: ZerodevGolem, caplog: pytest.LogCaptureFixture) -> None:
    zerodev.live.commit(zerodev.live.preview()["permit_id"])
    zerodev.bundler.fails["eth_estimateUserOperationGas"] = Refused(-32603, f"project {PROJECT_ID} has no credit")
    zerodev.live.commit(zerodev.live.preview(amount="300000000")["permit_id"])
    texts = [
        repr(choose_signer.open_zerodev()),
        str(choose_signer.open_signer(zerodev.address)),
        caplog.text,
        *(str(row.__dict__) for row in ActionPermit.objects.all()),
        *(str(entry.data) for entry in AuditEntry.objects.all()),
        *(str(event.payload) for event in OutboxEvent.objects.all()),
    ]
    assert zerodev.bundler.seen and not [text for text in texts if PROJECT_ID in text or "stranger" in text]


def test_addresses_and_the_key_of_the_account_stay_exportable(zerodev: ZerodevGolem) -> None:
    rows = {(row["role"], row["address"], row["kind"]) for row in list_addresses([zerodev.live.golem])}
    assert ("account", zerodev.address, "ZERODEV") in rows
    assert ("key", zerodev.key.address, "LOCAL_KEYSTORE") in rows
    former = zerodev.address
    other = stage_key(golem=zerodev.live.golem, reason="x", actor="system:test", now=clock.now())
    choice = WalletChoice(kind=WalletKind.LOCAL_KEYSTORE, address=other.address, key=other.address)
    choose_wallet(golem=zerodev.live.golem, choice=choice, actor="system:test", reason="back", now=clock.now())
    assert SigningKey.objects.get(account=former).state == KeyState.DROPPED
    rows = {(row["role"], row["address"], row["state"]) for row in list_addresses([zerodev.live.golem])}
    assert ("account", former, "DROPPED") in rows
    # The account's operations can still be replaced, for its key's file stays.
    assert choose_signer.open_signer(former).address == former


def test_one_key_owns_one_account_here_and_one_account_one_key(zerodev: ZerodevGolem) -> None:
    for address, key in ((Account.create().address, zerodev.key.address), (zerodev.address, Account.create().address)):
        choice = WalletChoice(kind=WalletKind.ZERODEV, address=address, key=key)
        with pytest.raises(WalletExists):
            choose_wallet(golem=zerodev.live.golem, choice=choice, actor="system:test", reason="x", now=clock.now())


def test_a_smart_account_signs_operations_and_no_transaction(zerodev: ZerodevGolem) -> None:
    plain = UnsignedTransaction(CHAIN_ID, 0, "0x" + "11" * 20, 1, b"", 21_000, 10**10, 1)
    with pytest.raises(SignerUnavailable, match="its own user operations"):
        choose_signer.open_signer(zerodev.address).sign(plain)


@pytest.mark.parametrize("change", [{"entry_point": ""}, {"signed_at_block": 1}, {"call_index": 7}, {"raw": "0x00"}])
def test_the_database_keeps_where_signed_bytes_go_and_whose_they_are(
    zerodev: ZerodevGolem, change: dict[str, Any]
) -> None:
    permit_id = zerodev.live.preview()["permit_id"]
    zerodev.live.commit(permit_id)
    [row] = zerodev.rows(permit_id)
    with pytest.raises(IntegrityError, match="signed bytes are never changed"), transaction.atomic():
        OutboundTransaction.objects.filter(pk=row.pk).update(**change)
