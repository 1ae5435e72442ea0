"""Permits of one golem that lie in one block are told apart: each is held to what it promised, all to the sum."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from permits_app.models import ActionPermit, OutcomeRecord, VenueTrust
from tests.catalogue.door import Door
from tests.permits_app.execution.chain_tricks import mine, mining_paused

ETH = 10**18


def carry_out_together(door: Door, *asked: tuple[str, dict[str, Any]]) -> list[ActionPermit]:
    """Preview each, commit all of them into one block, judge them one after the other."""
    live = door.stage.live
    with mining_paused(live.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
        permits = [door.preview(case, **changes) for case, changes in asked]
        for permit in permits:
            assert permit["http"] == 200, permit
            live.start(permit["permit_id"])
            live.work(permit["permit_id"])
        mine(live.world)
    for permit in permits:
        live.work(permit["permit_id"])
    return [live.permit(permit["permit_id"]) for permit in permits]


def outcome_of(permit: ActionPermit) -> OutcomeRecord:
    """What was judged of it."""
    told = OutcomeRecord.objects.get(permit=permit)
    assert permit.status == "COMMITTED", (permit.tool_name, permit.status_reason)
    return told


@pytest.mark.protocols("aave_v3")
def test_what_several_permits_did_at_one_lender_is_held_against_the_sum_of_their_promises(door: Door) -> None:
    door.do("aave_supply")
    permits = carry_out_together(
        door,
        ("aave_withdraw", {"amount": str(ETH)}),
        ("aave_supply", {"amount": str(ETH // 2)}),
        ("aave_supply", {"asset": "DAI", "amount": str(100 * ETH)}),
    )
    for permit in permits:
        told = outcome_of(permit)
        assert (told.findings, told.is_verified, told.divergence_bps) == ([], True, 0)
        # What each of them earned at the lender, nobody can say.
        assert told.pnl_micro_usd is None and "positions" not in told.actual
    assert not VenueTrust.objects.exists()


@pytest.mark.protocols("lido", "rocketpool")
def test_coins_that_were_staked_in_one_block_are_told_apart_and_each_position_is_its_permits(door: Door) -> None:
    permits = carry_out_together(door, ("lido_stake", {"amount": str(2 * ETH)}), ("rocketpool_stake", {}))
    for permit in permits:
        told = outcome_of(permit)
        assert (told.findings, told.is_verified) == ([], True)
        assert told.pnl_micro_usd is not None
        assert {each["protocol"] for each in told.actual["positions"]} == {permit.venue}


@pytest.mark.protocols("aave_v3")
def test_of_permits_in_one_block_the_one_that_gets_less_than_it_promised_is_not_made_good_by_another(
    door: Door,
) -> None:
    """The promises are added up, so a position that ends lower than all of them said is a finding of each."""
    door.do("aave_supply")
    live = door.stage.live
    with mining_paused(live.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
        permits = [door.preview("aave_withdraw", amount=str(ETH)), door.preview("aave_supply", amount=str(ETH // 2))]
        for permit in permits:
            live.start(permit["permit_id"])
            live.work(permit["permit_id"])
        mine(live.world)
    # As if the supply had promised more than it did.
    row = live.permit(permits[1]["permit_id"])
    for change in row.bounds["changes"]:
        change["bound"] = str(2 * int(change["bound"]))
    ActionPermit.objects.filter(pk=row.pk).update(bounds=row.bounds)
    for permit in permits:
        live.work(permit["permit_id"])
        told = OutcomeRecord.objects.get(permit_id=permit["permit_id"])
        assert not told.is_verified
        assert any("the permits of these blocks promised at least" in each for each in told.findings), told.findings
