"""A start takes no protocol that leaves out who values what is held there, or why nobody lowers its debts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields, replace
from typing import Any, cast

import pytest

from tests.tools_app.portfolio.paper_bank import PROTOCOL
from tools_app.toolkit.lending import Lending
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import (
    NOT_UNDER_A_CAGE,
    NOTHING_HELD,
    SHELF,
    Contract,
    ProtocolDef,
    Shelf,
    Trait,
    Valuer,
)


def _ask(chain_id: int) -> Reads[tuple[Any, ...]]:
    yield []
    return ()


LENDING = cast("Lending", object())
"""Some lending; nobody calls it."""
VALUER = Valuer("bank", "NoValuer", "constructor()", _ask, ())


def at(valued_at: str) -> tuple[Contract, ...]:
    return (Contract("bank", "The bank", ("function deposit(uint256)",), valued_at),)


WHOLE = replace(PROTOCOL, contracts=at("bank"), valuers=(VALUER,))


def test_who_values_a_contract_is_never_left_empty_by_default() -> None:
    [field] = [each for each in fields(Contract) if each.name == "valued_at"]
    assert field.default is MISSING and field.default_factory is MISSING
    with pytest.raises(TypeError, match="valued_at"):
        Contract("bank", "The bank", ("function deposit(uint256)",))  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("protocol", "word"),
    [
        (replace(WHOLE, contracts=at("")), "is valued at '', which is no subject of its valuers"),
        (replace(WHOLE, contracts=at("vault")), "is valued at 'vault', which is no subject"),
        (replace(WHOLE, contracts=at(NOTHING_HELD)), "none of its contracts says who values"),
        (replace(WHOLE, contracts=at(NOT_UNDER_A_CAGE)), "`uncaged` says why"),
        (replace(WHOLE, uncaged="for no reason"), "`uncaged` says why"),
        (replace(WHOLE, no_lending=""), "`no_lending` does not say why"),
        (replace(WHOLE, traits=frozenset(), no_lending="", lending=LENDING), "needs no reason"),
        (replace(WHOLE, lending=LENDING), "needs no reason"),
    ],
)
def test_a_protocol_with_a_gap_stops_the_start(protocol: ProtocolDef, word: str) -> None:
    shelf = Shelf()
    with pytest.raises(ValueError, match="is not whole") as refused:
        shelf.add(protocol)
    assert word in str(refused.value)
    assert not list(shelf)


@pytest.mark.parametrize(
    "protocol",
    [
        WHOLE,
        replace(WHOLE, contracts=at(NOT_UNDER_A_CAGE), valuers=(), uncaged="nobody wrote a valuer"),
        replace(WHOLE, contracts=at(NOTHING_HELD), positions=None),
        replace(WHOLE, traits=frozenset(), no_lending=""),
        replace(WHOLE, no_lending="", lending=LENDING),
    ],
)
def test_a_protocol_that_says_all_of_it_stands_on_the_shelf(protocol: ProtocolDef) -> None:
    shelf = Shelf()
    shelf.add(protocol)
    assert [each.name for each in shelf] == [protocol.name]


def _each() -> Iterator[ProtocolDef]:
    yield from SHELF


def test_everything_on_the_shelf_is_whole_and_what_can_owe_can_be_lowered() -> None:
    protocols = list(_each())
    assert len(protocols) > 10
    assert not [gap for each in protocols for gap in each.list_gaps()]
    assert not [each.name for each in protocols if Trait.LEVERAGE in each.traits and each.lending is None]
    assert {each.name for each in protocols if each.lending is not None} >= {"aave_v3", "spark", "morpho"}
