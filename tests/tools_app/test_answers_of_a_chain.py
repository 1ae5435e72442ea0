"""What is put beside an answer of a chain, and that what a release is held to knows of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from golem_project.pi.released_shapes import describe_answer
from tools_app.toolkit.answer import list_put_beside
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


def test_they_are_those_of_the_chain_that_was_read() -> None:
    tool = REGISTRY.get("sushi_bar_get_position")
    reader: Any = SimpleNamespace(
        chain_id=31_337,
        block=SimpleNamespace(number=7),
        call_many=lambda calls: [SimpleNamespace(ok=True, values=(10,)) for _ in calls],
        token=lambda address: SimpleNamespace(address=address, symbol="DAI", decimals=18, is_registered=True),
    )
    golem = SimpleNamespace(address=None)
    ctx: Any = SimpleNamespace(chain=lambda: reader, step=lambda name: None, golem=golem)
    told = tool.handler(ctx)
    assert told["shares"] == "10" and told["block_number"] == 7 and "is_simulated" not in told
