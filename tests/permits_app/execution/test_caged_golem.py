"""A golem behind its cage: previewed and committed through it on the local chain, and attacked past the server."""

from __future__ import annotations

import pytest

from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord
from permits_app.plan_store import decode_calls
from permits_app.policy_cage.contract import encode_execute
from permits_app.signing_route import carries_its_batch
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import USD, CagedGolem


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
