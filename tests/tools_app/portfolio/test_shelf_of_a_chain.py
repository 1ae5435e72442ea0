"""What stands on a chain is kept while every protocol says the same, and told anew as soon as one does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.tools_app.portfolio.paper_bank import PROTOCOL
from tools_app.toolkit.protocol import Contract, ProtocolDef, Shelf

CHAIN = 31_337
FIRST, SECOND = "0x" + "11" * 20, "0x" + "22" * 20


def make(name: str, where: dict[int, Mapping[str, str]]) -> ProtocolDef:
    contract = Contract("bank", f"The {name}", ("function deposit(uint256)",), "bank")
    return replace(PROTOCOL, name=name, contracts=(contract,), deployments=where.get)


def stand(*protocols: ProtocolDef) -> Shelf:
    return Shelf({each.name: each for each in protocols})


def labels(shelf: Shelf) -> list[tuple[str, str]]:
    return [(address, contract.label) for address, contract in shelf.contracts_on(CHAIN)]


def test_a_contract_that_moved_is_told_where_it_is_now() -> None:
    where: dict[int, Mapping[str, str]] = {CHAIN: {"bank": FIRST}}
    shelf = stand(make("bank", where))
    assert labels(shelf) == [(FIRST, "The bank")] and shelf.of_contract(CHAIN, SECOND) is None
    where[CHAIN] = {"bank": SECOND}
    assert labels(shelf) == [(SECOND, "The bank")] and shelf.of_contract(CHAIN, FIRST) is None
    del where[CHAIN]
    assert labels(shelf) == [] and shelf.on(CHAIN) == [] and shelf.valued_on(CHAIN) == {}


def test_a_protocol_that_comes_goes_or_is_replaced_is_told_at_once() -> None:
    first = make("first", {CHAIN: {"bank": FIRST}})
    shelf = stand(first)
    assert [each.name for each in shelf.on(CHAIN)] == ["first"]
    shelf._by_name["second"] = second = make("second", {CHAIN: {"bank": SECOND}})
    assert shelf.of_contract(CHAIN, SECOND) is second
    shelf._by_name["second"] = other = replace(second, label="Another")
    assert shelf.of_contract(CHAIN, SECOND) is other
    shelf.remove("second")
    assert shelf.of_contract(CHAIN, SECOND) is None and shelf.of_contract(CHAIN, FIRST) is first


def test_of_two_that_name_one_address_the_first_by_name_owns_it_and_chains_are_apart() -> None:
    both = [make(name, {CHAIN: {"bank": FIRST}}) for name in ("zebra", "adder")]
    shelf = stand(*both, make("elsewhere", {1: {"bank": SECOND}}))
    owner = shelf.of_contract(CHAIN, FIRST)
    assert owner is not None and owner.name == "adder"
    assert [each.name for each in shelf.on(CHAIN)] == ["adder", "zebra"]
    assert shelf.of_contract(CHAIN, SECOND) is None and [each.name for each in shelf.on(1)] == ["elsewhere"]
