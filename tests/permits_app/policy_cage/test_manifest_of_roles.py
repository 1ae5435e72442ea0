"""What Zodiac Roles is given of a cage's rules: each condition as Roles numbers it, and what stays closed or looser.

The numbers are those of Roles v2's own interface, written here once more.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from permits_app.policy_cage.conditions import Condition, Must
from permits_app.policy_cage.contract import (
    AssetRule,
    Rule,
    RuleKind,
    address_key,
    asset_rules,
    call_rule,
    conditional_call_rules,
    spender_rule,
)
from permits_app.policy_cage.roles_manifest import Permission, RoleAllowance, RolesManifest, build_manifest
from permits_app.policy_cage.state import CageState
from tools_app.chain.signatures import parse_signature
from tools_app.toolkit.views import NATIVE

TARGET, OTHER = "0x" + "11" * 20, "0x" + "0a" * 20
ONE, TWO = "0x" + "22" * 20, "0x" + "33" * 20
STATIC, DYNAMIC, TUPLE, ARRAY, CALLDATA = 1, 2, 3, 4, 5
PASS, AND, OR, NOR, MATCHES, EVERY = 0, 1, 2, 3, 5, 7
IS_AVATAR, EQUALS, MORE, LESS, BITS, WITHIN = 15, 16, 17, 18, 21, 28
CALLED: Final = "call(address,uint256)"
SELECTOR: Final = parse_signature(f"function {CALLED}").selector
FEED: Final = AssetRule("0x" + "44" * 20, 3_600, 6, 8)


def word(number: int) -> bytes:
    return number.to_bytes(32, "big")


def state_with(*rules: Rule, assets: tuple[str, ...] = (ONE, TWO)) -> CageState:
    held = [rule for asset in assets for rule in asset_rules(asset, FEED, per_batch=0, per_window=0)]
    state = CageState(cage=OTHER, account=OTHER, base_asset=ONE, assets=list(assets))
    state.rules = {(int(each.kind), "0x" + each.key.hex()): each.value for each in (*held, *rules)}
    return state


def made_of(*conditions: Condition, text: str = CALLED, assets: tuple[str, ...] = (ONE, TWO)) -> RolesManifest:
    """Of one call with these conditions."""
    selector = parse_signature(f"function {text}").selector
    rules = conditional_call_rules(TARGET, selector, conditions)
    return build_manifest(state_with(*rules, assets=assets), {(TARGET, selector): text})


def tree_of(*conditions: Condition, text: str = CALLED) -> tuple[Any, ...]:
    manifest = made_of(*conditions, text=text)
    assert manifest.left_out == ()
    (permission,) = manifest.permissions
    return permission.conditions


FIRST, SECOND = (0,), (1,)
ROOT: Final = (0, CALLDATA, MATCHES, b"")
ANYTHING: Final = (0, STATIC, PASS, b"")
ASSETS: Final = [(STATIC, EQUALS, address_key(each)) for each in (ONE, TWO)]


@pytest.mark.parametrize(
    ("condition", "node"),
    [
        (Condition(Must.BE_ACCOUNT, FIRST), (0, STATIC, IS_AVATAR, b"")),
        (Condition(Must.EQUAL, FIRST, 7), (0, STATIC, EQUALS, word(7))),
        (Condition(Must.BE_AT_MOST, FIRST, 7), (0, STATIC, LESS, word(8))),
        (Condition(Must.BE_AT_LEAST, FIRST, 7), (0, STATIC, MORE, word(6))),
        (
            Condition(Must.HAVE_BITS, FIRST, 0xFF << 96 | 0x21),
            (0, STATIC, BITS, bytes((0, 20)) + bytes(11) + b"\xff" + bytes(3) + bytes(11) + b"\x21" + bytes(3)),
        ),
    ],
)
def test_each_thing_that_a_word_must_be_has_its_number_at_roles(condition: Condition, node: Any) -> None:
    assert tree_of(condition) == (ROOT, node, ANYTHING)


def test_an_asset_is_one_of_those_that_are_held_and_what_must_not_be_is_turned_round() -> None:
    tree = tree_of(Condition(Must.BE_ASSET, SECOND))
    assert tree == (ROOT, ANYTHING, (0, 0, OR, b""), *((2, *each) for each in ASSETS))
    tree = tree_of(Condition(Must.EQUAL, FIRST, 7, is_not=True))
    assert tree == (ROOT, (0, 0, NOR, b""), ANYTHING, (1, STATIC, EQUALS, word(7)))


def test_conditions_of_one_group_are_alternatives_and_of_two_groups_hold_together() -> None:
    seven, eight = Condition(Must.EQUAL, FIRST, 7), Condition(Must.EQUAL, FIRST, 8)
    nodes = ((1, STATIC, EQUALS, word(7)), (1, STATIC, EQUALS, word(8)))
    assert tree_of(seven, eight) == (ROOT, (0, 0, OR, b""), ANYTHING, *nodes)
    apart = Condition(Must.EQUAL, FIRST, 8, group=1)
    assert tree_of(seven, apart) == (ROOT, (0, 0, AND, b""), ANYTHING, *nodes)
    third = Condition(Must.EQUAL, FIRST, 9, group=2)
    assert tree_of(seven, apart, third)[3:] == (*nodes, (1, STATIC, EQUALS, word(9)))


SHAPES: Final = "shaped(bytes,address[],(uint256,string),(uint8,uint8),uint256)"
SHAPED: Final = (
    ROOT,
    (0, DYNAMIC, PASS, b""),
    (0, ARRAY, PASS, b""),
    (0, TUPLE, PASS, b""),
    (0, TUPLE, PASS, b""),
)


def test_a_place_is_counted_in_words_and_followed_into_structs_and_arrays() -> None:
    last = tree_of(Condition(Must.EQUAL, (5,), 7), text=SHAPES)
    assert last[:6] == (*SHAPED, (0, STATIC, EQUALS, word(7)))
    assert last[6:] == (
        (2, STATIC, PASS, b""),
        (3, STATIC, PASS, b""),
        (3, DYNAMIC, PASS, b""),
        (4, STATIC, PASS, b""),
        (4, STATIC, PASS, b""),
    )
    packed = tree_of(Condition(Must.EQUAL, (4,), 7), text=SHAPES)
    assert packed[4] == (0, TUPLE, MATCHES, b"") and packed[-2:] == (
        (4, STATIC, PASS, b""),
        (4, STATIC, EQUALS, word(7)),
    )
    pointed = tree_of(Condition(Must.EQUAL, (2, 0), 7), text=SHAPES)
    assert pointed[3] == (0, TUPLE, MATCHES, b"") and (3, STATIC, EQUALS, word(7)) in pointed
    listed = tree_of(Condition(Must.BE_ASSETS, (1,)), text=SHAPES)
    assert listed[2] == (0, ARRAY, EVERY, b"")


@pytest.mark.parametrize(
    ("conditions", "text", "why"),
    [
        ([Condition(Must.EQUAL, (2,), 7)], CALLED, "about no argument of it"),
        ([Condition(Must.EQUAL, (0, 0), 7)], CALLED, "about no argument of it"),
        ([Condition(Must.EQUAL, (1,), 7)], SHAPES, "about no argument of it"),
        ([Condition(Must.EQUAL, (2,), 7)], SHAPES, "about no argument of it"),
        ([Condition(Must.BE_ASSETS, FIRST)], CALLED, "about no argument of it"),
        ([Condition(Must.BE_ASSETS, (1,), is_not=True)], SHAPES, "what an array is not"),
        ([Condition(Must.BE_AT_LEAST, FIRST, 0)], CALLED, "it asks be at least"),
        ([Condition(Must.EQUAL, (), 7)], CALLED, "more than one argument, or about coins"),
        ([Condition(Must.EQUAL, FIRST, 7), Condition(Must.EQUAL, SECOND, 7)], CALLED, "more than one argument"),
        ([Condition(Must.EQUAL, FIRST, 7)], "fixed(uint256[2])", "an array of a fixed length"),
        ([Condition(Must.EQUAL, FIRST, 7)], "multicall(bytes[])", "does not open what it wraps"),
    ],
)
def test_what_roles_cannot_say_stays_closed_and_is_named(conditions: list[Condition], text: str, why: str) -> None:
    manifest = made_of(*conditions, text=text)
    assert manifest.permissions == () and len(manifest.left_out) == 1
    selector = parse_signature(f"function {text}").selector.hex()
    assert manifest.left_out[0].startswith(f"0x{selector} at {TARGET}: ") and why in manifest.left_out[0]


def test_without_an_asset_that_could_be_named_a_call_stays_closed() -> None:
    manifest = made_of(Condition(Must.BE_ASSET, FIRST), assets=(NATIVE,))
    assert manifest.permissions == () and "no asset is left" in manifest.left_out[0]


def test_the_tokens_of_a_path_are_not_asked_and_that_is_said() -> None:
    manifest = made_of(Condition(Must.BE_PATH_OF_ASSETS, FIRST))
    assert manifest.permissions[0].conditions == (ROOT, ANYTHING, ANYTHING)
    assert manifest.looser == (f"0x{SELECTOR.hex()} at {TARGET}: the tokens of its path are not asked",)


def test_a_call_without_conditions_takes_any_arguments_and_one_of_unknown_arguments_stays_closed() -> None:
    plain = build_manifest(state_with(call_rule(TARGET, SELECTOR)), {})
    assert plain == RolesManifest((Permission(TARGET, SELECTOR),), ())
    rules = conditional_call_rules(TARGET, SELECTOR, [Condition(Must.EQUAL, FIRST, 7)])
    unknown = build_manifest(state_with(*rules), {})
    assert unknown.permissions == () and "nobody knows what its arguments are" in unknown.left_out[0]
    broken = state_with(*rules)
    broken.rules = {key: 0 if key[0] == RuleKind.CONDITION else value for key, value in broken.rules.items()}
    refused = build_manifest(broken, {(TARGET, SELECTOR): CALLED})
    assert "met by nothing" in refused.left_out[0]
    closed = build_manifest(state_with(call_rule(TARGET, SELECTOR, is_allowed=False)), {})
    assert closed == RolesManifest((), ())


def test_coins_are_sent_where_they_are_an_asset_and_targets_stand_in_order() -> None:
    rules = (call_rule(TARGET, SELECTOR), call_rule(OTHER, SELECTOR), call_rule(TARGET, bytes(3) + b"\x01"))
    assert [each.options for each in build_manifest(state_with(*rules), {}).permissions] == [0, 0, 0]
    found = build_manifest(state_with(*rules, assets=(ONE, NATIVE)), {}).permissions
    assert [(int(each.target, 16), each.selector, each.options) for each in found] == [
        (int(OTHER, 16), SELECTOR, 1),
        (int(TARGET, 16), bytes(3) + b"\x01", 1),
        (int(TARGET, 16), SELECTOR, 1),
    ]


def test_an_allowance_for_a_known_spender_is_bounded_by_what_may_flow_out_of_a_day() -> None:
    most = 2**200
    rules = (
        *(spender_rule(each, most_micro_usd=5) for each in (TARGET, OTHER)),
        Rule(RuleKind.OUTFLOW_PER_WINDOW, address_key(ONE), most),
        Rule(RuleKind.OUTFLOW_PER_WINDOW, address_key(TWO), 9),
    )
    found = build_manifest(state_with(*rules), {})
    assert found.allowances == (
        RoleAllowance(address_key(ONE), 2**128 - 1, 86_400),
        RoleAllowance(address_key(TWO), 9, 86_400),
    )
    approve = bytes.fromhex("095ea7b3")
    assert [(each.target, each.selector) for each in found.permissions] == [(ONE, approve), (TWO, approve)]
    assert found.permissions[1].conditions == (
        ROOT,
        (0, 0, OR, b""),
        (0, STATIC, WITHIN, address_key(TWO)),
        (1, STATIC, EQUALS, address_key(OTHER)),
        (1, STATIC, EQUALS, address_key(TARGET)),
    )
    assert build_manifest(state_with(*rules[2:]), {}).allowances == (), "nobody may be given one"
    coin = Rule(RuleKind.OUTFLOW_PER_WINDOW, address_key(NATIVE), 9)
    assert build_manifest(state_with(*rules[:2], coin, assets=(NATIVE,)), {}).allowances == ()
