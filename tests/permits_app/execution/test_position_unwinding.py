"""A halt takes liquidity positions back when the owner chose that: for real, once, and only to the golem itself."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.actions.halt import carry_out_halt, halt_golem, list_unfinished_halts
from permits_app.errors import SimulationFailed
from permits_app.execution import position_unwinding
from permits_app.execution.halt_signing_rule import is_halts_own
from permits_app.models import ActionPermit, HaltRecord, HaltSetting, OutcomeRecord
from permits_app.models.permit import PermitStatus
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import OTHER, open_position
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.protocols.uniswap.v3.plans import COLLECT, DECREASE, MULTICALL
from tools_app.standards.concentrated import UINT128_MAX
from tools_app.toolkit.positions import PositionRef


def halt(golem: LiveGolem, **more: Any) -> dict[str, Any]:
    return halt_golem(golem=golem.golem, reason="drained", actor="owner:1", now=clock.now(), **more)


def carry_out(golem: LiveGolem) -> dict[str, Any]:
    steps = carry_out_halt(golem_id=golem.golem.pk, epoch=1, now=clock.now())
    return {step["step"]: step for step in steps}


def id_of(row: dict[str, Any]) -> str:
    """The token id that the ref of a position ends in."""
    return PositionRef.parse(row["position"]).id


def choose_unwinding(golem: LiveGolem) -> None:
    HaltSetting.objects.create(golem=golem.golem, unwind_on_halt=True)


def liquidity_of(golem: LiveGolem, position_id: str) -> int:
    manager = golem.world.contracts["uniswap_v3_position_manager"]
    shape = "(uint96,address,address,address,uint24,int24,int24,uint128,uint256,uint256,uint128,uint128)"
    return int(golem.world.rpc.read(manager, "positions(uint256)", int(position_id), returns=shape)[7])


def test_every_position_is_taken_back_and_each_step_has_its_time(live_golem: LiveGolem, chain: World) -> None:
    first, second = open_position(live_golem, chain), open_position(live_golem, chain, amount1="300000000")
    choose_unwinding(live_golem)
    usdc, weth = live_golem.balance("USDC"), live_golem.balance("WETH")
    assert halt(live_golem)["on_chain"] is True
    steps = carry_out(live_golem)
    told = steps["positions unwound"]
    ids = [id_of(row) for row in told["positions"]]
    assert {row["outcome"] for row in told["positions"]} == {"COMMITTED"}
    assert first in ids and told["at_ms"] >= steps["positions listed for unwinding"]["at_ms"]
    for position_id in {first, second, *ids}:
        assert liquidity_of(live_golem, position_id) == 0
    assert live_golem.balance("USDC") > usdc
    assert live_golem.balance("WETH") > weth
    permits = ActionPermit.objects.filter(tool_name="emergency_halt")
    assert {permit.status for permit in permits} == {PermitStatus.COMMITTED}
    assert permits.count() == len(ids) == 2
    assert all(permit.grant.consumed_at and permit.halt_epoch == 1 for permit in permits)
    assert all(outcome.is_verified for outcome in OutcomeRecord.objects.all())
    assert AuditEntry.objects.filter(event="HaltUnwindingStarted").count() == 2
    assert HaltRecord.objects.get().completed_at is not None


def test_unwinding_asked_for_twice_happens_once(live_golem: LiveGolem, chain: World) -> None:
    open_position(live_golem, chain)
    choose_unwinding(live_golem)
    halt(live_golem)
    first = carry_out(live_golem)
    assert carry_out(live_golem) == first
    assert position_unwinding.unwind_positions(golem=live_golem.golem, epoch=1, actor="t", now=clock.now()) == (
        [],
        True,
    )
    assert ActionPermit.objects.filter(tool_name="emergency_halt").count() == 1


def test_without_the_owners_choice_positions_are_listed_and_stay(live_golem: LiveGolem, chain: World) -> None:
    position_id = open_position(live_golem, chain)
    halt(live_golem)
    steps = carry_out(live_golem)
    assert "positions unwound" not in steps
    assert liquidity_of(live_golem, position_id) > 0
    assert not ActionPermit.objects.exists()


def test_a_drill_lists_what_it_would_unwind_and_unwinds_nothing(live_golem: LiveGolem, chain: World) -> None:
    position_id = open_position(live_golem, chain)
    choose_unwinding(live_golem)
    sent = live_golem.mined_nonce()
    report = halt(live_golem, is_drill=True)
    told = next(step for step in report["steps"] if step["step"] == "positions would be unwound")
    assert [id_of(row) for row in told["positions"]] == [position_id]
    assert liquidity_of(live_golem, position_id) > 0
    assert live_golem.mined_nonce() == sent
    assert not HaltRecord.objects.exists()


def test_a_position_that_fails_keeps_no_other_from_being_unwound_and_is_tried_again(
    live_golem: LiveGolem, chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = open_position(live_golem, chain)
    open_position(live_golem, chain, amount1="300000000")
    choose_unwinding(live_golem)
    halt(live_golem)
    unwind = position_unwinding._take_step

    def fail_for_one(golem: Any, epoch: int, position: Any, *more: Any, **about: Any) -> ActionPermit:
        if position.ref.id == failing:
            raise SimulationFailed("not now")
        return unwind(golem, epoch, position, *more, **about)

    monkeypatch.setattr(position_unwinding, "_take_step", fail_for_one)
    told = {id_of(row): row for row in carry_out(live_golem)["positions unwound"]["positions"]}
    assert told[failing]["failed"] == "SAFETY_SIMULATION_FAILED"
    assert [row["outcome"] for key, row in told.items() if key != failing] == ["COMMITTED"]
    assert list_unfinished_halts() == [(live_golem.golem.pk, 1)]
    monkeypatch.setattr(position_unwinding, "_take_step", unwind)
    assert [id_of(row) for row in carry_out(live_golem)["positions unwound"]["positions"]] == [failing]
    assert liquidity_of(live_golem, failing) == 0
    assert list_unfinished_halts() == []


@pytest.mark.parametrize(
    ("earlier", "is_tried"), [("RR", True), ("RRR", False), ("RRRCRR", True), ("RRC", True), ("CRRR", False)]
)
def test_what_reverted_three_times_in_a_row_is_left_to_the_owner_and_a_success_forgets_what_failed_before(
    live_golem: LiveGolem, chain: World, earlier: str, is_tried: bool
) -> None:
    position_id = open_position(live_golem, chain)
    template = live_golem.permit(live_golem.preview(amount="100000000")["permit_id"])
    choose_unwinding(live_golem)
    halt(live_golem)
    states = {"R": PermitStatus.REVERTED, "C": PermitStatus.COMMITTED}
    for index, letter in enumerate(earlier):
        template.pk, template.id, template._state.adding = None, ActionPermit._meta.pk.get_default(), True
        template.tool_name, template.action_type, template.halt_epoch = (
            "emergency_halt",
            position_unwinding.ACTION_TYPE,
            1,
        )
        template.params, template.status = {"position_id": position_id}, states[letter]
        template.action_hash, template.created_at = f"0x{index}", clock.now()
        template.save(force_insert=True)
    told, is_done = position_unwinding.unwind_positions(golem=_read(live_golem), epoch=1, actor="t", now=clock.now())
    assert is_done
    assert (told[0]["outcome"] == "COMMITTED") is is_tried
    assert (liquidity_of(live_golem, position_id) == 0) is is_tried


def test_a_halted_golem_signs_no_withdrawal_to_anybody_else(live_golem: LiveGolem) -> None:
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    halt(live_golem)
    golem, account = _read(live_golem), live_golem.golem.address
    manager = live_golem.world.contracts["uniswap_v3_position_manager"]
    take = encode_call(DECREASE, (7, 10, 0, 0, 2**40))

    def collect(recipient: str) -> bytes:
        return encode_call(COLLECT, (7, recipient, UINT128_MAX, UINT128_MAX))

    def judged(data: bytes, **changes: str) -> bool:
        permit.halt_epoch, permit.calls = (
            1,
            [{"value": "0", "to": manager, "data": "0x" + data.hex(), "label": "", **changes}],
        )
        return is_halts_own(permit, golem)

    both = encode_call(MULTICALL, [take, collect(account)])
    assert judged(both) and judged(collect(account)) and judged(take)
    assert not judged(collect(OTHER))
    assert not judged(encode_call(MULTICALL, [take, collect(OTHER)]))
    assert not judged(encode_call(MULTICALL, []))
    assert not judged(encode_call(MULTICALL, [take, encode_call("function burn(uint256)", 7)]))
    assert not judged(
        encode_call(MULTICALL, [take, encode_call("function sweepToken(address,uint256,address)", OTHER, 0, OTHER)])
    )
    assert not judged(both, value="1")
    assert not judged(both, to=OTHER)
    assert not judged(both[:40])
    permit.halt_epoch = 2
    assert not is_halts_own(permit, golem)


def _read(golem: LiveGolem) -> Any:
    golem.golem.refresh_from_db()
    return golem.golem


ADD_V2 = "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)"


def give_shares(golem: LiveGolem) -> str:
    """Shares of the V2 pair of USDC and WETH, put into the golem's wallet; the pair."""
    world = golem.world
    router, usdc, weth = world.contracts["uniswap_v2_router"], world.tokens["USDC"], world.tokens["WETH"]
    maker = world.new_account(10**18, {"USDC": 3_000 * 10**6, "WETH": 10**18})
    for token in (usdc, weth):
        world.transact(maker, token.address, "approve(address,uint256)", router, 2**128)
    amounts = (3_000 * 10**6, 10**18, 0, 0)
    world.transact(
        maker, router, ADD_V2, usdc.address, weth.address, *amounts, golem.golem.address, 2**40, gas=5_000_000
    )
    return world.pool("v2", "USDC", "WETH").address


def test_shares_of_a_v2_pair_are_given_back_under_a_halt(live_golem: LiveGolem) -> None:
    pair = give_shares(live_golem)
    choose_unwinding(live_golem)
    usdc, weth = live_golem.balance("USDC"), live_golem.balance("WETH")
    halt(live_golem)
    [told] = carry_out(live_golem)["positions unwound"]["positions"]
    assert (told["outcome"], id_of(told)) == ("COMMITTED", pair)
    assert live_golem.world.rpc.balance_of(pair, live_golem.golem.address) == 0
    assert live_golem.balance("USDC") - usdc > 2_000 * 10**6
    assert live_golem.balance("WETH") - weth > 5 * 10**17
    assert OutcomeRecord.objects.get().is_verified


def test_an_agent_gives_shares_back_in_strict_mode_and_the_outcome_is_verified(live_golem: LiveGolem) -> None:
    pair = give_shares(live_golem)
    asked = {"action_type": "remove_shares", "pair": pair, "token_in": None, "token_out": None, "amount": None}
    permit = live_golem.preview(**asked, percent_to_remove=50)
    done = live_golem.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED", done
    assert OutcomeRecord.objects.get().is_verified
    rest = live_golem.commit(live_golem.preview(**asked)["permit_id"])
    assert rest["status"] == "COMMITTED", rest
    assert live_golem.world.rpc.balance_of(pair, live_golem.golem.address) == 0


def test_shares_given_back_to_somebody_else_are_not_signed_under_a_halt(live_golem: LiveGolem) -> None:
    give_shares(live_golem)
    choose_unwinding(live_golem)
    halt(live_golem)
    carry_out(live_golem)
    permit = ActionPermit.objects.get(tool_name="emergency_halt")
    golem = live_golem.golem
    golem.refresh_from_db()
    assert is_halts_own(permit, golem)
    away = permit.calls[-1]["data"].replace(golem.address[2:].lower(), OTHER[2:].lower())
    assert away != permit.calls[-1]["data"]
    permit.calls[-1]["data"] = away
    assert not is_halts_own(permit, golem)
