"""An owner tries a draft of the policy and finds the least one, in a real browser, and follows a long trial."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.try_policy import run_trial
from permits_app.admin import policy_pages
from permits_app.errors import PolicyRejected
from permits_app.models import ActionPermit, ChangeRequest, PolicyTrial, SpendingLimits
from tests.browser.conftest import PHONE, press
from tests.factories.golems import PASSWORD
from tests.live_golem import LiveGolem

pytestmark = pytest.mark.browser


@pytest.fixture
def lived(shared_golem: LiveGolem) -> LiveGolem:
    """Two swaps allowed, one refused, one from before facts were kept."""
    owner = shared_golem.owner
    owner.set_password(PASSWORD)
    owner.save()
    owner.groups.add(ensure_owner_group())
    for amount in ("50000000", "100000000", "200000000"):
        shared_golem.preview(amount=amount)
    ActionPermit.objects.filter(pk=ActionPermit.objects.earliest("created_at").pk).update(facts={})
    SpendingLimits.objects.filter(golem=shared_golem.golem).update(per_transaction_micro_usd=400_000_000)
    with pytest.raises(PolicyRejected):
        shared_golem.preview(amount="600000000")
    return shared_golem


def test_a_draft_is_tried_and_the_least_policy_is_asked_for(open_window: Any, lived: LiveGolem) -> None:
    visit = open_window()
    visit.log_in(lived.owner.username)
    page = visit.open(f"/admin/archetypes_app/golem/{lived.golem.pk}/policy/")
    visit.shoot("policy")
    page.get_by_label("Per transaction").fill("700")
    press(page.get_by_role("button", name="Try it on past decisions"))
    visit.shoot("policy-trial")
    text = page.inner_text("#content")
    assert "newly allowed, worth $600.00" in text
    assert "1 cannot be judged: recorded before facts were kept" in text

    page = visit.open(f"/admin/archetypes_app/golem/{lived.golem.pk}/policy/")
    press(page.get_by_role("button", name="Find the tightest rules"))
    visit.shoot("policy-least")
    assert "Under this policy all 2 calls" in page.inner_text("#content")
    page.get_by_label("Why").fill("no wider than it was used")
    press(page.get_by_role("button", name="Take it over"))
    visit.shoot("policy-taken-over")
    limits = SpendingLimits.objects.get(golem=lived.golem)
    assert 200_000_000 < limits.per_transaction_micro_usd < 210_000_000
    assert not ChangeRequest.objects.exists(), "everything tightened"
    press(page.get_by_role("link", name="v1"))
    visit.shoot("policy-version")
    assert "loosens" in page.inner_text("#content")


def test_a_long_trial_is_followed_to_its_end(
    open_window: Any, lived: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy_pages, "is_long", lambda trial: True)
    monkeypatch.setattr(policy_pages, "enqueue", lambda task, **given: None)
    visit = open_window()
    visit.log_in(lived.owner.username)
    page = visit.open(f"/admin/archetypes_app/golem/{lived.golem.pk}/policy/")
    press(page.get_by_role("button", name="Try it on past decisions"))
    page.get_by_text("Waiting for a worker").wait_for()
    visit.shoot("policy-trial-running")
    run_trial(trial_id=PolicyTrial.objects.get().pk)
    page.get_by_text("What would be decided otherwise").wait_for(timeout=20_000)
    assert "Every decision that can be judged would be decided as it was" in page.inner_text("#content")


def test_on_a_phone_the_policy_pages_do_not_scroll_sideways(open_window: Any, lived: LiveGolem) -> None:
    visit = open_window(viewport=PHONE)
    visit.log_in(lived.owner.username)
    page = visit.open(f"/admin/archetypes_app/golem/{lived.golem.pk}/policy/")
    assert visit.overflow() == 0
    page.get_by_text("The tightest rules that would have allowed it all").click()
    press(page.get_by_role("button", name="Find the tightest rules"))
    visit.shoot("phone-policy-least")
    assert visit.overflow() == 0
