"""The words and numbers of the cage's binding are those of its Solidity, read here from the source and its output."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest
from eth_utils.crypto import keccak

from golem_project.embedded.paths import CHECKOUT
from permits_app.policy_cage import conditions, contract
from permits_app.policy_cage.abi import PUBLISHED
from permits_app.policy_cage.conditions import Must
from permits_app.policy_cage.contract import AssetState, BatchClass, Limit, RuleKind
from permits_app.policy_cage.forbidden_selectors import FORBIDDEN_SELECTORS

SOURCES: Final = CHECKOUT / "contracts" / "src"
UNITS: Final = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}
# The contract's name of a word where the binding says more: with its unit, or as a verb.
OTHER_NAMES: Final = {
    "MIN_REBALANCE_INTERVAL": "MIN_REBALANCE_INTERVAL_SECONDS",
    "HIGH_WATER_MARK": "HIGH_WATER_MARK_MICRO_USD",
    "MAX_SESSION_BUDGET": "MAX_SESSION_BUDGET_MICRO_USD",
}
CONDITIONS: Final = {
    "IS_ACCOUNT": Must.BE_ACCOUNT,
    "EQUALS": Must.EQUAL,
    "IS_ASSET": Must.BE_ASSET,
    "AT_MOST": Must.BE_AT_MOST,
    "AT_LEAST": Must.BE_AT_LEAST,
    "ARE_ASSETS": Must.BE_ASSETS,
    "IS_PATH_OF_ASSETS": Must.BE_PATH_OF_ASSETS,
}


def read(name: str) -> str:
    return (SOURCES / name).read_text(encoding="utf-8")


def list_constants(name: str) -> dict[str, int]:
    """Whole numbers and spans that a source says, by name."""
    found = re.findall(r"constant (\w+) = ([\d_]+)(?: (seconds|minutes|hours|days))?;", read(name))
    return {word: int(number) * UNITS.get(unit, 1) for word, number, unit in found}


def list_members(name: str, enum: str) -> list[str]:
    (body,) = re.findall(rf"enum {enum} {{(.*?)}}", read(name), re.DOTALL)
    return re.findall(r"\w+", body)


@pytest.mark.parametrize(("enum", "binding"), [("Kind", RuleKind), ("BatchClass", BatchClass)])
def test_an_enum_of_the_binding_counts_as_the_contract_does(enum: str, binding: Any) -> None:
    assert [(each.name, int(each)) for each in binding] == [
        (name, number) for number, name in enumerate(list_members("CageTypes.sol", enum))
    ]


def test_limits_have_the_numbers_that_the_contract_gives_them() -> None:
    said = list_constants("CageTypes.sol")
    bound = {OTHER_NAMES.get(name, name): number for name, number in said.items()}
    assert {each.name: bound[each.name] for each in Limit} == {each.name: int(each) for each in Limit}
    assert len(Limit) == said["LIMIT_COUNT"]
    assert {each.name: int(each) for each in AssetState} == {
        "ABSENT": 0,
        "APPROVED": said["APPROVED"],
        "RETIRING": said["RETIRING"],
    }


def test_what_a_condition_asks_has_the_number_that_the_contract_gives_it() -> None:
    said = list_constants("CageConditions.sol")
    assert {name: int(must) for name, must in CONDITIONS.items()} == {name: said[name] for name in CONDITIONS}
    assert set(Must) - set(CONDITIONS.values()) == {Must.HAVE_BITS}
    assert int(Must.HAVE_BITS) == int(re.findall(r"Number (\d+)\.", read("CageConditions.sol"))[0])
    assert (conditions.MOST_STEPS, conditions.MOST_ITEMS) == (said["MOST_STEPS"], said["MOST_ITEMS"])


def test_sizes_and_spans_of_the_binding_are_the_contracts() -> None:
    types, rules = list_constants("CageTypes.sol"), list_constants("CageRules.sol")
    assert contract.WINDOW_SECONDS == types["WINDOW_SECONDS"]
    assert contract.MOST_CALLS == types["MOST_CALLS_OF_BATCH"]
    assert contract.MOST_ROLES == types["MOST_ROLES_OF_CAGE"]
    assert contract.MOST_RECIPIENTS == types["MOST_RECIPIENTS"]
    assert contract.MOST_ALLOWANCE_SECONDS == types["MOST_SECONDS_OF_ALLOWANCE"]
    assert contract.GRACE_SECONDS == rules["GRACE"]
    assert contract.MOST_POSITIONS == rules["POSITIONS_AT_MOST"]
    assert contract.MOST_CONDITIONS == rules["CONDITIONS_AT_MOST"]
    assert contract.APPROVE == bytes.fromhex(re.findall(r"APPROVE = 0x([0-9a-f]{8});", read("CageGate.sol"))[0])


def test_what_nobody_can_allow_is_what_the_contract_forbids() -> None:
    said = read("CageGate.sol").partition("bytes private constant FORBIDDEN =")[2]
    selectors = re.findall(r'^\s*hex"([0-9a-f]{8})"', said, re.MULTILINE)
    assert selectors == sorted(set(selectors)) and len(selectors) > 60
    assert {each.hex() for each in FORBIDDEN_SELECTORS} == set(selectors)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_published_part_is_its_compiled_code_with_zeros_where_its_constructor_writes(name: str) -> None:
    compiled = json.loads((CHECKOUT / "contracts" / "out" / f"{name}.json").read_text(encoding="utf-8"))
    digest, kept = PUBLISHED[name]
    assert digest == "0x" + keccak(bytes.fromhex(compiled["deployedBytecode"][2:])).hex()
    assert [list(each) for each in kept] == compiled["immutables"]
