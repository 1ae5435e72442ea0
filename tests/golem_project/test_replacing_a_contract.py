"""Another contract in the place of the one that stands: asked for in the browser, judged by the one that stands."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.roles import Role
from permits_app.actions.execute_change import execute_change
from permits_app.actions.request_change import request_operation
from permits_app.approval_errors import ChangeUnchanged, ContractStillActs
from permits_app.models import CageMirror, ChangeRequest, PolicyCage
from permits_app.policy_cage.contract import Limit, encode_propose, encode_set_session, limit_rule
from permits_app.policy_cage.safe_tx import ENABLE_MODULE, ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from tests.admin.members import make_member
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.people import approve, carry_out
from tests.permits_app.approvals.safes import OwnedSafe, make_relayer, owner_transaction
from tools_app.chain.abi import encode_call
from tools_app.core import clock

TwoOwners = tuple[LiveGolem, Any, Any]
OTHER_BPS = 2_500


def browse(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def safe(two_owners: TwoOwners, settings: Any) -> OwnedSafe:
    """A golem of two owners behind a contract that its Safe acts through, with a key appointed in it."""
    live, owner, _ = two_owners
    owner.groups.add(ensure_owner_group())
    made = OwnedSafe(live)
    make_relayer(live, settings)
    appoint(made, live.golem.wallet.address)
    return made


def appoint(safe: OwnedSafe, key: str) -> None:
    expires = int(clock.now().timestamp()) + 3_600 if key != ZERO_ADDRESS else 0
    few = 1 if key != ZERO_ADDRESS else 0
    data = encode_set_session(key=key, expires_at=expires, operations=few, budget_micro_usd=few * 10**6)
    safe.owner_call(safe.mirror.contract, data)
    safe.sync()


def deploy_another(safe: OwnedSafe, owner: Any, account: str = "") -> dict[str, str]:
    """On the page, with the golem's figures as they are here; the contract and its block, as the page goes on with."""
    PolicyCage.objects.filter(golem=safe.live.golem).update(max_concentration_bps=OTHER_BPS)
    page = reverse("cage_set_up", args=[safe.live.golem.pk])
    given = {"account": account or safe.address, "mark": "26,000", "guardian": ""}
    answer = browse(owner).post(page, {"do": "deploy", **given})
    assert answer.status_code == 302, answer.content.decode()
    found = parse_qs(urlsplit(answer["Location"]).query)
    return {"contract": found["contract"][0], "block": found["block"][0]}


def ask(safe: OwnedSafe, owner: Any, given: dict[str, str]) -> ChangeRequest:
    client, page = browse(owner), reverse("cage_set_up", args=[safe.live.golem.pk])
    told = client.get(page, given).content.decode()
    assert f'value="{given["contract"]}"' in told and "Ask to follow it" in told
    answer = client.post(page, {"do": "follow", "reason": "stricter", **given})
    request = ChangeRequest.objects.get(kind="follow")
    assert answer["Location"] == reverse("admin:permits_app_changerequest_change", args=[request.pk])
    return request


def test_a_contract_that_stands_is_replaced_by_its_owners_and_loses_its_rights_on_the_same_page(
    safe: OwnedSafe, two_owners: TwoOwners
) -> None:
    live, owner, other = two_owners
    before = safe.mirror.contract
    given = deploy_another(safe, owner)
    # Nobody follows what one administrator deployed.
    assert CageMirror.objects.get().contract == before != given["contract"]
    request = ask(safe, owner, given)
    assert (request.risk_tier, request.cooling_seconds) == ("CRITICAL", 172_800)
    assert request.needs_second_factor and request.barred_owner_id == owner.pk
    approve(request, other)
    request = carry_out(request, chain=safe.live.world)
    assert request.state == "EXECUTED", request.problem
    mirror = CageMirror.objects.get()
    assert (mirror.contract, mirror.replaced, mirror.is_enforced) == (given["contract"], before, False)
    assert mirror.synced_at is not None and mirror.cage.max_concentration_bps == OTHER_BPS

    client, page = browse(owner), reverse("admin:archetypes_app_golem_cage", args=[live.golem.pk])
    told = client.get(page).content.decode()
    assert f"<code>{before}</code>" in told and "Let the cage act for the Safe" in told
    safe.owner_call(safe.address, encode_call(ENABLE_MODULE, mirror.contract))
    disable = reverse("admin:archetypes_app_golem_cage_act", args=[live.golem.pk, "disable"])
    assert client.post(disable, {"disable-reason": "it is replaced"}).status_code == 302
    asked = ChangeRequest.objects.get(kind="cage")
    assert asked.risk_tier == "STANDARD"
    signed = safe.sign(owner_transaction(asked).safe_tx_hash)
    execute_change(request_id=approve(asked, owner, signature=signed, code="").pk, now=clock.now())
    asked.refresh_from_db()
    mirror.refresh_from_db()
    assert asked.state == "EXECUTED", asked.problem
    assert (mirror.replaced, mirror.is_enforced) == ("", True)
    assert before not in client.get(page).content.decode()
    # What is gone is not asked for twice.
    assert client.post(disable, {"disable-reason": "again"}, follow=True).status_code != 500
    assert ChangeRequest.objects.filter(kind="cage").count() == 1


def test_what_differs_is_shown_with_what_the_contract_that_stands_would_let_it_wait(
    safe: OwnedSafe, two_owners: TwoOwners
) -> None:
    _, owner, _ = two_owners
    request = ask(safe, owner, deploy_another(safe, owner))
    told = request.shown["differences"]
    lines = {line["words"]: line for line in told}
    loosens = [line["note"].startswith("loosens") for line in told]
    assert loosens[0]
    assert lines["What enforces its cage"]["before"] == safe.mirror.contract
    [share] = [line for words, line in lines.items() if words.startswith("One asset at most")]
    assert (share["before"], share["after"], share["note"]) == ("60.00%", "25.00%", "tightens")
    goes_on = lines[f"What {safe.mirror.contract} may do"]
    assert safe.live.golem.wallet.address in goes_on["before"] and "both contracts let keys act" in goes_on["note"]
    assert lines["Session key"]["before"] != "nobody" if "Session key" in lines else True
    assert "instead of" in request.title


def test_what_the_contract_that_stands_calls_looser_waits_as_long_as_there(
    safe: OwnedSafe, two_owners: TwoOwners
) -> None:
    _, owner, _ = two_owners
    appoint(safe, ZERO_ADDRESS)
    PolicyCage.objects.filter(golem=safe.live.golem).update(max_drawdown_bps=3_000)
    request = ask(safe, owner, deploy_another(safe, owner))
    lines = {line["words"]: line for line in request.shown["differences"]}
    [drawdown] = [line for words, line in lines.items() if words.startswith("Drawdown at most")]
    assert (drawdown["before"], drawdown["after"]) == ("13.00%", "30.00%")
    assert drawdown["note"] == "loosens; the contract that stands lets it wait 2 d"
    assert request.cooling_seconds == 172_800


def test_a_contract_that_was_changed_meanwhile_is_not_replaced(safe: OwnedSafe, two_owners: TwoOwners) -> None:
    _, owner, other = two_owners
    request = ask(safe, owner, deploy_another(safe, owner))
    approve(request, other)
    safe.owner_call(safe.mirror.contract, encode_propose([limit_rule(Limit.MAX_DRAWDOWN_BPS, 900)]))
    safe.sync()
    request = carry_out(request, chain=safe.live.world)
    assert request.state == "STALE" and "changed since" in request.state_reason
    assert CageMirror.objects.get().contract == safe.mirror.contract


def test_the_same_contract_and_one_over_another_account_while_keys_act_ask_nobody(
    safe: OwnedSafe, two_owners: TwoOwners
) -> None:
    live, owner, _ = two_owners
    same = {"contract": safe.mirror.contract, "deployed_block": str(safe.mirror.deployed_block)}
    elsewhere = deploy_another(safe, owner, account=live.golem.wallet.address)
    over_another = {"contract": elsewhere["contract"], "deployed_block": elsewhere["block"]}

    def request(arguments: dict[str, str]) -> ChangeRequest:
        return request_operation(
            golem=live.golem, name="follow", arguments=arguments, owner=owner, reason="x", now=clock.now()
        )

    for arguments, refusal in ((same, ChangeUnchanged), (over_another, ContractStillActs)):
        with pytest.raises(refusal):
            request(arguments)
    assert not ChangeRequest.objects.exists()
    appoint(safe, ZERO_ADDRESS)
    assert CageState.from_dict(safe.mirror.state).session.key == ZERO_ADDRESS
    assert request(over_another).risk_tier == "CRITICAL"


def test_the_page_of_a_contract_leads_to_another_one_for_who_administers_the_golem_alone(
    safe: OwnedSafe, two_owners: TwoOwners
) -> None:
    live, owner, _ = two_owners
    page, target = reverse("admin:archetypes_app_golem_cage", args=[live.golem.pk]), f"/admin/cage/{live.golem.pk}/"
    assert target in browse(owner).get(page).content.decode()
    assert target not in browse(make_member(live.golem, Role.OPERATOR, name="operator")).get(page).content.decode()
