"""Trust in a venue: lost by an outcome far from its simulation, one risk tier meanwhile, and how it comes back."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from archetypes_app.models import Golem
from permits_app.actions.restore_venue_trust import restore_venue_trust
from permits_app.errors import NothingToAcknowledge
from permits_app.models import ActionPermit, OutcomeRecord, SpendingLimits, VenueTrust
from permits_app.permits.risk_tier_rules import classify_risk
from permits_app.permits.venue_trust import DIVERGENCE_TOLERANCE_BPS, note_outcome
from permits_app.safety.risk_tier_of_call import classify_call
from tests import factories
from tests.admin.rows import page
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import swap_call
from tests.tools_app.simulation.plans import V3_SWAP
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.models import OutboxEvent
from tools_app.toolkit.enums import ActionClass, CapabilityTier, Category, RiskLayer, RiskTier

FEE_TIER = 500


def note(permit: ActionPermit, divergence_bps: int, **facts: Any) -> None:
    told = {"succeeded": True, "is_verified": True, "is_first": True, **facts}
    note_outcome(permit=permit, divergence_bps=divergence_bps, now=clock.now(), **told)


def push_price(chain: World, usdc: int) -> None:
    """Somebody else buys WETH in every pool a swap may take, so that the next one gets less."""
    other = chain.new_account(eth_wei=10**18, tokens={"USDC": usdc * 3})
    token, wrapped = chain.tokens["USDC"].address, chain.tokens["WETH"].address
    router = chain.contracts["uniswap_v3_swap_router_02"]
    chain.transact(other, token, "approve(address,uint256)", router, 2**255)
    for fee in (FEE_TIER, 3000):
        data = encode_call(V3_SWAP, (token, wrapped, fee, other.address, usdc, 1, 0))
        assert chain.send(other, router, "0x" + data.hex())["status"] == "0x1"


@pytest.fixture
def permit(db: None) -> ActionPermit:
    return factories.make_permit(golem=factories.make_golem(owner=factories.make_owner()))


@pytest.fixture
def trust(permit: ActionPermit) -> VenueTrust:
    return factories.make_venue_trust(permit=permit)


def test_a_real_divergence_lowers_the_trust_and_raises_the_tier_of_the_next_call(live_golem: LiveGolem) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(max_slippage_bps=1_000, max_price_impact_bps=1_000)
    before = live_golem.preview(slippage_bps=900)
    push_price(live_golem.world, 4_000_000 * 10**6)
    answer = live_golem.commit(before["permit_id"])
    assert answer["status"] == "COMMITTED", answer
    outcome = OutcomeRecord.objects.get(permit_id=before["permit_id"])
    assert outcome.divergence_bps > DIVERGENCE_TOLERANCE_BPS

    row = VenueTrust.objects.get(golem=live_golem.golem)
    assert (row.venue, row.chain_id, row.is_low) == ("uniswap", 31337, True)
    assert row.divergence_bps == outcome.divergence_bps
    after = live_golem.preview(amount="400000000", slippage_bps=900)
    assert (before["risk_tier"], after["risk_tier"]) == ("STANDARD", "ELEVATED")
    assert live_golem.permit(after["permit_id"]).simulation["engine"] == "rpc+pyevm"
    assert AuditEntry.objects.filter(golem_id=live_golem.golem.pk, event="VenueTrustLowered").count() == 1
    assert OutboxEvent.objects.filter(golem_id=live_golem.golem.pk, type="policy:cage_updated").exists()


def test_a_permit_from_before_the_loss_of_trust_is_not_committed(live_golem: LiveGolem) -> None:
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    factories.make_venue_trust(permit=permit)
    answer = live_golem.commit(str(permit.pk))
    permit.refresh_from_db()

    assert answer["status"] == "BLOCKED"
    assert permit.problem["recovery"] == "PREVIEW_AGAIN"
    assert "ELEVATED" in permit.status_reason


def test_leaving_a_venue_stays_easy_whatever_its_trust() -> None:
    facts: dict[str, Any] = {
        "capability": CapabilityTier.WRITE,
        "risk_layer": RiskLayer.BOUNDED,
        "value_micro_usd": 10**6,
        "is_venue_trusted": False,
    }
    tiers = {
        action_class: classify_risk(category=Category.LP, action_class=action_class, **facts)
        for action_class in ActionClass
    }

    assert tiers[ActionClass.NEW_POSITION] is RiskTier.HIGH
    assert tiers[ActionClass.DECREASE_POSITION] is RiskTier.STANDARD
    assert tiers[ActionClass.CLOSE_POSITION] is RiskTier.STANDARD
    assert tiers[ActionClass.READ_ONLY] is RiskTier.ROUTINE


def test_an_outcome_within_the_tolerance_lowers_nothing(live_golem: LiveGolem) -> None:
    live_golem.commit(live_golem.preview()["permit_id"])

    assert not VenueTrust.objects.exists()
    assert classify_call(swap_call(live_golem)) is RiskTier.STANDARD


@pytest.mark.parametrize(("divergence_bps", "is_low"), [(200, False), (201, True)])
def test_the_border_is_two_percent(permit: ActionPermit, divergence_bps: int, is_low: bool) -> None:
    note(permit, divergence_bps)

    assert VenueTrust.objects.filter(is_low=True).exists() == is_low


def test_a_reverted_transaction_says_nothing_about_amounts(permit: ActionPermit) -> None:
    note(permit, 10_000, succeeded=False, is_verified=False)

    assert not VenueTrust.objects.exists()


def test_clean_outcomes_in_a_row_restore_it_and_one_divergence_begins_again(
    permit: ActionPermit, trust: VenueTrust
) -> None:
    enough = settings.GOLEM_VENUE_TRUST_CLEAN_OUTCOMES
    for _ in range(enough - 1):
        note(permit, 0)
    note(permit, 0, is_verified=False)
    note(permit, 900)
    for _ in range(enough - 1):
        note(permit, 50)
    # What a rollback took back and is judged anew has counted already.
    note(permit, 50, is_first=False)
    trust.refresh_from_db()
    assert (trust.is_low, trust.clean_outcomes, trust.divergence_bps) == (True, enough - 1, 900)

    note(permit, 50)
    trust.refresh_from_db()
    assert (trust.is_low, trust.restored_by) == (False, "system:worker")
    assert AuditEntry.objects.filter(golem_id=permit.golem_id, event="VenueTrustRestored").count() == 1


def test_trust_is_of_one_golem_one_chain_and_one_venue(permit: ActionPermit, trust: VenueTrust) -> None:
    elsewhere = factories.make_permit(golem=factories.make_golem(owner=permit.golem.owner, name="other"))
    other_venue = factories.make_permit(golem=permit.golem)
    other_venue.venue = "another"
    for _ in range(settings.GOLEM_VENUE_TRUST_CLEAN_OUTCOMES):
        note(elsewhere, 0)
        note(other_venue, 0)
    trust.refresh_from_db()

    assert (trust.is_low, trust.clean_outcomes) == (True, 0)


def test_an_owner_restores_it_with_a_reason_once(permit: ActionPermit, trust: VenueTrust, client: Client) -> None:
    client.force_login(permit.golem.owner)
    url = page("permits_app.venuetrust", "restore", trust.pk)
    client.post(url, {"reason": ""})
    trust.refresh_from_db()
    assert trust.is_low

    client.post(url, {"reason": "the pool was rebalanced"})
    trust.refresh_from_db()
    assert not trust.is_low
    entry = AuditEntry.objects.get(golem_id=permit.golem_id, event="VenueTrustRestored")
    assert entry.data["reason"] == "the pool was rebalanced"
    assert entry.actor == f"owner:{permit.golem.owner_id}"
    with pytest.raises(NothingToAcknowledge):
        restore_venue_trust(trust=trust, actor="owner:1", reason="again", now=clock.now())


def test_nobody_restores_the_trust_of_another_owners_golem(trust: VenueTrust, client: Client) -> None:
    client.force_login(factories.make_owner(name="bo"))
    answer = client.post(page("permits_app.venuetrust", "restore", trust.pk), {"reason": "mine"})
    trust.refresh_from_db()

    assert answer.status_code in (302, 403, 404)
    assert trust.is_low
    assert Golem.objects.filter(pk=trust.golem_id).exists()
