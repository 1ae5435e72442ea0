"""Hook 5 and its engines: one for a swap, two for a position, and what happens when the two disagree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from archetypes_app.models import Golem
from permits_app.errors import PolicyRejected
from permits_app.models import SpendEntry
from permits_app.safety.hook import Allow
from permits_app.safety.hooks import simulator
from permits_app.safety.hooks.simulator import Simulator
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import live_call, swap_call
from tests.tools_app.simulation.between import proxy, without
from tools_app.chain import chains, networks
from tools_app.core.clock import Deadline
from tools_app.models import OutboxEvent
from tools_app.simulation import select
from tools_app.simulation.differential import SimulationDisagrees
from tools_app.simulation.engine import (
    SimulationEngine,
    SimulationRequest,
    SimulationResult,
    SimulationTimeout,
    SimulationUnavailable,
)
from tools_app.simulation.pyevm import rules

HOOK = Simulator()
POSITION = {
    "token0": "WETH",
    "token1": "USDC",
    "amount1": "1000000000",
    "price_lower": "1",
    "price_upper": "100000",
}


class _OneWeiMore:
    """A real engine that reports one base unit more than there is."""

    def __init__(self, engine: SimulationEngine) -> None:
        self._engine = engine

    def run(self, request: SimulationRequest, *, deadline: Deadline) -> SimulationResult:
        result = self._engine.run(request, deadline=deadline)
        key = next(iter(result.balances_after))
        return replace(result, balances_after={**result.balances_after, key: result.balances_after[key] + 1})


def test_a_swap_runs_on_one_engine_and_a_position_on_two(live_golem: LiveGolem) -> None:
    swap, position = (
        HOOK.check(swap_call(live_golem)),
        HOOK.check(live_call(live_golem, "uniswap_lp_add_liquidity", POSITION)),
    )
    assert isinstance(swap, Allow)
    assert isinstance(position, Allow)
    assert swap.simulation is not None
    assert position.simulation is not None
    assert swap.simulation.engine == "rpc"
    assert position.simulation.engine == "rpc+pyevm"
    assert "two engines agree" in position.note


def test_one_base_unit_of_disagreement_refuses_and_tells_the_owner_both_results(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = select.select_engine

    def bent(chain_id: int, name: str = "rpc", **options: Any) -> Any:
        engine = real(chain_id, name, **options)
        return _OneWeiMore(engine) if name == "pyevm" else engine

    monkeypatch.setattr(select, "select_engine", bent)
    call = live_call(live_golem, "uniswap_lp_add_liquidity", POSITION)
    with pytest.raises(SimulationDisagrees) as refused:
        HOOK.check(call)

    assert refused.value.http_status == 409
    event = OutboxEvent.objects.get(golem_id=call.golem.pk, type="policy:violation")
    assert event.payload["rule"] == "simulator.engines_disagree"
    assert [result["engine"] for result in event.payload["results"]] == ["rpc", "pyevm"]
    assert event.payload["differences"]


@pytest.mark.parametrize(
    ("setting", "engine"),
    [("auto", "rpc"), ("rpc", "rpc"), ("pyevm", "pyevm"), ("both", "rpc+pyevm")],
)
def test_a_golems_own_setting_chooses_what_runs_its_swaps(live_golem: LiveGolem, setting: str, engine: str) -> None:
    Golem.objects.filter(pk=live_golem.golem.pk).update(simulation_engine=setting)
    permit = live_golem.permit(live_golem.preview()["permit_id"])

    assert permit.simulation["engine"] == engine


def test_from_elevated_on_a_golem_cannot_choose_a_single_engine(live_golem: LiveGolem) -> None:
    Golem.objects.filter(pk=live_golem.golem.pk).update(simulation_engine="pyevm")
    position = HOOK.check(live_call(live_golem, "uniswap_lp_add_liquidity", POSITION))

    assert isinstance(position, Allow)
    assert position.simulation is not None
    assert position.simulation.engine == "pyevm+rpc"


def test_a_setting_nobody_knows_refuses(live_golem: LiveGolem) -> None:
    Golem.objects.filter(pk=live_golem.golem.pk).update(simulation_engine="none")
    with pytest.raises(PolicyRejected, match="simulator"):
        live_golem.preview()


@pytest.mark.parametrize("setting", ["auto", "rpc", "pyevm", "both"])
def test_no_time_left_for_an_engine_is_no_permit_and_nothing_reserved(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    Golem.objects.filter(pk=live_golem.golem.pk).update(simulation_engine=setting)
    monkeypatch.setattr(simulator, "SIMULATION_BUDGET_MS", 0)
    with pytest.raises(SimulationTimeout) as refused:
        live_golem.preview()

    assert refused.value.code == "SIMULATION_TIMEOUT"
    assert not live_golem.golem.permits.exists()
    assert not SpendEntry.objects.exists()


@pytest.mark.parametrize("setting", ["auto", "rpc", "pyevm", "both"])
def test_an_engine_that_cannot_run_is_no_permit_and_nothing_reserved(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    """A real node without the method; on a chain with newer rules nothing replaces it, whatever was chosen."""
    monkeypatch.setitem(rules._CHAIN_FORKS, 31337, "osaka")
    Golem.objects.filter(pk=live_golem.golem.pk).update(simulation_engine=setting)
    configured, settings = networks.configured_networks(), chains._settings
    with proxy(live_golem.world.rpc_url, without("eth_simulateV1")) as (node, _):
        chains.configure_chains([networks.with_rpc_urls(configured[0], [node.url])], settings)
        try:
            with pytest.raises(SimulationUnavailable) as refused:
                live_golem.preview()
        finally:
            chains.configure_chains(configured, settings)

    assert refused.value.code == "REVM_FORK_FAILED"
    assert not live_golem.golem.permits.exists()
    assert not SpendEntry.objects.exists()
