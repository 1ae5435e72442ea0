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


def test_the_cage_fits_the_size_a_chain_takes() -> None:
    code = bytes.fromhex(load_contract("PolicyCage").deployed_bytecode[2:])
    assert len(code) <= MOST_BYTES_OF_CODE


def _canonical(param: dict[str, object]) -> str:
    kind = str(param["type"])
    if not kind.startswith("tuple"):
        return kind
    members = param["components"]
    assert isinstance(members, list)
    return f"({','.join(_canonical(member) for member in members)}){kind.removeprefix('tuple')}"
