"""What a stranger says to the contracts that stand for protocols takes nothing of an honest Safe's, by whatever door.

Each function of each of them is said with the Safe's own numbers and to the stranger's good, and is also said by whose
word it takes, so that none fails for another reason.
"""

from __future__ import annotations

import pytest

from golem_project.embedded.world.solidity import OUTPUT_DIR, load_contract
from tests.contracts.callers import SIMULATED, STRANGERS, Whose, say_of_stranger
from tests.contracts.holdings_in_simulated_contracts import HOLDINGS, Said
from tests.contracts.strangers import Attacked, build_attacked, keep, show, try_out, undone, write
from tests.contracts.test_callers import spell
from tools_app.chain.signatures import parse_signature


@pytest.fixture(scope="module")
def attacked() -> dict[str, Attacked]:
    return build_attacked()


def whose(said: Said) -> Whose:
    return next(one for one, names in SIMULATED[said.contract].items() if said.name in names)


@pytest.mark.parametrize("door", STRANGERS)
@pytest.mark.parametrize("name", HOLDINGS)
def test_a_stranger_changes_nothing_of_what_a_safe_holds(attacked: dict[str, Attacked], name: str, door: str) -> None:
    place = attacked[name]
    engine, before, wrong = place.engine, place.look(), list[str]()
    for said in place.held.said:
        with undone(engine):
            place.do_first(said)
            start = place.look() if said.before else before
            transaction = place.stranger.come(door, said)
            if not place.stranger.is_heard(door, said, transaction):
                continue
            expected = say_of_stranger(whose(said), door)
            if expected == "refused":
                wrong.append(f"{said.contract}.{said.name} was heard")
            keep(engine, transaction)
            if expected.endswith("anybody"):
                wrong += place.tell_what_is_wrong(said, start)
            elif (after := place.look()) != start:
                shown = {name for (to, name, data), was in start.items() if after[to, name, data] != was}
                wrong.append(f"{said.contract}.{said.name} changed {', '.join(sorted(shown))}")
    assert wrong == []


def test_a_view_that_could_not_be_asked_is_named_with_what_it_lacks(attacked: dict[str, Attacked]) -> None:
    place = next(each for each in attacked.values() if each.held.items)
    [contract, *_] = [name for name in place.held.contracts.values() if place.held.items.get(name)]
    kept, place.held.items[contract] = place.held.items[contract], []
    questions, place.questions = place.questions, list(place._list_questions())
    lacking = place.list_unasked()
    place.held.items[contract], place.questions = kept, questions
    assert any(each.startswith(f"{contract}.") and f"held.items['{contract}']" in each for each in lacking), lacking


@pytest.mark.parametrize("name", HOLDINGS)
def test_each_word_is_heard_of_whom_the_table_names(attacked: dict[str, Attacked], name: str) -> None:
    """What is refused to a stranger is refused because he says it."""
    place, unheard = attacked[name], list[str]()
    for said in place.held.said:
        with undone(place.engine):
            place.do_first(said)
            done = try_out(place.engine, write(said.by, said.at, said.data, said.value))
            if done.succeeded == said.is_over:
                unheard.append(f"{said.contract}.{said.name}: {show(done.output)}")
    assert unheard == []


@pytest.mark.parametrize("name", HOLDINGS)
def test_what_the_holder_says_itself_is_seen(attacked: dict[str, Attacked], name: str) -> None:
    """A look that sees nothing would find nothing wrong."""
    place, unseen = attacked[name], list[str]()
    start = place.look()
    for said in place.held.said:
        if said.by != place.held.safe:
            continue
        with undone(place.engine):
            place.do_first(said)
            before, transaction = start, write(said.by, said.at, said.data, said.value)
            try_out(place.engine, transaction)
            keep(place.engine, transaction)
            if place.look() == before:
                unseen.append(f"{said.contract}.{said.name}")
    assert unseen == [], f"no view that was asked shows what they changed; not asked: {place.list_unasked()}"


def test_every_function_of_every_simulated_contract_is_said(attacked: dict[str, Attacked]) -> None:
    """With each of the lists of arguments that it takes."""
    said = [one for place in attacked.values() for one in place.held.said]
    found = {
        (path.stem, b"" if entry["type"] == "receive" else parse_signature(f"function {spell(entry)}").selector)
        for path in OUTPUT_DIR.glob("*.json")
        if path.stem in SIMULATED
        for entry in load_contract(path.stem).abi
        if entry["type"] in ("function", "receive", "fallback") and entry.get("stateMutability") not in ("view", "pure")
    }
    assert {(one.contract, one.selector) for one in said} == found


def test_each_word_is_said_in_the_place_of_whom_the_table_names(attacked: dict[str, Attacked]) -> None:
    """A table that calls the deployer's word anybody's, or the other way round, is noticed."""
    wrong = []
    for place in attacked.values():
        held = place.held
        builders = {held.deployer, held.caged.deployer.address}
        for said in held.said:
            is_right = {
                Whose.DEPLOYER: said.by in builders,
                Whose.PART: said.by in held.contracts,
                Whose.ANYBODY: said.by == held.thief,
            }.get(whose(said), said.by not in builders and said.by != held.thief)
            if not is_right:
                wrong.append(f"{said.contract}.{said.name} is said by {said.by}")
    assert wrong == []
