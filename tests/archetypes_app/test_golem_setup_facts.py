"""What is set up decides which tools exist: facts per golem and per server, and those a layer above hands down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from archetypes_app import golem_setup_facts
from archetypes_app.golem_setup_facts import (
    list_absent_requirements,
    list_every_need,
    list_needed_requirements,
    list_present_requirements,
)
from archetypes_app.models import Golem
from archetypes_app.toolset import ToolsetInputs, list_warnings, resolve_among
from golem_project import wiring
from permits_app.models import Wallet
from tests.archetypes_app.test_toolset import NOBODY, rule
from tests.archetypes_app.tools import make_tool
from tests.factories import make_golem, make_owner
from tools_app.toolkit.enums import Requirement

ADDRESS = "0x" + "Ab" * 20


@pytest.fixture
def golem(db: None) -> Golem:
    return make_golem(owner=make_owner(), address=ADDRESS)


@pytest.fixture
def needs_everything(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if some registered tool needed each requirement."""
    monkeypatch.setattr(golem_setup_facts, "list_needed_requirements", lambda: frozenset(Requirement))
    yield
    wiring.configure()


def test_a_wallet_with_a_plain_key_is_no_smart_wallet(golem: Golem, needs_everything: None) -> None:
    Wallet.objects.create(golem=golem, address=ADDRESS, kind="LOCAL_KEYSTORE")
    assert Requirement.WALLET in list_present_requirements(golem)
    assert Requirement.SMART_WALLET not in list_present_requirements(golem)


@pytest.mark.parametrize("kind", ["GNOSIS_SAFE", "POLICY_CAGE"])
def test_a_signer_that_can_batch_is_a_smart_wallet_of_that_golem_alone(
    golem: Golem, needs_everything: None, kind: str
) -> None:
    Wallet.objects.create(golem=golem, address=ADDRESS, kind=kind)
    other = make_golem(owner=golem.owner, name="Other", address="0x" + "Cd" * 20)
    assert Requirement.SMART_WALLET in list_present_requirements(golem)
    assert Requirement.SMART_WALLET not in list_present_requirements(other)


def test_what_a_server_can_lend_is_needed_by_some_registered_tool() -> None:
    """Services are its owner's."""
    closed = {need for need in list_needed_requirements() if isinstance(need, Requirement)}
    assert set(Requirement) == closed
    assert list_needed_requirements() <= list_every_need()


def test_the_server_does_not_call_a_golems_own_matter_absent() -> None:
    assert not {Requirement.WALLET, Requirement.SMART_WALLET} & set(list_absent_requirements())


def test_without_the_fact_from_above_nothing_is_smart(golem: Golem, needs_everything: None) -> None:
    Wallet.objects.create(golem=golem, address=ADDRESS, kind="GNOSIS_SAFE")
    golem_setup_facts.configure({})
    assert Requirement.SMART_WALLET not in list_present_requirements(golem)
    assert Requirement.SMART_WALLET in list_absent_requirements()


def test_a_fact_no_tool_needs_costs_no_query(
    golem: Golem, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(golem_setup_facts, "list_needed_requirements", frozenset)
    with django_assert_num_queries(0):
        list_present_requirements(golem)


def test_what_is_present_brings_the_tool_and_what_is_not_names_it(golem: Golem, needs_everything: None) -> None:
    tools = (make_tool("batch_a", requires=frozenset({Requirement.SMART_WALLET})), make_tool("plain_a"))

    def resolved() -> Any:
        return resolve_among(
            tools,
            ToolsetInputs(NOBODY, (rule("trader"),), requirements=list_present_requirements(golem)),
            protocols=frozenset(),
        )

    assert list_warnings(resolved()) == ("smart_wallet is not set up, so these tools are left out: batch_a",)
    Wallet.objects.create(golem=golem, address=ADDRESS, kind="GNOSIS_SAFE")
    assert resolved().names() == ("batch_a", "plain_a")
    assert list_warnings(resolved()) == ()
