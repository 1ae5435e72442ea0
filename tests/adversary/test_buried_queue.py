"""A stranger buries a golem under places in a queue: it goes on, and what it asked for itself is seen."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.models import PendingRequest
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.tools.test_wallet import read
from tests.tools_app.protocols.lido.staking import ETH, act, at
from tools_app.protocols.lido import positions as lido_positions
from tools_app.toolkit.registry import REGISTRY

DUST = 100
"""Wei of the least request."""
_AT_ONCE = 100


def bury(world: World, account: str, *, under: int) -> None:
    """So many requests for next to nothing, all for `account`."""
    stranger = world.new_account(3 * ETH)
    act(world, stranger, "lido_stake", amount=str(ETH), output_token="stETH")
    world.transact(stranger, at("steth"), "approve(address,uint256)", at("queue"), ETH)
    for first in range(0, under, _AT_ONCE):
        amounts = [DUST] * min(_AT_ONCE, under - first)
        world.transact(stranger, at("queue"), "requestWithdrawals(uint256[],address)", amounts, account, gas=29_000_000)


def stake(live: LiveGolem) -> dict[str, Any]:
    for tool in REGISTRY:
        if tool.venue == "lido":
            ToolOverride.objects.get_or_create(golem=live.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    nothing = dict.fromkeys(("token_in", "token_out"))
    asked = live.preview(**nothing, action_type="stake", venue="lido", amount=str(ETH))
    return live.commit(asked["permit_id"])


@pytest.mark.protocols("lido")
def test_a_golem_under_hundreds_of_requests_of_dust_still_acts_at_the_pool(live_golem: LiveGolem) -> None:
    assert stake(live_golem)["status"] == "COMMITTED"
    bury(live_golem.world, live_golem.golem.address, under=800)
    assert stake(live_golem)["status"] == "COMMITTED"


@pytest.mark.protocols("lido")
def test_what_a_golem_asked_for_itself_is_seen_under_more_requests_than_are_read(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = live_golem.golem.address
    bury(live_golem.world, account, under=3)
    stake(live_golem)
    nothing = dict.fromkeys(("token_in", "token_out", "amount"))
    asked = live_golem.preview(**nothing, action_type="unstake", venue="lido", amounts=[str(ETH // 2)], token="wstETH")
    assert live_golem.commit(asked["permit_id"])["status"] == "COMMITTED"
    own = PendingRequest.objects.get().ref
    bury(live_golem.world, account, under=5)
    monkeypatch.setattr(lido_positions, "MOST_REQUESTS", 3)
    monkeypatch.setattr(lido_positions, "_STEP_OF_NEWEST", 1)
    held = read(live_golem, "wallet_get_status")
    told = [each["position"] for each in held["positions"] if "/request/" in each["position"]]
    assert own in told and told[-1].endswith("/beyond") and len(told) == 8, held
    assert any("more Lido withdrawal requests" in each for each in held["not_counted"]), held
