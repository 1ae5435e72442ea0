"""What was refused has a page that says by which rule, and where its owner lets such a thing pass."""

from __future__ import annotations

import pytest
from django.urls import reverse

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.roles import Role
from permits_app.models import DeniedCall
from tests import factories
from tests.admin.members import log_in, make_member
from tests.admin.rows import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def golem() -> Golem:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    golem: Golem = factories.make_golem(owner=owner, name="Alpha")
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    return golem


def address(row: DeniedCall) -> str:
    return page("archetypes_app.golem", "refusal", row.golem_id, row.pk)


def lifts(golem: Golem) -> dict[str, tuple[str, str]]:
    limits, cage = golem.spending_limits, golem.policy_cage
    return {
        "spending_limiter.per_transaction": (
            "Raise this limit",
            f"{page('permits_app.spendinglimits', 'change', limits.pk)}#id_per_transaction_micro_usd",
        ),
        "policy_cage.max_position": (
            "Change this rule",
            f"{page('permits_app.policycage', 'change', cage.pk)}#id_max_position_bps",
        ),
        "allowlist_guard.token": (
            "Add to the allowlist",
            f"{page('permits_app.allowlistentry', 'add')}?golem={golem.pk}",
        ),
        "spending_limiter.owner_day": ("Raise the budget", page("permits_app.ownerbudget", "mine")),
    }


@pytest.mark.parametrize(
    "rule",
    [
        "spending_limiter.per_transaction",
        "policy_cage.max_position",
        "allowlist_guard.token",
        "spending_limiter.owner_day",
    ],
)
def test_a_refusal_leads_to_what_its_owner_would_change(golem: Golem, rule: str) -> None:
    row = factories.make_denied_call(golem=golem, rule=rule)
    told = log_in(golem.owner).get(address(row)).content.decode()
    words, url = lifts(golem)[rule]
    assert f'href="{url}">{words}</a>' in told
    assert "This could cost $25,000.00 in one transaction" in told


def test_the_field_it_leads_to_is_on_that_page(golem: Golem) -> None:
    browser = log_in(golem.owner)
    for words, url in list(lifts(golem).values())[:2]:
        path, _, field = url.partition("#")
        assert f'id="{field}"' in browser.get(path).content.decode(), words


@pytest.mark.parametrize("rule", ["simulator.reverted", "policy_cage.phase", "a_hook.nobody_named"])
def test_a_refusal_that_no_setting_lifts_says_so(golem: Golem, rule: str) -> None:
    row = factories.make_denied_call(golem=golem, rule=rule)
    told = log_in(golem.owner).get(address(row)).content.decode()
    assert "No setting lifts it" in told and "Raise" not in told.split("<main")[-1].split('id="content"')[-1]


def test_pages_tell_what_was_refused_by_rule_and_lead_to_each(golem: Golem) -> None:
    rows = [factories.make_denied_call(golem=golem) for _ in range(2)]
    rows.append(factories.make_denied_call(golem=golem, rule="policy_cage.max_position", value_micro_usd=1))
    browser = log_in(golem.owner)
    for path in (reverse("admin:index"), page("archetypes_app.golem", "change", golem.pk)):
        told = browser.get(path).content.decode()
        assert "<title>The limit of one transaction: 2</title>" in told, path
        assert "<title>The largest position: 1</title>" in told, path
    listed = browser.get(page("archetypes_app.golem", "rules", golem.pk)).content.decode()
    assert address(rows[1]) in listed and address(rows[2]) in listed and "2 times" in listed


def test_a_viewer_reads_a_refusal_and_is_offered_no_change(golem: Golem) -> None:
    row = factories.make_denied_call(golem=golem)
    told = log_in(make_member(golem, Role.VIEWER, name="vera")).get(address(row)).content.decode()
    assert "Refused by the limit of one transaction" in told and "Raise this limit" not in told


def test_a_refusal_of_another_golem_is_not_found(golem: Golem) -> None:
    other = factories.make_golem(owner=factories.make_owner(name="ben"), name="Beta")
    row = factories.make_denied_call(golem=other)
    browser = log_in(golem.owner)
    assert browser.get(address(row)).status_code == 404
    assert browser.get(page("archetypes_app.golem", "refusal", golem.pk, row.pk)).status_code == 404
