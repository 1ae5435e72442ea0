"""The Python binding is what the compiled contract says."""

from __future__ import annotations

import pytest
from eth_utils.crypto import keccak

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world import bindings
from golem_project.embedded.world.solidity import load_contract
from permits_app.policy_cage.abi import ERRORS, EVENTS, FUNCTIONS
from tools_app.chain.signatures import parse_signature

MOST_BYTES_OF_CODE = 24_576
MOST_BYTES_OF_CREATION = 49_152


def test_the_bindings_are_those_of_the_compiled_contracts() -> None:
    bindings.check_bindings()


def test_a_binding_edited_by_hand_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "render_bindings", lambda _: "something else")
    with pytest.raises(EmbeddedError, match=r"abi\.py is not made from PolicyCage"):
        bindings.check_bindings()


def test_every_signature_parses_to_the_selector_of_the_compiled_entry() -> None:
    named = {**FUNCTIONS, **EVENTS, **ERRORS}
    for entry in load_contract("PolicyCage").abi:
        if entry["type"] == "constructor":
            continue
        types = ",".join(_canonical(param) for param in entry["inputs"])
        assert parse_signature(named[entry["name"]]).digest == keccak(text=f"{entry['name']}({types})")


@pytest.mark.parametrize("name", ["PolicyCage", *bindings.PARTS["PolicyCage"]])
def test_each_part_of_the_cage_leaves_a_tenth_of_the_size_a_chain_takes(name: str) -> None:
    code = bytes.fromhex(load_contract(name).deployed_bytecode[2:])
    assert len(code) * 10 <= MOST_BYTES_OF_CODE * 9


def test_the_cage_with_all_its_parts_is_made_in_one_transaction() -> None:
    assert len(load_contract("PolicyCage").bytecode) // 2 <= MOST_BYTES_OF_CREATION


def _canonical(param: dict[str, object]) -> str:
    kind = str(param["type"])
    if not kind.startswith("tuple"):
        return kind
    members = param["components"]
    assert isinstance(members, list)
    return f"({','.join(_canonical(member) for member in members)}){kind.removeprefix('tuple')}"
