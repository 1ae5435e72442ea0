"""What is put beside an answer of a chain, and that what a release is held to knows of it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from golem_project.pi.released_shapes import describe_answer
from tools_app.core.clock import Deadline
from tools_app.toolkit.answer import OfChain, list_put_beside, with_place
from tools_app.toolkit.context import ReadContext, ReadOutcome
from tools_app.toolkit.registry import REGISTRY


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("ethena_get_apy", ("block_number", "is_simulated")),
        ("morpho_get_market_info", ("block_number",)),
        ("vault_get_savings", ()),
        ("aave_get_rates", ()),
    ],
)
def test_block_and_whose_contracts_are_beside_answers_that_say_so(name: str, beside: tuple[str, ...]) -> None:
    tool = REGISTRY.get(name)
    assert list_put_beside(tool.handler) == beside
    assert set(beside) <= set(describe_answer(tool))


def open_made(chain_id: int) -> Any:
    """A chain whose block has its own number, where every question is answered with ten."""
    return SimpleNamespace(
        chain_id=chain_id,
        block=SimpleNamespace(number=chain_id + 1),
        call_many=lambda calls: [ReadOutcome(True, (10,)) for _ in calls],
        token=lambda address: SimpleNamespace(address=address, symbol="DAI", decimals=18, is_registered=True),
    )


def make_context() -> ReadContext:
    golem: Any = SimpleNamespace(address=None, home_chain_id=31_337)
    return ReadContext(golem, datetime.now(UTC), Deadline.after_ms(1_000), open_made, lambda name: None)


def test_they_are_those_of_the_chain_that_was_read() -> None:
    told = REGISTRY.get("sushi_bar_get_position").handler(make_context())
    assert told["shares"] == "10" and told["block_number"] == 31_338 and "is_simulated" not in told


class Seen(OfChain):
    chain_id: int


def test_the_chain_that_an_id_names_is_the_one_that_was_read_and_of_two_the_golems_is() -> None:
    def look(ctx: ReadContext, *chains: int) -> Seen:
        return Seen([ctx.chain(each).chain_id for each in chains][0])

    for chains, block in (((8453,), 8454), ((8453, 8453), 8454), ((8453, 31_337), 31_338)):
        assert with_place(lambda ctx, chains=chains: look(ctx, *chains))(make_context())["block_number"] == block


def test_a_class_of_an_answer_is_a_frozen_dataclass_without_saying_so() -> None:
    assert Seen(1) == Seen(1) and [each.name for each in fields(Seen)] == ["chain_id"]
    with pytest.raises(FrozenInstanceError):
        Seen(1).chain_id = 2  # type: ignore[misc]
