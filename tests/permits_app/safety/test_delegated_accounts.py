"""An account that runs another contract's code (EIP-7702) is not its key's alone: it signs nothing here."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from golem_project.alerts.topics import find_topic
from permits_app.actions import find_delegations
from permits_app.errors import PolicyRejected
from permits_app.models import SigningKey
from permits_app.tasks import commit_openings_task
from tests import factories
from tests.live_golem import LiveGolem
from tools_app.core.models import AuditEntry, OutboxEvent

SOMEBODY = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"


def test_an_account_that_delegated_itself_is_refused_at_preview_and_at_commit(live_golem: LiveGolem) -> None:
    account, rpc = live_golem.golem.address, live_golem.world.rpc
    before = live_golem.preview()["permit_id"]
    rpc.call("anvil_setCode", account, "0xef0100" + SOMEBODY[2:])
    rpc.call("evm_mine")
    with pytest.raises(PolicyRejected) as refused:
        live_golem.preview(amount="400000000")
    answer = live_golem.commit(before)

    assert (refused.value.code, refused.value.data["rule"]) == ("POLICY_REJECTED", "simulator.account_delegated")
    assert refused.value.data["contract"] == SOMEBODY
    assert "withdrawn" in refused.value.data["would_pass"]
    assert not live_golem.permit(before).transactions.exists()
    assert answer["problem"]["rule"] == "simulator.account_delegated"
    rpc.call("anvil_setCode", account, "0x")
    assert live_golem.commit(live_golem.preview(amount="400000000")["permit_id"])["status"] == "COMMITTED"


def sign_in(person: Any) -> Client:
    person.is_staff = True
    person.save()
    person.groups.add(ensure_owner_group())
    browser = Client()
    browser.force_login(person)
    return browser


def list_pages(golem: LiveGolem, browser: Client) -> list[str]:
    """Where owners look first."""
    addresses = (
        reverse("admin:index"),
        reverse("admin:archetypes_app_golem_change", args=[golem.golem.pk]),
        reverse("cockpit", args=[golem.golem.pk]),
    )
    return [browser.get(address).content.decode() for address in addresses]


def test_a_key_that_delegated_its_account_is_told_on_its_owners_pages_until_that_is_over(
    live_golem: LiveGolem, django_user_model: Any
) -> None:
    account, rpc = live_golem.golem.address, live_golem.world.rpc
    commit_openings_task.run()
    browser = sign_in(live_golem.owner)
    assert not any(SOMEBODY in page for page in list_pages(live_golem, browser))

    rpc.call("anvil_setCode", account, "0xef0100" + SOMEBODY[2:])
    rpc.call("evm_mine")
    for _ in range(2):
        assert commit_openings_task.run()["delegated"] == 1
    for page in list_pages(live_golem, browser):
        assert SOMEBODY in page and "somebody else has the key" in page
    [told] = OutboxEvent.objects.filter(golem_id=live_golem.golem.pk, type="signer:delegated")
    assert (told.payload["account"], told.payload["contract"]) == (account, SOMEBODY)
    assert find_topic(told.type, told.payload) == "danger"
    assert AuditEntry.objects.filter(golem_id=live_golem.golem.pk, event="SignerDelegated").count() == 1

    stranger = django_user_model.objects.create_user("stranger", password="x", is_staff=True)
    assert SOMEBODY not in sign_in(stranger).get(reverse("admin:index")).content.decode()

    rpc.call("anvil_setCode", account, "0x")
    rpc.call("evm_mine")
    assert commit_openings_task.run()["delegated"] == 0
    assert not any(SOMEBODY in page for page in list_pages(live_golem, browser))
    assert SigningKey.objects.get(golem=live_golem.golem).delegated == {}
    assert AuditEntry.objects.filter(golem_id=live_golem.golem.pk, event="SignerDelegationEnded").count() == 1


def test_a_contract_at_the_address_of_a_key_is_no_delegation(live_golem: LiveGolem) -> None:
    rpc = live_golem.world.rpc
    rpc.call("anvil_setCode", live_golem.golem.address, "0x600100" + SOMEBODY[2:])
    rpc.call("evm_mine")
    assert commit_openings_task.run()["delegated"] == 0
    rpc.call("anvil_setCode", live_golem.golem.address, "0x")


def test_more_keys_than_a_round_takes_are_looked_at_by_turns(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = live_golem.golem
    others = [
        factories.make_signing_key(
            golem=factories.make_golem(owner=golem.owner, name=name, home_chain_id=golem.home_chain_id)
        )
        for name in ("a", "b")
    ]
    monkeypatch.setattr(find_delegations, "MOST_A_ROUND", 1)
    account, rpc = golem.address, live_golem.world.rpc
    rpc.call("anvil_setCode", account, "0xef0100" + SOMEBODY[2:])
    rpc.call("evm_mine")
    keys = SigningKey.objects.count()
    assert keys == 1 + len(others)
    seen = [commit_openings_task.run()["delegated"] for _ in range(2 * keys)]
    rpc.call("anvil_setCode", account, "0x")
    assert sorted(seen[:keys]) == sorted(seen[keys:]) == [0, 0, 1]
