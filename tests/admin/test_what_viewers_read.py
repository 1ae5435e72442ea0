"""What somebody who may only look reads on the pages of a golem's policy: figures as people say them."""

from __future__ import annotations

import pytest
from django.urls import reverse

from archetypes_app.models import Golem, Heartbeat
from archetypes_app.roles import Role
from permits_app.models import SpendingLimits
from tests import factories
from tests.admin.members import golem as golem
from tests.admin.members import log_in, make_member
from tests.admin.rows import make_declared_peg, page
from tools_app.wording.formats import format_chain


def test_a_viewer_reads_limits_and_cage_in_dollars_and_percent(golem: Golem) -> None:
    viewer = make_member(golem, Role.VIEWER, name="vera")
    for model, row, figure, words in (
        ("permits_app.spendinglimits", golem.spending_limits, "$10,000.00", "Per transaction"),
        ("permits_app.policycage", golem.policy_cage, "25.00%", "One venue position"),
    ):
        told = log_in(viewer).get(page(model, "change", row.pk)).content.decode()
        assert figure in told and words in told, model
        assert "micro usd" not in told.lower() and "10000000000" not in told and " bps" not in told.lower()
        assert 'name="_save"' not in told


def test_a_viewer_reads_a_declared_peg_in_percent_with_its_chain_by_name(golem: Golem) -> None:
    peg = make_declared_peg(golem)
    url = page("permits_app.declaredpeg", "change", peg.pk)
    told = log_in(make_member(golem, Role.VIEWER, name="vera")).get(url).content.decode()
    assert "2.00%" in told and format_chain(peg.chain_id) in told and peg.name in told
    assert f">{peg.most_apart_bps}<" not in told and f">{peg.chain_id}<" not in told and 'name="_save"' not in told
    assert 'name="most_apart_bps"' in log_in(golem.owner).get(url).content.decode()


def test_the_rules_are_told_in_percent_hours_and_words_to_an_owner_and_to_a_viewer(golem: Golem) -> None:
    SpendingLimits.objects.filter(golem=golem).update(max_slippage_bps=75)
    for person in (golem.owner, make_member(golem, Role.VIEWER, name="vera")):
        told = log_in(person).get(page("archetypes_app.golem", "rules", golem.pk)).content.decode()
        for words in ("25%", "0.75%", "1 hour", "1 minute", "only what is listed"):
            assert words in told, words
        assert " bps" not in told and "3600 s" not in told and "STRICT" not in told


def test_a_viewer_reads_what_rules_keep_and_an_owner_changes_it(golem: Golem) -> None:
    rule = {"token_a": "WETH", "token_b": "USDC", "target_micro_usd": 1_234_000_000}
    shares = {"weights": {"WETH": 6_000, "USDC": 4_000}, "band_bps": 250, "most_micro_usd": 500_000_000}
    heartbeat = Heartbeat.objects.create(golem=golem, liquidity_rule=rule, strategies={"target_weights": shares})
    url = page("archetypes_app.heartbeat", "change", heartbeat.pk)
    told = log_in(make_member(golem, Role.VIEWER, name="vera")).get(url).content.decode()
    for words in ("$1,234.00", "Worth of the position", "2.50%", "WETH 60, USDC 40", "$500.00"):
        assert words in told, words
    assert 'name="target_micro_usd"' not in told and "micro usd" not in told.lower()
    assert 'name="target_micro_usd"' in log_in(golem.owner).get(url).content.decode()


@pytest.mark.parametrize("expires_at", [1_800_000_000, 2**40])
def test_what_a_key_was_given_is_told_in_dollars_however_far_its_end_is(golem: Golem, expires_at: int) -> None:
    given = {"expires_at": expires_at, "operations": 1_200, "budget_micro_usd": "5000000"}
    key = factories.make_signing_key(golem=golem, granted=given)
    told = log_in(golem.owner).get(page("permits_app.signingkey", "change", key.pk)).content.decode()
    assert ("until 2027-01-15" in told) == (expires_at == 1_800_000_000)
    assert "1,200 operations; $5.00" in told and "budget_micro_usd" not in told


def test_the_page_of_what_is_done_opens_for_who_may_do_it_alone(golem: Golem) -> None:
    permit, key = factories.make_permit(golem=golem), golem.api_keys.get()
    asked = [
        (page("permits_app.actionpermit", "block", permit.pk), {Role.OPERATOR}),
        (page("archetypes_app.apikey", "revoke", key.pk), {Role.OPERATOR}),
        (page("archetypes_app.apikey", "add"), {Role.OPERATOR}),
        (page("permits_app.wallet", "back_up", factories.make_wallet(golem=golem).pk), set()),
        (page("permits_app.changerequest", "cancel", factories.make_change_request(golem=golem).pk), {Role.APPROVER}),
    ]
    stranger = factories.make_owner(name="eve")
    for number, (url, roles) in enumerate(asked):
        for role in (Role.VIEWER, Role.OPERATOR, Role.APPROVER):
            person = make_member(golem, role, name=f"{role} {number}")
            answer = log_in(person).get(url)
            assert answer.status_code == (200 if role in roles else 403), (url, role)
            assert role in roles or "Not allowed" in answer.content.decode(), (url, role)
        assert log_in(golem.owner).get(url).status_code == 200, url
        if not url.endswith("/add/"):
            assert log_in(stranger).get(url).status_code == 404, url


def test_services_are_a_page_of_who_owns_a_golem_or_may_make_one(golem: Golem) -> None:
    viewer, services = log_in(make_member(golem, Role.VIEWER, name="vera")), reverse("services")
    assert viewer.get(services).status_code == viewer.post(services, {"do": "off"}).status_code == 403
    assert services not in viewer.get(reverse("admin:index")).content.decode()
    owner = log_in(golem.owner)
    assert owner.get(services).status_code == 200 and services in owner.get(reverse("admin:index")).content.decode()


def test_a_list_has_no_action_for_ticked_rows_where_none_is_theirs_to_change(golem: Golem) -> None:
    factories.make_allowlist_entry(golem=golem)
    url = page("permits_app.allowlistentry", "changelist")
    viewer = log_in(make_member(golem, Role.VIEWER, name="vera")).get(url).content.decode()
    owner = log_in(golem.owner).get(url).content.decode()
    assert 'value="delete_selected"' in owner and 'name="_selected_action"' in owner
    assert 'value="delete_selected"' not in viewer and 'name="_selected_action"' not in viewer
