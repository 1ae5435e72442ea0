"""A real revert is remembered with its cause, and a heuristic can move by it."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.test import override_settings

from golem_project.embedded.world.rpc import call_data
from golem_project.embedded.world.seed_swaps import EXACT_INPUT_SINGLE
from memory_app.models import Episode
from memory_app.reflection import PRICE_MOVED
from permits_app.actions.remember_outcome import remember_outcome
from permits_app.models import OutcomeRecord
from permits_app.tasks import remember_outcomes_task
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mining_paused
from tools_app.core import clock


def test_a_real_revert_reaches_memory_with_its_cause(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview(deadline=60)["permit_id"]
    with mining_paused(live_golem.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02):
        live_golem.start(permit_id)
        live_golem.work(permit_id)
        live_golem.world.rpc.call("evm_increaseTime", 120)
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == "REVERTED", live_golem.permit(permit_id).status_reason
    outcome = OutcomeRecord.objects.get(permit_id=permit_id)
    assert "too old" in outcome.actual["revert_reason"].lower() or "expired" in outcome.actual["revert_reason"].lower()
    assert remember_outcome(permit_id=UUID(permit_id), now=clock.now(), use_model=False) is not None
    episode = Episode.objects.get(permit_id=permit_id)
    assert (episode.importance, episode.stability_days) == ("NOTABLE", 30.0)
    reflection = episode.reflection
    assert reflection["verdict"] == "reverted"
    assert reflection["why"] == ["The transaction was mined after its deadline."]


def test_what_succeeded_has_no_reason_to_have_reverted(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    assert live_golem.commit(permit_id)["status"] == "COMMITTED"
    assert "revert_reason" not in OutcomeRecord.objects.get(permit_id=permit_id).actual


@pytest.mark.parametrize(("whale_usd", "status"), [(250_000, "COMMITTED"), (3_000_000, "REVERTED")])
def test_a_price_that_was_moved_before_a_swap_makes_its_memory_last_as_what_was_taken_from_it(
    live_golem: LiveGolem, whale_usd: int, status: str
) -> None:
    """Somebody pays more to be mined first, and buys what the golem is about to buy."""
    world = live_golem.world
    amount = whale_usd * 10**6
    whale = world.new_account(10 * 10**18, {"USDC": amount})
    usdc, weth = world.tokens["USDC"].address, world.tokens["WETH"].address
    router = world.contracts["uniswap_v3_swap_router_02"]
    world.transact(whale, usdc, "approve(address,uint256)", router, amount)
    permit_id = live_golem.preview()["permit_id"]
    with mining_paused(world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02):
        live_golem.start(permit_id)
        live_golem.work(permit_id)
        world.rpc.call("anvil_impersonateAccount", whale.address)
        swap = call_data(EXACT_INPUT_SINGLE, (usdc, weth, 500, whale.address, amount, 0, 0))
        request = {"from": whale.address, "to": router, "data": swap, "gas": hex(1_000_000), "gasPrice": hex(10**12)}
        world.rpc.call("eth_sendTransaction", request)
        world.rpc.call("anvil_stopImpersonatingAccount", whale.address)
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == status, live_golem.permit(permit_id).status_reason
    remember_outcomes_task.run(permit_ids=[permit_id])
    episode = Episode.objects.get(permit_id=permit_id)
    assert (episode.importance, episode.stability_days) == ("MEV", 90.0)
    assert (PRICE_MOVED in episode.reflection["why"]) is (status == "REVERTED")
