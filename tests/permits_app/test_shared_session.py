"""Keys of one golem and its session limit: one for those that share it, a fresh one only where the owner says so."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.actions.revoke_api_key import rotate_api_key
from archetypes_app.models import ApiKey, Golem
from permits_app.limits import ledger
from tests import factories
from tests.admin.rows import page
from tests.factories.permits import make_spend_entry
from tools_app.core import clock

pytestmark = pytest.mark.django_db


@pytest.fixture
def golem() -> Golem:
    return factories.make_golem(owner=factories.make_owner())


def make_key(golem: Golem, **given: str) -> tuple[ApiKey, str]:
    """A key made in the admin, and the page that shows it."""
    browser = Client()
    browser.force_login(golem.owner)
    body = {"golem": str(golem.pk), "scopes": ["read", "preview", "commit"], "lifetime_days": "30", **given}
    answer = browser.post(page("archetypes_app.apikey", "add"), body, follow=True)
    key: ApiKey = answer.context["key"]
    return key, answer.content.decode()


def used(golem: Golem, key: ApiKey) -> int:
    return ledger.read_usage(golem_id=golem.pk, api_key_id=key.pk, heartbeat_tick=0, now=clock.now()).session_micro_usd


def spend(golem: Golem, key: Any) -> int:
    permit = factories.make_permit(golem=golem, api_key=key)
    make_spend_entry(permit=permit)
    return permit.value_micro_usd


def test_a_second_key_shares_the_session_of_the_first_unless_told_otherwise(golem: Golem) -> None:
    first, alone = make_key(golem)
    second, sharing = make_key(golem)
    third, fresh = make_key(golem, session="own")
    amount = spend(golem, first)
    assert [used(golem, key) for key in (first, second, third)] == [amount, amount, 0]
    assert "session limit of its own" in alone and "session limit of its own" in fresh
    assert "shares its session limit with 1 other key" in sharing
    spend(golem, second)
    assert used(golem, first) == 2 * amount


def test_the_form_says_what_a_fresh_session_means_before_the_key_is_made(golem: Golem) -> None:
    browser = Client()
    browser.force_login(golem.owner)
    text = browser.get(page("archetypes_app.apikey", "add")).content.decode()
    assert "spend its session limit once more" in text


def test_replacing_one_of_several_keys_makes_no_fresh_limit_and_replacing_the_only_one_does(golem: Golem) -> None:
    only, _ = make_key(golem)
    amount = spend(golem, only)
    alone = rotate_api_key(key=only, rotated_by=golem.owner, now=clock.now()).key
    assert used(golem, alone) == 0
    shared, _ = make_key(golem)
    spend(golem, alone)
    again = rotate_api_key(key=shared, rotated_by=golem.owner, now=clock.now()).key
    assert used(golem, again) == amount


def test_a_session_is_never_shared_across_golems(golem: Golem) -> None:
    other = factories.make_golem(owner=golem.owner, name="Borea")
    key, _ = make_key(golem)
    spend(golem, key)
    stranger, _ = make_key(other)
    assert stranger.session_id != key.session_id
    assert used(other, stranger) == 0
