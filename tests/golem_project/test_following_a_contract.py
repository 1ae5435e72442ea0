"""A golem that can act follows a contract: its owners see what gets looser, decide, and the contract is read again."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.request_change import request_operation
from permits_app.approval_errors import ChangeUnchanged
from permits_app.errors import CageContradicted, NotACage
from permits_app.models import AllowlistEntry, CageCheckpoint, CageMirror, ChangeRequest, PolicyCage
from permits_app.models.allowlist import AllowlistKind
from permits_app.policy_cage.contract import Limit, encode_halt, encode_propose, limit_rule
from permits_app.policy_cage.state import CageState
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.people import approve, carry_out
from tests.permits_app.approvals.safes import OwnedSafe
from tools_app.core import clock
from tools_app.core.models import AuditEntry

TwoOwners = tuple[LiveGolem, Any, Any]
STRICTER_BPS = 3_000


@pytest.fixture
def safe(two_owners: TwoOwners) -> OwnedSafe:
    """A Safe with a contract that somebody deployed; the golem, stricter than it, follows none."""
    live, owner, other = two_owners
    owner.groups.add(ensure_owner_group())
    made = OwnedSafe(live)
    CageCheckpoint.objects.all().delete()
    CageMirror.objects.all()._raw_delete("default")  # as if nobody had followed it
    PolicyCage.objects.filter(golem=live.golem).update(max_concentration_bps=STRICTER_BPS)
    return made


def ask(safe: OwnedSafe, owner: Any, **changes: str) -> ChangeRequest:
    """`owner` asks on the page; the request."""
    client = Client()
    client.force_login(owner)
    page = reverse("cage_set_up", args=[safe.live.golem.pk])
    assert "Ask to follow it" in client.get(page).content.decode()
    given = {"contract": safe.mirror.contract, "block": str(safe.mirror.deployed_block), "reason": "ours", **changes}
    answer = client.post(page, {"do": "follow", **given})
    assert answer.status_code == 302, answer.content.decode()
    request = ChangeRequest.objects.get(kind="follow")
    assert answer["Location"] == reverse("admin:permits_app_changerequest_change", args=[request.pk])
    return request


def lines_of(request: ChangeRequest) -> dict[str, dict[str, str]]:
    return {line["words"]: line for line in request.shown["differences"]}


def test_owners_agree_to_what_a_contract_says_and_then_it_is_followed(safe: OwnedSafe, two_owners: TwoOwners) -> None:
    live, owner, other = two_owners
    request = ask(safe, owner)
    assert (request.risk_tier, request.cooling_seconds) == ("CRITICAL", 172_800)
    assert request.needs_second_factor and request.barred_owner_id == owner.pk
    assert not CageMirror.objects.exists()
    approve(request, other)
    assert not CageMirror.objects.exists()
    request = carry_out(request, chain=safe.live.world)
    assert request.state == "EXECUTED", request.problem
    mirror = CageMirror.objects.get(cage__golem=live.golem)
    assert (mirror.contract, mirror.account, mirror.is_enforced) == (safe.mirror.contract, safe.address, True)
    # As the command does it: read to the newest block, and the cage's own figures are the contract's.
    assert mirror.synced_at is not None and mirror.rules_hash == safe.mirror.rules_hash
    assert PolicyCage.objects.get(golem=live.golem).max_concentration_bps == 6_000
    assert AuditEntry.objects.filter(golem_id=live.golem.pk, event="CageRegistered").count() == 2
    with pytest.raises(ChangeUnchanged):
        arguments = {"contract": mirror.contract, "deployed_block": "1"}
        request_operation(
            golem=live.golem, name="follow", arguments=arguments, owner=owner, reason="again", now=clock.now()
        )


def test_what_gets_looser_is_named_first_and_each_rule_stands_beside_what_holds_today(
    safe: OwnedSafe, two_owners: TwoOwners
) -> None:
    live, owner, _ = two_owners
    token = AllowlistEntry.objects.filter(golem=live.golem, kind=AllowlistKind.TOKEN).order_by("pk")[0]
    token.delete()
    request = ask(safe, owner)
    told, lines = request.shown["differences"], lines_of(request)
    loosens = [line["note"].startswith("loosens") for line in told]
    assert any(loosens) and loosens == sorted(loosens, reverse=True)
    [share] = [line for words, line in lines.items() if words.startswith("Max concentration")]
    assert (share["before"], share["after"], share["note"]) == ("30.00%", "60.00%", "loosens")
    assert lines["Account of the contract"]["before"].startswith(live.golem.wallet.address)
    assert lines["Account of the contract"]["after"] == safe.address
    assert lines["Calls that no protocol here declares"]["note"].startswith("loosens")
    assert all(owner.address in lines["Who changes its cage"]["after"] for owner in safe.owners)
    rules = [line for line in told if line.get("group")]
    # Every rule of the contract is there, but the figures that stand above with what they were.
    state = CageState.from_dict(safe.mirror.state)
    assert len([line for line in rules if line["after"] != "no rule of the contract"]) == len(state.rules) - 8
    wider = [line for line in rules if line["note"].startswith("wider than its allowlist")]
    assert len(wider) == 1 and wider[0]["group"] == "Assets" and wider[0]["before"] == "not on its allowlist"
    client = Client()
    client.force_login(owner)
    page = client.get(reverse("admin:permits_app_changerequest_change", args=[request.pk])).content.decode()
    assert "Conditions of calls" in page and "nobody refuses them until it does" in page


def test_a_loosening_that_waits_in_the_contract_is_named_with_its_time(safe: OwnedSafe, two_owners: TwoOwners) -> None:
    safe.owner_call(safe.mirror.contract, encode_propose([limit_rule(Limit.MAX_CONCENTRATION_BPS, 6_500)]))
    lines = lines_of(ask(safe, two_owners[1]))
    waits = lines["Waits in the contract: One asset at most"]
    assert waits["after"] == "65.00%" and waits["note"].startswith("loosens: by itself, from ")


def test_a_contract_that_says_something_else_by_then_is_not_followed(safe: OwnedSafe, two_owners: TwoOwners) -> None:
    _, owner, other = two_owners
    request = ask(safe, owner)
    approve(request, other)
    safe.owner_call(safe.mirror.contract, encode_halt())
    request = carry_out(request, chain=safe.live.world)
    assert request.state == "STALE" and "something else" in request.state_reason
    assert not CageMirror.objects.exists()


def test_a_request_to_follow_is_out_of_date_once_another_contract_is_followed(
    safe: OwnedSafe, two_owners: TwoOwners
) -> None:
    live, owner, other = two_owners
    request = ask(safe, owner)
    approve(request, other)
    OwnedSafe(live)
    followed = CageMirror.objects.get().contract
    assert carry_out(request, chain=safe.live.world).state == "STALE"
    assert CageMirror.objects.get().contract == followed != safe.mirror.contract


def test_what_is_no_cage_and_a_wrong_block_ask_nobody(safe: OwnedSafe, two_owners: TwoOwners) -> None:
    live, owner, _ = two_owners
    wrong = {"contract": live.world.contracts["weth9"], "deployed_block": "1"}
    late = {"contract": safe.mirror.contract, "deployed_block": str(safe.mirror.deployed_block + 1)}
    for arguments, refusal in ((wrong, NotACage), (late, CageContradicted)):
        with pytest.raises(refusal):
            request_operation(
                golem=live.golem, name="follow", arguments=arguments, owner=owner, reason="x", now=clock.now()
            )
    assert not ChangeRequest.objects.filter(kind="follow").exists()
