"""A golem reads what is not on its home chain without naming a chain: it is read where it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from archetypes_app.models import Golem
from permits_app.actions.query import query_state
from tests.live_golem import LiveGolem
from tools_app.chain.networks import ChainNotSupported
from tools_app.core import clock
from tools_app.runner import check_chain
from tools_app.toolkit.golem_chains import ETHEREUM, place_read
from tools_app.toolkit.registry import REGISTRY


def at_home_on(chain_id: int, *others: int) -> Any:
    return SimpleNamespace(home_chain_id=chain_id, other_chain_ids=list(others))


@pytest.mark.parametrize(
    "name", ["sushi_bar_get_position", "eigenlayer_get_operators", "eigenlayer_get_position", "lrt_get_apy"]
)
def test_reads_of_staking_answer_golems_of_every_chain(name: str) -> None:
    tool = REGISTRY.get(name)
    for home in (8453, 130, 42161, 10, 137, 56, 43114):
        assert place_read(tool, {}, at_home_on(home)) == {"chain_id": ETHEREUM}
    assert place_read(tool, {}, at_home_on(8453, 31337)) == {"chain_id": 31337}
    # A chain that is named, or at home, is nobody's to change.
    assert place_read(tool, {"chain_id": 8453}, at_home_on(8453)) == {"chain_id": 8453}
    assert place_read(tool, {}, at_home_on(31337)) == {}


def test_what_a_bridge_brought_is_read_at_home_and_on_a_chain_that_is_named() -> None:
    """Reads of staking say themselves where the pool is: the chain is the one whose token is meant."""
    everywhere = (8453, 130, 42161, 10, 137, 56)
    held = {"rocketpool_get_position": (8453, 42161, 10), "lido_get_position": everywhere}
    figures = ("lido_get_rates", "lido_get_oracle_status", "rocketpool_get_rates", "rocketpool_get_operators")
    for name, homes in {**held, **dict.fromkeys(figures, (*everywhere, 43114))}.items():
        tool = REGISTRY.get(name)
        for home in homes:
            assert place_read(tool, {}, at_home_on(home)) == {} and tool.supports_chain(home)
            check_chain(tool=tool, params={"chain_id": home}, golem=at_home_on(1))


@pytest.mark.protocols("eigenlayer")
def test_a_golem_of_another_chain_reads_rates_of_staking_and_is_refused_where_it_names_a_chain_without_any(
    live_golem: LiveGolem,
) -> None:
    Golem.objects.filter(pk=live_golem.golem.pk).update(home_chain_id=8453, other_chain_ids=[31337])
    golem = Golem.objects.get(pk=live_golem.golem.pk)
    asked: dict[str, Any] = {"golem": golem, "query": "eigenlayer_operators", "venue": "eigenlayer", "now": clock.now()}
    for tool in ("eigenlayer_get_operators",):
        golem.tool_overrides.create(tool_name=tool, mode="INCLUDE")
    assert query_state(**asked, params={})["is_error"] is False
    with pytest.raises(ChainNotSupported):
        query_state(**asked, params={"chain_id": 8453})
