"""The gas budget of a permit: limits, and on a rollup the fee for layer one in permit, dollars and ledger."""

from __future__ import annotations

import pytest

from permits_app.hook_rejection import Reject
from permits_app.models import SpendEntry
from permits_app.safety.final_simulation import LIMITS
from permits_app.safety.hooks.simulator import Simulator
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import swap_call
from tests.tools_app.simulation.rollups import as_rollup, put_node_interface, put_oracle, set_l1_price
from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.simulation.rollup_fee import RollupKind

L1_BASE_FEE = 20 * 10**9


@pytest.fixture
def rollup(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> LiveGolem:
    """A golem on an optimistic rollup where a byte of layer one costs 16 gas at 20 gwei."""
    as_rollup(monkeypatch, RollupKind.OP_STACK)
    put_oracle(live_golem.world, l1_base_fee=L1_BASE_FEE, base_fee_scalar=1_000_000)
    return live_golem


def test_the_fee_for_layer_one_is_in_the_permit_its_value_and_the_reservation(
    rollup: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_l1 = rollup.permit(rollup.preview()["permit_id"])
    as_rollup(monkeypatch, RollupKind.NONE)
    without = rollup.permit(rollup.preview(amount="500000001")["permit_id"])

    expected = int(with_l1.expected_outcome["l1_fee_wei"])
    most = int(with_l1.expected_outcome["l1_fee_most_wei"])
    # Two transactions of some 100 and 330 bytes, 4 or 16 gas each, 68 bytes more for a signature.
    assert 3_000 * L1_BASE_FEE < expected < 12_000 * L1_BASE_FEE
    assert most == -(-expected * 12 // 10)
    assert without.expected_outcome["l1_fee_most_wei"] == "0"
    assert int(with_l1.expected_outcome["fee_wei"]) - int(without.expected_outcome["fee_wei"]) > expected * 99 // 100

    entry, plain = (SpendEntry.objects.get(permit=permit) for permit in (with_l1, without))
    gas, plain_gas = (next(p for p in e.breakdown if p["role"] == "gas") for e in (entry, plain))
    for row, permit, l1_fee in ((gas, with_l1, most), (plain_gas, without, 0)):
        limits = sum(int(call["gas_limit"]) for call in permit.calls)
        assert int(row["raw"]) == limits * int(permit.max_fee_per_gas) + l1_fee
    # At the same price of the coin, dollars are proportional to wei but for rounding up.
    assert abs(int(gas["micro_usd"]) * int(plain_gas["raw"]) - int(plain_gas["micro_usd"]) * int(gas["raw"])) <= int(
        gas["raw"]
    )
    assert entry.reserved_micro_usd == with_l1.value_micro_usd
    assert "l1_fee_wei" not in str(with_l1.calls)


def test_arbitrums_charge_is_gas_in_the_limits_and_so_in_the_value_and_the_reservation(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    LIMITS.clear()
    plain = live_golem.permit(live_golem.preview()["permit_id"])
    as_rollup(monkeypatch, RollupKind.ARBITRUM)
    put_node_interface(live_golem.world)
    permit = live_golem.permit(live_golem.preview(amount="500000001")["permit_id"])

    # The simulated interface takes one gas for each byte; like all gas it gets the margin of a fifth.
    extra = [
        int(call["gas_limit"]) - int(before["gas_limit"])
        for call, before in zip(permit.calls, plain.calls, strict=True)
    ]
    sizes = [len(call["data"][2:]) // 2 for call in permit.calls]
    assert all(abs(more - size * 12 // 10) <= 30 for more, size in zip(extra, sizes, strict=True)), (extra, sizes)
    assert permit.expected_outcome["l1_fee_most_wei"] == "0"
    entry = SpendEntry.objects.get(permit=permit)
    gas = next(part for part in entry.breakdown if part["role"] == "gas")
    assert int(gas["raw"]) == sum(int(call["gas_limit"]) for call in permit.calls) * int(permit.max_fee_per_gas)


def test_a_coin_balance_that_covers_gas_but_not_layer_one_is_refused(rollup: LiveGolem) -> None:
    permit = rollup.permit(rollup.preview()["permit_id"])
    gas = sum(int(call["gas_limit"]) for call in permit.calls) * int(permit.max_fee_per_gas)
    most = int(permit.expected_outcome["l1_fee_most_wei"])
    rollup.world.rpc.call("anvil_setBalance", rollup.golem.address, hex(gas + most // 2))

    verdict = Simulator().check(swap_call(rollup))

    assert isinstance(verdict, Reject)
    assert verdict.rule == "simulator.gas"


def test_a_layer_one_that_grew_beyond_what_was_kept_asks_for_a_new_preview(rollup: LiveGolem) -> None:
    permit_id = rollup.preview()["permit_id"]
    set_l1_price(rollup.world, l1_base_fee=2 * L1_BASE_FEE)
    answer = rollup.commit(permit_id)

    assert answer["status"] == "BLOCKED"
    assert "layer one" in rollup.permit(permit_id).status_reason
    assert not rollup.permit(permit_id).transactions.exists()


def test_a_layer_one_that_grew_a_little_still_commits(rollup: LiveGolem) -> None:
    permit_id = rollup.preview()["permit_id"]
    set_l1_price(rollup.world, l1_base_fee=L1_BASE_FEE * 11 // 10)

    assert rollup.commit(permit_id)["status"] == "COMMITTED"


def test_a_rollup_without_its_oracle_gets_no_permit(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    as_rollup(monkeypatch, RollupKind.OP_STACK)
    with pytest.raises(ContractOutputUnexpected):
        live_golem.preview()
