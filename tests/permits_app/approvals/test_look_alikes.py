"""An address made to be taken for another one is told before anybody allows it."""

from __future__ import annotations

import pytest

from permits_app.approvals.policy_state import diff_policy, name_entry
from permits_app.words.look_alikes import find_look_alike
from tools_app.wording.address_names import list_named

CHAIN = 31337
FRIEND = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
ALIKE = "0x7099" + "11" * 16 + "79C8"
STRANGER = "0x7099" + "11" * 18


@pytest.mark.parametrize(
    ("address", "expected"),
    [(ALIKE, (FRIEND, "Bank")), (ALIKE.lower(), (FRIEND, "Bank")), (FRIEND.lower(), None), (STRANGER, None)],
)
def test_alike_at_both_ends_and_different_between(address: str, expected: tuple[str, str] | None) -> None:
    assert find_look_alike(address, [(STRANGER[:-4] + "0000", "Other"), (FRIEND, "Bank")]) == expected


def test_a_new_entry_that_looks_like_an_allowed_one_says_so_in_what_owners_are_shown() -> None:
    before = {"limits": {}, "cage": {}, "allowlist": {name_entry(CHAIN, "RECIPIENT", FRIEND): "Bank"}}
    after = {**before, "allowlist": before["allowlist"] | {name_entry(CHAIN, "RECIPIENT", ALIKE): "Bank"}}
    [line] = diff_policy(before, after)
    assert line.shown_after == f"Bank {ALIKE}. It LOOKS LIKE Bank {FRIEND} and is another address"
    [honest] = diff_policy({**before, "allowlist": {}}, before)
    assert honest.shown_after == f"Bank {FRIEND}"


def test_a_new_entry_that_looks_like_a_registered_contract_says_so() -> None:
    address, name = list_named(1)[0]
    alike = address[:6] + "0" * 32 + address[-4:]
    nothing: dict[str, dict[str, str]] = {"limits": {}, "cage": {}, "allowlist": {}}
    [line] = diff_policy(nothing, {**nothing, "allowlist": {name_entry(1, "TOKEN", alike): ""}})
    assert f"LOOKS LIKE {name} {address}" in line.shown_after
