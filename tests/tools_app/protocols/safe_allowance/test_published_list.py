"""The allowance module's addresses and its ABI are those that its makers publish; ours has every word of it."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from golem_project.embedded.npm import Package
from golem_project.embedded.world.protocols.safe_allowance import ADDRESS as LOCAL_ADDRESS
from golem_project.embedded.world.solidity import load_contract
from tests.evm.world import CHAIN_ID
from tests.tools_app.simulation.protocol_bytecode import fetch_or_skip
from tools_app.chain.abi import checksum
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.protocols.safe_allowance.protocol import PROTOCOL
from tools_app.standards import safe_allowance
from tools_app.standards.safe_allowance import ADDRESS, CHAINS
from tools_app.wording.address_names import name_address

FILE: Final = "dist/assets/allowance-module/v0.1.1/allowance-module.json"
LISTS: Final = Package(
    name="@safe-global/safe-modules-deployments",
    version="3.0.10",
    integrity="sha512-6TWp62j4MxQxTttL7WehrQMI3irMeQo3/mKUuSWb0+oE7fzioQWZ+QYT3sD92cfsKITFIWJ2rHyeyXIbSq0qMg==",
    packed_bytes=16_923,
    keep=(FILE,),
)


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    folder = fetch_or_skip([LISTS])[LISTS.name]
    found: dict[str, Any] = json.loads((folder / FILE).read_text())
    return found


def test_the_module_is_where_its_makers_say_and_on_no_chain_of_ours_more_or_less(published: dict[str, Any]) -> None:
    assert published["version"] == "0.1.1"
    listed = {int(chain): checksum(address) for chain, address in published["networkAddresses"].items()}
    ours = {chain_id for chain_id in KNOWN_NETWORKS if chain_id in listed}
    assert ours == CHAINS - {CHAIN_ID}
    assert {listed[chain_id] for chain_id in ours} == {ADDRESS} == {LOCAL_ADDRESS}


def spell(entry: dict[str, Any]) -> tuple[Any, ...]:
    """Kind, name and types of one line of an ABI."""
    taken, told = ([each["type"] for each in entry.get(side, ())] for side in ("inputs", "outputs"))
    return entry["type"], entry.get("name"), tuple(taken), tuple(told)


def test_ours_answers_to_every_function_and_tells_every_event_of_the_published_abi(published: dict[str, Any]) -> None:
    ours = {spell(each) for each in load_contract("SimulatedAllowanceModule").abi if each["type"] != "error"}
    theirs = {spell(each) for each in published["abi"] if each["type"] in ("function", "event")}
    assert ours == theirs
    assert len(theirs) == 26


def test_each_signature_that_is_called_is_one_of_the_published(published: dict[str, Any]) -> None:
    names = {each["name"] for each in published["abi"]}
    said = [value for value in vars(safe_allowance).values() if isinstance(value, str)]
    called = [each for each in said if each.startswith(("function ", "event "))]
    assert len(called) == 10
    assert {each.split(" ")[1].partition("(")[0] for each in called} <= names


def test_on_the_local_chain_it_is_called_a_simulated_contract_wherever_it_shows() -> None:
    assert PROTOCOL.is_simulated(CHAIN_ID) and not PROTOCOL.is_simulated(8453)
    assert PROTOCOL.is_on(8453) and not PROTOCOL.is_on(1) and not PROTOCOL.is_on(56)
    assert "(simulated contract)" in name_address(CHAIN_ID, ADDRESS)
    assert "simulated" not in name_address(8453, ADDRESS) and "Safe allowances" in name_address(8453, ADDRESS)
    assert not name_address(1, ADDRESS)
