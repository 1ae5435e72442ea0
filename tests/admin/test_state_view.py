"""The state difference of a permit's plan, on its page when somebody asks for it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from permits_app.admin import state_changes
from permits_app.admin.state_changes import build_state
from permits_app.admin.trace_view import build_trace
from permits_app.models import ActionPermit
from permits_app.permits.plan_store import encode_calls
from tests.live_golem import LiveGolem
from tools_app.simulation.engine import SimulationUnavailable
from tools_app.toolkit.plan import Call


@pytest.fixture
def permit(live_golem: LiveGolem) -> ActionPermit:
    return live_golem.permit(live_golem.preview()["permit_id"])


@pytest.mark.parametrize("engine", ["rpc", "pyevm"])
def test_a_swap_changes_tokens_pool_and_nonce(live_golem: LiveGolem, permit: ActionPermit, engine: str) -> None:
    Golem.objects.filter(pk=live_golem.golem.pk).update(simulation_engine=engine)
    state = build_state(ActionPermit.objects.get(pk=permit.pk), frames=build_trace(permit).frames)
    by_name = {account.name: account for account in state.accounts}
    balance_before = next(row for row in permit.simulation["balances"] if "USDC" in _symbol(live_golem, row["token"]))

    assert state.problem == ""
    assert state.fidelity.startswith(engine)
    assert by_name["the golem"].summary == f"nonce 0 to {len(permit.calls)}"
    assert {hex(int(balance_before["before"])), hex(int(balance_before["after"]))} <= {
        word for slot in by_name["USDC"].slots for word in (slot.before, slot.after)
    }
    assert any("pool" in name for name in by_name)
    assert by_name["USDC"].summary == f"{len(by_name['USDC'].slots)} slots"


def _symbol(live_golem: LiveGolem, address: str) -> str:
    return next((symbol for symbol, token in live_golem.world.tokens.items() if token.address == address), "")


def test_a_flood_of_slots_coins_and_new_code_are_told_in_bounds(live_golem: LiveGolem, permit: ActionPermit) -> None:
    """A contract that writes 150 slots, makes another contract and keeps three wei."""
    flood = "0x" + "77" * 20
    code = "60965b8080556001900380600257" + "6360015ff35f526004601c5ff000"
    world = live_golem.world
    world.rpc.call("anvil_setCode", flood, "0x" + code)
    block = world.rpc.call("eth_getBlockByNumber", "latest", False)
    del permit.simulation["signed_with"]
    permit.simulation["block"] |= {"number": str(int(block["number"], 16)), "hash": block["hash"]}
    permit.calls = encode_calls([Call(flood, b"", 3, "flood")], [10**7])
    permit.save(update_fields=["calls", "simulation"])
    state = build_state(permit)
    found = {account.address: account for account in state.accounts}

    assert found[flood].slots_left_out == 150 - len(found[flood].slots)
    assert len(found[flood].slots) == state_changes.MOST_SLOTS
    assert "150 slots" in found[flood].summary
    assert any("new contract" in account.summary for account in state.accounts)
    assert any(account.summary.startswith("+") for account in state.accounts)


def test_the_page_asks_only_when_it_is_asked_and_says_what_no_engine_tells(
    live_golem: LiveGolem, permit: ActionPermit, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_golem.owner.groups.add(ensure_owner_group())
    client.force_login(live_golem.owner)
    url = f"/admin/permits_app/actionpermit/{permit.pk}/trace/"
    told = client.get(f"{url}?state=1").content.decode()

    def refuse(*_: Any, **__: Any) -> None:
        raise SimulationUnavailable("<b>no trace</b>", chain_id=31337)

    monkeypatch.setattr(state_changes, "run_simulation", refuse)
    silent = client.get(url).content.decode()
    refused = client.get(f"{url}?state=1").content.decode()

    assert "State difference" in told
    assert "?state=1" in silent
    assert 'id="state"' not in silent
    assert "No engine tells the state difference now: &lt;b&gt;no trace&lt;/b&gt;" in refused
