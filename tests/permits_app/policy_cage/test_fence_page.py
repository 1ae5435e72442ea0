"""The page of a second fence: the manifest of a cage, a Roles contract held against it, and what owners sign."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from permits_app.policy_cage.contract import encode_set_session
from permits_app.policy_cage.zodiac_roles_calls import ALLOW_FUNCTION
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import CagedGolem
from tests.proof.heists.roles import install_roles
from tools_app.chain.abi import encode_call

ROLE = b"golem".ljust(32, b"\0")


@pytest.fixture
def caged(live_golem: LiveGolem) -> CagedGolem:
    live_golem.owner.groups.add(ensure_owner_group())
    return CagedGolem(live_golem)


def browse(person: Any) -> Client:
    browser = Client()
    browser.force_login(person)
    return browser


def page_of(caged: CagedGolem, name: str = "fence") -> str:
    return reverse(f"admin:archetypes_app_golem_{name}", args=[caged.live.golem.pk])


def test_owners_hold_a_roles_contract_against_their_cage_and_sign_what_the_page_gives_them(
    caged: CagedGolem, tmp_path: Path
) -> None:
    caged.safe.keep_up()
    roles = install_roles(caged.world.rpc, caged.safe.engine, safe=caged.safe.address)
    browser, asked = browse(caged.live.owner), {"roles": roles, "role": "golem", "since": "0"}
    assert page_of(caged) in browser.get(page_of(caged, "cage")).content.decode()

    shown = browser.get(page_of(caged), asked)
    assert shown.status_code == 200
    text = shown.content.decode()
    assert "does not have the role" in text and "may not be called yet" in text
    answer = browser.get(page_of(caged, "fence_file"), asked)
    assert answer.status_code == 200 and "attachment" in answer["Content-Disposition"]
    document = answer.json()
    assert document["meta"]["createdFromSafeAddress"] == caged.safe.address
    # The command writes the same.
    out = tmp_path / "roles.json"
    call_command("roles_manifest", str(caged.live.golem.pk), roles=roles, out=str(out), stdout=io.StringIO())
    assert json.loads(out.read_text()) == document

    assert len(document["transactions"]) > 10
    for row in document["transactions"]:
        assert row["to"] == roles and row["value"] == "0"
        caged.safe.owner_call(roles, bytes.fromhex(row["data"][2:]))
    text = browser.get(page_of(caged), asked).content.decode()
    assert "says what the rules of the cage say" in text and "differs" not in text
    assert browser.get(page_of(caged, "fence_file"), asked).json()["transactions"] == []

    # What somebody adds there by hand is a line, and taken back by the next file.
    usdc = caged.world.tokens["USDC"].address
    caged.safe.owner_call(roles, encode_call(ALLOW_FUNCTION, ROLE, usdc, bytes.fromhex("a9059cbb"), 0))
    text = browser.get(page_of(caged), asked).content.decode()
    assert "0xa9059cbb at" in text and "may be called, and should not" in text
    [row] = browser.get(page_of(caged, "fence_file"), asked).json()["transactions"]
    caged.safe.owner_call(roles, bytes.fromhex(row["data"][2:]))
    assert "says what the rules of the cage say" in browser.get(page_of(caged), asked).content.decode()


def test_without_a_contract_the_page_tells_the_manifest_alone(caged: CagedGolem) -> None:
    text = browse(caged.live.owner).get(page_of(caged)).content.decode()
    assert "as permissions of Zodiac Roles v2" in text
    assert "What stands on the chain" not in text


def test_what_is_no_fence_of_the_safe_is_refused_by_name(caged: CagedGolem) -> None:
    browser = browse(caged.live.owner)
    usdc = caged.world.tokens["USDC"].address
    for name in ("fence", "fence_file"):
        answer = browser.get(page_of(caged, name), {"roles": usdc, "role": "golem", "since": "0"})
        assert answer.status_code == 422
        assert "NOT_A_FENCE" in answer.content.decode()
    answer = browser.get(page_of(caged), {"roles": "0x12", "role": "golem", "since": "-1"})
    assert answer.status_code == 422 and "NOT_A_FENCE" not in answer.content.decode()
    # A file is made of a whole form alone.
    assert browser.get(page_of(caged, "fence_file"), {"roles": "0x12"}).status_code == 302
    assert browser.post(page_of(caged)).status_code == 405


def test_a_cage_in_which_nobody_is_appointed_has_nobody_to_give_a_role(caged: CagedGolem) -> None:
    nobody = encode_set_session(key="0x" + "00" * 20, expires_at=0, operations=0, budget_micro_usd=0)
    caged.safe.owner_call(caged.mirror.contract, nobody)
    caged.sync()
    usdc = caged.world.tokens["USDC"].address
    answer = browse(caged.live.owner).get(page_of(caged), {"roles": usdc, "role": "golem", "since": "0"})
    assert answer.status_code == 409 and "NOBODY_APPOINTED" in answer.content.decode()


def test_who_may_not_see_a_golem_sees_no_fence_of_it(caged: CagedGolem, django_user_model: Any) -> None:
    stranger = django_user_model.objects.create_user("stranger", password="x", is_staff=True)
    stranger.groups.add(ensure_owner_group())
    for name in ("fence", "fence_file"):
        assert browse(stranger).get(page_of(caged, name)).status_code == 404
        assert Client().get(page_of(caged, name)).status_code == 302
