"""The call tree of a permit: what a real swap does inside, where a revert happened, and what is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from archetypes_app.owner_group import ensure_owner_group
from permits_app.admin.trace_view import TraceFrame, build_trace
from permits_app.models import ActionPermit
from permits_app.permits.plan_store import encode_calls
from tests import factories
from tests.live_golem import LiveGolem
from tests.tools_app.simulation.protocol_bytecode import bytecode
from tests.tools_app.simulation.router import deploy_router, plan_swap
from tools_app.chain.node_errors import RpcTimeout
from tools_app.portfolio.markets import ChainMarkets
from tools_app.toolkit.plan import Call

__all__ = ["bytecode"]


def every(frames: tuple[TraceFrame, ...]) -> list[TraceFrame]:
    """All frames, outer ones first."""
    found, ahead = [], list(reversed(frames))
    while ahead:
        frame = ahead.pop()
        found.append(frame)
        ahead += reversed(frame.calls)
    return found


@pytest.fixture
def permit(live_golem: LiveGolem) -> ActionPermit:
    return live_golem.permit(live_golem.preview()["permit_id"])


def test_a_swap_is_told_in_names_units_and_gas(permit: ActionPermit) -> None:
    trace = build_trace(permit)
    frames = every(trace.frames)
    swap = trace.frames[-1]

    assert trace.problem == ""
    assert [frame.gas for frame in trace.frames] == [
        f"{int(call['gas_used']):,} gas" for call in permit.simulation["calls"]
    ]
    assert swap.function in ("exactInputSingle", "exactInput", "swapExactTokensForTokens", "multicall")
    assert {"USDC", "WETH"} <= {frame.name for frame in frames}
    assert any(argument.text.startswith("500") and "USDC" in argument.text for f in frames for argument in f.arguments)
    assert any("Transfer" in event and "USDC" in event for frame in frames for event in frame.events)
    assert any(frame.function in ("swap", "uniswapV3SwapCallback") for frame in frames)
    assert all(frame.is_ok for frame in frames)
    assert all(frame.is_open for frame in trace.frames)


def test_a_pool_is_named_by_its_pair_and_fee(permit: ActionPermit) -> None:
    frames = every(build_trace(permit).frames)
    pools = {frame.name for frame in frames if frame.function == "swap"}
    events = [event for frame in frames for event in frame.events if "Transfer" in event]

    assert len(pools) == 1
    (name,) = pools
    assert re.fullmatch(r"(USDC/WETH|WETH/USDC) 0\.\d+% pool \(Uniswap V[23]\)", name)
    assert any(name in event for event in events)


@pytest.fixture
def through_router(permit: ActionPermit, live_golem: LiveGolem, bytecode: dict[str, str]) -> ActionPermit:
    """The same permit with a plan of three calls that ends in the Universal Router."""
    world = live_golem.world
    plan = plan_swap(world, deploy_router(world, bytecode), amount=400 * 10**6)
    permit.calls = encode_calls(plan, [10**6] * len(plan))
    permit.simulation["signed_with"]["gas_limits"] = [10**6] * len(plan)
    block = world.rpc.call("eth_getBlockByNumber", "latest", False)
    permit.simulation["block"] |= {
        "number": str(int(block["number"], 16)),
        "hash": block["hash"],
        "timestamp": str(int(block["timestamp"], 16)),
    }
    return permit


def test_a_plan_through_the_universal_router_is_told_step_by_step_in_units(through_router: ActionPermit) -> None:
    trace = build_trace(through_router)
    approve, allow, swap = trace.frames
    told = {argument.name: argument.text for argument in swap.arguments}
    allowed = {argument.name: argument.text for argument in allow.arguments}
    events = [event for frame in every(trace.frames) for event in frame.events]

    assert trace.problem == ""
    assert all(frame.is_ok for frame in every(trace.frames))
    assert [frame.function for frame in trace.frames] == ["approve", "approve", "execute"]
    assert (approve.name, allow.name) == ("USDC", "Permit2")
    assert (allowed["token"], allowed["amount"]) == ("USDC", "400 USDC")
    assert "amount in 320 USDC" in told["1. v3SwapExactIn"]
    assert "path USDC → 0.05% → WETH" in told["1. v3SwapExactIn"]
    assert "recipient the sender" in told["1. v3SwapExactIn"]
    assert "payer is user yes" in told["1. v3SwapExactIn"]
    assert "amount in 80 USDC" in told["2. v2SwapExactIn"]
    assert any("Permit2 Approval" in event and "amount 400 USDC" in event for event in events)
    swaps = [event for event in events if "pool" in event and " Swap: " in event]
    assert len(swaps) == 2
    assert all("USDC" in event and "WETH" in event for event in swaps)
    assert "320 USDC" in swaps[0]
    pulled = [frame for frame in every(swap.calls) if frame.name == "Permit2"]
    in_v3 = next(frame for frame in every(swap.calls) if frame.function == "swap" and "V3" in frame.name)
    asked = {argument.name: argument.text for argument in in_v3.arguments}
    assert (asked["amountSpecified"], asked["zeroForOne"], asked["recipient"]) == ("320 USDC", "no", "the golem")
    assert asked["data"].endswith(" bytes)")
    amounts = [one.text for frame in pulled for one in frame.arguments if one.name == "amount"]
    assert amounts == ["320 USDC", "80 USDC"]
    assert any("Sync: reserve0" in event and event.endswith("USDC") for event in events)
    assert "owner the golem, token USDC" in next(event for event in events if event.startswith("Permit2 Approval"))
    assert "expiration 3000-01-01" in next(event for event in events if event.startswith("Permit2 Approval"))
    callback = next(frame for frame in every(swap.calls) if frame.function == "uniswapV3SwapCallback")
    assert any(argument.text == "320 USDC" for argument in callback.arguments)


def test_a_node_that_cannot_tell_of_pools_costs_their_names_and_not_the_tree(
    permit: ActionPermit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RpcTimeout("no answer", maybe_sent=True)

    monkeypatch.setattr(ChainMarkets, "recognize", fail)
    trace = build_trace(permit)

    assert trace.problem == ""
    assert {frame.name for frame in every(trace.frames) if frame.function == "swap"} == {""}


def test_the_label_says_engine_block_age_and_rules(permit: ActionPermit) -> None:
    permit.created_at += timedelta(seconds=7)
    label = build_trace(permit).fidelity

    assert label.startswith("rpc: eth_simulateV1")
    assert f"block {permit.block_number}" in label
    assert label.endswith("s old")


def test_a_revert_is_open_down_to_where_it_happened(permit: ActionPermit) -> None:
    # The swap alone, without its approval: the token refuses the router deep inside.
    permit.calls = permit.calls[-1:]
    trace = build_trace(permit)
    failed = [frame for frame in every(trace.frames) if not frame.is_ok]

    assert len(failed) >= 2
    assert all(frame.is_open for frame in failed)
    assert any(frame.error for frame in failed)
    assert not any(frame.events for frame in failed)


def test_a_block_the_node_does_not_have_is_said_and_not_raised(permit: ActionPermit) -> None:
    permit.simulation["block"]["hash"] = "0x" + "ab" * 32
    trace = build_trace(permit)

    assert trace.frames == ()
    assert "no longer" in trace.problem
    assert trace.fidelity


def test_a_write_without_a_transaction_has_nothing_to_trace(db: None) -> None:
    permit = factories.make_permit(golem=factories.make_golem(owner=factories.make_owner()))
    permit.simulation = {}

    assert "nothing to trace" in build_trace(permit).problem


def test_the_page_is_for_the_owner_and_escapes_what_contracts_say(
    live_golem: LiveGolem, permit: ActionPermit, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_golem.owner.groups.add(ensure_owner_group())
    url = f"/admin/permits_app/actionpermit/{permit.pk}/trace/"
    real = build_trace(permit)
    evil = replace(real, frames=(replace(real.frames[0], error="<script>alert(1)</script>", is_ok=False),))

    def bent(_: Any) -> Any:
        return evil

    monkeypatch.setattr("permits_app.admin.permits.build_trace", bent)
    client.force_login(live_golem.owner)
    page = client.get(url).content.decode()
    client.force_login(factories.make_owner(name="bo"))
    other = client.get(url)

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert(1)" not in page
    assert other.status_code in (302, 403, 404)


def test_a_plan_that_calls_itself_hundreds_of_times_is_still_a_page(
    live_golem: LiveGolem, permit: ActionPermit, client: Client
) -> None:
    """A hostile contract goes as deep as its gas allows; the page shows the first calls and says there are more."""
    recursive = "0x" + "77" * 20
    world = live_golem.world
    world.rpc.call("anvil_setCode", recursive, "0x5f5f5f5f5f305af100")
    block = world.rpc.call("eth_getBlockByNumber", "latest", False)
    permit.simulation["block"] |= {"number": str(int(block["number"], 16)), "hash": block["hash"]}
    permit.calls = encode_calls([Call(recursive, b"", 0, "recurse")], [3 * 10**7])
    permit.simulation["signed_with"]["gas_limits"] = [3 * 10**7]
    permit.save(update_fields=["calls", "simulation"])
    live_golem.owner.groups.add(ensure_owner_group())
    client.force_login(live_golem.owner)

    frames = every(build_trace(permit).frames)
    page = client.get(f"/admin/permits_app/actionpermit/{permit.pk}/trace/")

    assert 100 <= len(frames) <= 500
    assert frames[-1].calls_left_out == 1
    assert page.status_code == 200
    assert "more call" in page.content.decode()
