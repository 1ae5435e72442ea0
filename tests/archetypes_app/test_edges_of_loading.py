"""What a golem is loaded with, shared with and copied to, at the number and beside it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from archetypes_app.actions.import_archetypes import read_archetype_files
from archetypes_app.actions.invite_person import invite_person
from archetypes_app.actions.make_copy import _free_name
from archetypes_app.archetype_toml import parse_archetype
from archetypes_app.browse_and_load_tools import ToolNames
from archetypes_app.errors import InvalidToml, TooManyInvitations
from archetypes_app.models import Invitation
from archetypes_app.tool_loadout import Loadout, choose_core, make_loadout
from permits_app.safety.profile_rules import judge_range
from tests import factories
from tools_app.toolkit.enums import Category

NOW = datetime(2026, 11, 26, tzinfo=UTC)


@pytest.mark.parametrize(("count", "is_read"), [(500, True), (501, False)])
def test_five_hundred_archetypes_are_imported_at_once(count: int, is_read: bool, tmp_path: Path) -> None:
    for number in range(count):
        (tmp_path / f"{number:03}.toml").write_text("")
    with pytest.raises(InvalidToml) as refused:
        read_archetype_files(tmp_path)
    assert ("at most 500" in str(refused.value)) is not is_read


@pytest.mark.parametrize(("size", "is_read"), [(65_536, True), (65_537, False)])
def test_an_archetype_has_sixty_four_kilobytes(size: int, is_read: bool) -> None:
    with pytest.raises(InvalidToml) as refused:
        parse_archetype(b"#" * size, source="a.toml", categories=["golem"])
    assert ("at most 65536" in str(refused.value)) is not is_read


@pytest.mark.django_db
@pytest.mark.parametrize(("before", "is_made"), [(19, True), (20, False)])
def test_twenty_invitations_of_a_golem_are_open(before: int, is_made: bool) -> None:
    owner = factories.make_owner()
    golem = factories.make_golem(owner=owner)
    Invitation.objects.bulk_create(
        Invitation(
            golem=golem,
            label="a",
            token_hash=f"0x{number}",
            invited_by=owner,
            created_at=NOW,
            expires_at=NOW + timedelta(days=7),
        )
        for number in range(before)
    )
    if is_made:
        assert invite_person(golem=golem, label="last", invited_by=owner, now=NOW)[0].label == "last"
        return
    with pytest.raises(TooManyInvitations, match="20 invitations"):
        invite_person(golem=golem, label="last", invited_by=owner, now=NOW)


def test_the_name_of_a_copy_leaves_room_for_its_number_in_fifty_letters() -> None:
    rows = SimpleNamespace(filter=lambda **_: SimpleNamespace(values_list=lambda *_, **__: ["a" * 46]))
    model: Any = SimpleNamespace(_default_manager=rows)
    owner = SimpleNamespace(get_username=lambda: "ana")
    assert _free_name(model, "a" * 60, owner) == "a" * 46 + "-2"


def tools_of(*categories: Category) -> Any:
    """A tool of every word that any category begins with, in those alone."""
    words = "deposit withdraw health_dashboard compare_rates staking_position staking_rates positions add_liquidity"
    return [
        SimpleNamespace(category=category, key=word, name=f"{category}_{word}")
        for category in categories
        for word in (*words.split(), "swap", "quote", "token_price", "wallet_status")
    ]


FIVE = (Category.VAULT, Category.LENDING, Category.STAKING, Category.LP, Category.TRADING)


def test_a_core_has_five_tools_of_four_categories_or_of_those_that_serve_everything() -> None:
    special = choose_core(toolset=tools_of(*FIVE), first=FIVE[:4])
    assert special == (
        "vault_deposit",
        "vault_withdraw",
        "lending_health_dashboard",
        "lending_compare_rates",
        "staking_staking_position",
    )
    general = choose_core(toolset=tools_of(*FIVE), first=FIVE)
    assert general == ("trading_swap", "trading_quote", "lp_positions", "lp_add_liquidity")


def test_twelve_tools_are_loaded_unless_the_owner_says_otherwise() -> None:
    tools = {f"t{number}": SimpleNamespace(category=Category.DATA, key=f"t{number}") for number in range(20)}

    class Tools(dict[str, Any]):
        def __iter__(self) -> Any:
            return iter(SimpleNamespace(name=name, **vars(tool)) for name, tool in self.items())

    toolset: Any = Tools(tools)
    assert Loadout().most == 12
    assert len(make_loadout(toolset=toolset, first=(), loaded=list(tools)).names) == 12


@pytest.mark.parametrize(("count", "is_taken"), [(0, False), (1, True), (50, True), (51, False)])
def test_fifty_tools_are_named_at_once(count: int, is_taken: bool) -> None:
    names = TypeAdapter(ToolNames)
    if is_taken:
        assert len(names.validate_python(["a"] * count)) == count
        return
    with pytest.raises(ValidationError):
        names.validate_python(["a"] * count)


@pytest.mark.parametrize(("ticks", "is_refused"), [(49, True), (50, False)])
def test_a_conservative_profile_opens_no_range_under_fifty_ticks(ticks: int, is_refused: bool) -> None:
    plan: Any = SimpleNamespace(details={"tick_lower": -10, "tick_upper": ticks - 10})
    assert (judge_range(plan) is not None) is is_refused
