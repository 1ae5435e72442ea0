"""At every protocol of the shelf: of two ways out that together take more than there is, or leave a debt on too little,
the second is not permitted while the first may still be carried out; what both leave room for is.

Each folder says in its own `cases.py` what is too much together (`TOGETHER`); nothing here names one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.catalogue.door import CASES, Door, open_door
from tests.catalogue.shelf import Filed, find_untold, load_beside
from tests.live_golem import make_live_golem
from tests.made_up_bank.on_the_shelf import NAME, Bank
from tools_app.toolkit.case import LeftWhole, Together

BESIDE: Final = load_beside()


def marked(kind: type[Together | LeftWhole]) -> list[Any]:
    """Each of this kind with what has to be on the chain for it."""
    return [
        pytest.param(each, marks=pytest.mark.protocols(*CASES[each.case].worlds), id=name_of(protocol, each))
        for protocol, each in BESIDE
        if isinstance(each, kind)
    ]


def name_of(protocol: str, each: Any) -> str:
    """The same in every process, and of no other row."""
    return "-".join(word for word in (protocol, getattr(each, "before", ""), each.case) if word)


@pytest.mark.parametrize("beside", marked(Together))
def test_two_that_take_more_than_there_is_or_cover_too_little_are_not_both_permitted(
    door: Door, beside: Together
) -> None:
    refuse_second(door, beside)


@pytest.mark.parametrize("beside", marked(LeftWhole))
def test_what_is_left_whole_is_not_left_twice(door: Door, beside: LeftWhole) -> None:
    door.stage.prepare(CASES[beside.case].case)
    permit = door.preview(beside.case)
    assert permit["http"] == 200, permit
    refused = door.preview(beside.case, chain_id=31_337)
    assert refused["http"] == 409, refused
    door.post("cancel_action", {"permit_id": permit["permit_id"], "reason": "other plans"})
    assert door.preview(beside.case, chain_id=31_337)["http"] == 200


def refuse_second(door: Door, beside: Together) -> None:
    door.stage.prepare(door.stage.cases[beside.case].case)
    if beside.before:
        door.do(beside.before)
    permit = door.preview(beside.case, **beside.first)
    assert permit["http"] == 200, permit
    refused = door.preview(beside.case, **beside.too_much)
    assert (refused["http"], refused["code"], refused["recovery"]) == (409, "TAKEN_BESIDE", "WAIT"), refused
    assert refused["waits_for"] == [permit["permit_id"]]
    passes = door.preview(beside.case, **beside.little)
    assert passes["http"] == 200, passes
    for each in (permit, passes):
        door.post("cancel_action", {"permit_id": each["permit_id"], "reason": "other plans"})
    alone = door.preview(beside.case, **beside.too_much)
    assert alone["http"] == 200, alone


def test_every_protocol_that_is_left_says_what_is_too_much_at_once() -> None:
    assert find_untold() == set(), "say it in TOGETHER of the folder's cases.py (tools_app/toolkit/case.py)"
    assert {each.case for _, each in BESIDE if isinstance(each, Together | LeftWhole)} <= set(CASES)


def test_a_folder_that_is_dropped_in_is_held_to_what_it_says_and_found_where_it_says_nothing(
    transactional_db: None, bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    [beside] = [each for protocol, each in load_beside() if protocol == NAME]
    assert isinstance(beside, Together)
    cases: Mapping[str, Filed] = {case.id: Filed(case, NAME) for case in bank.modules["cases"].CASES}
    with open_door(make_live_golem(bank.world), cases) as door:
        refuse_second(door, beside)
    monkeypatch.setattr(bank.modules["cases"], "TOGETHER", ())
    assert find_untold() == {NAME}
