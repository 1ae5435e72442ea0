"""A family that picks its chain gives every tool `chain_id`: its function asks the context, and need not name it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import make_context
from tools_app.chain.networks import ChainNotSupported
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Category, TickBudget
from tools_app.toolkit.family import FAMILIES, ToolFamily
from tools_app.toolkit.params import ChainId, Token
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import json_schema, validate_params
from tools_app.toolkit.tooldef import ToolDef


def declare(**options: Any) -> tuple[ToolDef, ToolDef]:
    """A tool that leaves the chain to its family, and one that names it and has to be told."""
    known = len(FAMILIES)
    family = ToolFamily(prefix="made", category=Category.DATA, **options)
    try:

        @family.read(query="made_here", budget=TickBudget.FAST)
        def made_here(ctx: ReadContext, token: Token) -> int:
            """Say on which chain it reads."""
            return ctx.chain().chain_id

        @family.read(query="made_there", budget=TickBudget.FAST)
        def made_there(ctx: ReadContext, chain_id: ChainId) -> int:
            """Say the chain it was told."""
            return chain_id

    finally:
        del FAMILIES[known:]
    here, there = family.tools
    return here, there


def test_a_tool_of_such_a_family_takes_an_optional_chain_its_function_does_not_name(world: World) -> None:
    here, _ = declare(picks_chain=True)
    assert list(here.params_model.model_fields) == ["token", "chain_id"]
    schema = json_schema(here.params_model)
    assert schema["required"] == ["token"] and "description" in str(schema["properties"]["chain_id"])
    context = make_context(world)
    home = context.golem.home_chain_id
    for given in ({"token": "WETH"}, {"token": "WETH", "chain_id": None}, {"token": "WETH", "chain_id": home}):
        assert here.handler(context, **validate_params(here.params_model, given)) == home
    with pytest.raises(ChainNotSupported):
        here.handler(context, **validate_params(here.params_model, {"token": "WETH", "chain_id": 8453}))
    with pytest.raises(InvalidParams):
        validate_params(here.params_model, {"token": "WETH", "chain_id": "somewhere"})


def test_a_function_that_names_the_chain_gets_it_as_it_declares_it(world: World) -> None:
    _, there = declare(picks_chain=True)
    assert json_schema(there.params_model)["required"] == ["chain_id"]
    assert there.handler(make_context(world), chain_id=8453) == 8453


def test_a_family_that_does_not_pick_a_chain_adds_no_parameter() -> None:
    here, _ = declare()
    assert list(here.params_model.model_fields) == ["token"]


def test_a_chain_that_was_chosen_is_that_of_everything_the_call_reads(world: World) -> None:
    asked: list[int] = []

    class Stop(Exception):
        pass

    def open_chain(chain_id: int) -> Any:
        asked.append(chain_id)
        raise Stop

    context = ReadContext(
        golem=make_context(world).golem,
        now=make_context(world).now,
        deadline=make_context(world).deadline,
        open_chain=open_chain,
        report_step=lambda step: None,
    )
    for name in ("lido_get_oracle_status", "maker_close_vault", "morpho_repay_market", "aave_get_rates"):
        tool = REGISTRY.get(name)
        needed = {"vault_id": "1", "market_id": "0x" + "11" * 32, "amount": "1", "asset": "WETH"}
        params = {key: value for key, value in needed.items() if key in tool.params_model.model_fields}
        with pytest.raises(Stop):
            tool.handler(context, **validate_params(tool.params_model, {**params, "chain_id": 1}))
    assert asked == [1, 1, 1, 1]
