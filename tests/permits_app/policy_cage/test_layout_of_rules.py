"""Keys and values of a cage's rules, bit by bit, as `CageTypes.sol` says that they lie in their words."""

from __future__ import annotations

from typing import Final

import pytest
from eth_abi.abi import decode

from permits_app.policy_cage import contract
from permits_app.policy_cage.conditions import Condition, Must
from permits_app.policy_cage.contract import AssetRule, AssetState, Limit, Refill, Rule, RuleKind

TARGET: Final = "0x1111111111111111111111111111111111111111"
ASSET: Final = "0x2222222222222222222222222222222222222222"
SELECTOR: Final = bytes.fromhex("a1b2c3d4")
T, A, S = int(TARGET, 16), int(ASSET, 16), 0xA1B2C3D4


@pytest.mark.parametrize(
    ("key", "number"),
    [
        (contract.address_key(TARGET), T),
        (contract.limit_key(Limit.PHASE), 11),
        (contract.call_key(TARGET, SELECTOR), T << 32 | S),
        (contract.condition_key(TARGET, SELECTOR, 5), T << 40 | S << 8 | 5),
        (contract.role_call_key(3, TARGET, SELECTOR), 3 << 192 | T << 32 | S),
        (contract.role_allowance_key(3, ASSET), 3 << 160 | A),
        (contract.payout_key(3, 5, ASSET), 3 << 168 | 5 << 160 | A),
    ],
)
def test_a_key_is_one_word_of_what_it_names(key: bytes, number: int) -> None:
    assert key == number.to_bytes(32, "big")


def test_the_address_in_a_key_is_its_last_twenty_bytes() -> None:
    assert contract.key_address(bytes(11) + b"\xff" + bytes.fromhex(TARGET[2:])) == TARGET


def test_an_asset_keeps_its_feed_its_age_both_scales_its_state_and_the_most_it_may_jump() -> None:
    rule = AssetRule(TARGET, 3_600, 18, 8, AssetState.RETIRING, 25)
    number = T | 3_600 << 160 | 8 << 192 | 18 << 200 | 2 << 208 | 25 << 216
    assert rule.pack() == number and AssetRule.unpack(number) == rule
    bounded = AssetRule(TARGET, 2**32 - 1, 255, 255, AssetState.APPROVED, 255, least=3, most=400)
    assert AssetRule.unpack(bounded.pack()) == bounded
    assert bounded.pack() >> 216 & 0xFF == 255 and bounded.pack() >> 224 & 0xFFFF != bounded.pack() >> 240
    for jump in (-1, 256):
        with pytest.raises(ValueError, match="0 to 255 per cent"):
            AssetRule(TARGET, 1, 1, 1, most_jump_percent=jump).pack()


def test_what_refills_keeps_its_most_what_returns_and_its_period() -> None:
    whole = Refill(2**112 - 1, 2**112 - 1, 2**32 - 1)
    assert whole.pack() == 2**256 - 1 and Refill.unpack(whole.pack()) == whole
    some = Refill(9, 7, 60)
    assert some.pack() == 60 << 224 | 7 << 112 | 9 and Refill.unpack(some.pack()) == some
    assert Refill(9).pack() == 9 and Refill(0).pack() == 0
    for most, back, period in ((2**112, 0, 0), (5, 6, 1), (5, -1, 1), (5, 1, 2**32), (5, 1, -1)):
        with pytest.raises(ValueError, match="at most what there is"):
            Refill(most, back, period).pack()
    for back, period in ((1, 0), (0, 1)):
        with pytest.raises(ValueError, match="has a period"):
            Refill(5, back, period).pack()


def test_each_rule_has_its_kind_its_key_and_its_value() -> None:
    refill = Refill(9)
    zero, spender = bytes(32), contract.address_key(TARGET)
    assert contract.limit_rule(Limit.MAX_ASSETS, 4) == Rule(RuleKind.LIMIT, (8).to_bytes(32, "big"), 4)
    assert [contract.call_rule(TARGET, SELECTOR, is_allowed=each).value for each in (True, False)] == [1, 0]
    assert contract.spender_rule(TARGET, most_micro_usd=6) == Rule(RuleKind.SPENDER, spender, 6)
    assert contract.valuer_rule(TARGET, ASSET) == Rule(RuleKind.VALUER, spender, A)
    assert contract.guardian_rule(TARGET) == Rule(RuleKind.GUARDIAN, zero, T)
    assert contract.sequencer_rule(TARGET, grace_seconds=60) == Rule(RuleKind.SEQUENCER, zero, 60 << 160 | T)
    assert contract.recipient_rule(5, TARGET) == Rule(RuleKind.RECIPIENT, (5).to_bytes(32, "big"), T)
    assert contract.role_call_rule(3, TARGET, SELECTOR, is_allowed=False).value == 0
    given = contract.role_spender_rule(3, TARGET)
    assert given == Rule(RuleKind.ROLE_CALL, contract.role_call_key(3, TARGET, bytes.fromhex("095ea7b3")), 1)
    let_go, paid = contract.role_allowance_rule(3, ASSET, refill), contract.payout_rule(3, 5, ASSET, refill)
    assert let_go == Rule(RuleKind.ROLE_ALLOWANCE, contract.role_allowance_key(3, ASSET), 9)
    assert paid == Rule(RuleKind.PAYOUT, contract.payout_key(3, 5, ASSET), 9)
    asset = contract.asset_rules(ASSET, AssetRule(TARGET, 1, 6, 8), per_batch=5, per_window=7)
    assert [(each.kind, each.value) for each in asset[1:]] == [
        (RuleKind.OUTFLOW_PER_BATCH, 5),
        (RuleKind.OUTFLOW_PER_WINDOW, 7),
    ]
    assert {each.key for each in asset} == {contract.address_key(ASSET)}


def test_a_call_with_conditions_says_how_many_there_are_and_numbers_them_from_none() -> None:
    asked = [Condition(Must.EQUAL, (0,), 7), Condition(Must.BE_ACCOUNT, (1,))]
    *conditions, call = contract.conditional_call_rules(TARGET, SELECTOR, asked)
    assert [each.key for each in conditions] == [contract.condition_key(TARGET, SELECTOR, place) for place in (0, 1)]
    assert [each.value for each in conditions] == [each.pack() for each in asked]
    assert (call.kind, call.key, call.value) == (RuleKind.CALL, contract.call_key(TARGET, SELECTOR), 3)


def test_a_cage_is_made_with_its_rules_as_pairs_of_words() -> None:
    rule = Rule(RuleKind.SPENDER, contract.address_key(TARGET), 6)
    data = contract.encode_deployment(b"code", account=TARGET, base_asset=ASSET, rules=[rule])
    assert data[:4] == b"code"
    account, base, words = decode(["address", "address", "uint256[]"], data[4:])
    assert (account, base, list(words)) == (TARGET, ASSET, [5 << 248 | T, 6])
    assert contract.BYTES_OF_A_RULE == 64
