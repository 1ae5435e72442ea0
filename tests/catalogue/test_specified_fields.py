"""Tools of lending and staking take the parameters and return the fields that they were specified with.

What writes return is held to it where each case is carried out.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.catalogue.shelf import load_cases
from tests.catalogue.specified import SPECIFIED, list_missing
from tests.catalogue.stage import Stage, open_stage
from tests.live_golem import LiveGolem
from tests.permits_app.tools.test_wallet import read
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

BEGUN: Final = ("aave_borrow", "morpho_borrow_market", "lido_stake", "lido_stake_rebasing", "lido_unstake")
_LOOP: Final = {"protocol": "aave", "collateral_asset": "WETH", "borrow_asset": "USDC", "target_leverage": "1.5"}
READS: Final[dict[str, dict[str, Any]]] = {
    "aave_get_health_factor": {"account": "me"},
    "aave_get_rates": {"asset": "USDC"},
    "aave_get_user_summary": {"account": "me"},
    "morpho_get_market_info": {"asset": "USDC"},
    "morpho_get_user_position": {"account": "me"},
    "lending_build_loop": {**_LOOP, "initial_amount": str(10**18)},
    "lending_get_loop_health": {"account": "me", "protocol": "aave"},
    "lending_compare_rates": {"asset": "USDC", "rate_type": "supply"},
    "lending_get_health_dashboard": {"account": "me"},
    "lido_get_position": {"account": "me"},
    "lido_get_rates": {},
    "lido_get_oracle_status": {},
    "rocketpool_get_position": {"account": "me"},
    "rocketpool_get_rates": {},
    "rocketpool_get_operators": {},
}


def begin(golem: LiveGolem) -> Stage:
    """A golem with a loan at two lenders, staked ether and a request in the queue."""
    stage = open_stage(golem, load_cases())
    stage.prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=BEGUN))
    return stage


@pytest.mark.parametrize("name", sorted(SPECIFIED))
def test_a_tool_takes_what_was_specified_and_needs_no_more(name: str) -> None:
    load_cases()
    tool, wanted = REGISTRY.get(name), set(SPECIFIED[name]["params"])
    assert tool is not None
    fields = tool.params_model.model_fields
    assert wanted <= set(fields)
    more = [each for each in set(fields) - wanted if fields[each].is_required()]
    assert more == [], "a parameter that nobody specified has to be left out by who knows the specification"


@pytest.mark.protocols("aave_v3", "morpho", "lido", "rocketpool")
def test_every_read_returns_what_was_specified(live_golem: LiveGolem) -> None:
    stage = begin(live_golem)
    reads = {name for name in SPECIFIED if isinstance(REGISTRY.get(name), ReadTool)}
    assert reads == set(READS)
    for name, params in READS.items():
        asked = {key: stage.account if value == "me" else value for key, value in params.items()}
        assert list_missing(name, read(live_golem, name, **asked)) == [], name


def test_a_field_that_is_missing_is_noticed_within_lists_too() -> None:
    told: dict[str, Any] = {"markets": [dict.fromkeys(SPECIFIED["morpho_get_market_info"]["returns"]["markets"])]}
    assert list_missing("morpho_get_market_info", told) == []
    del told["markets"][0]["oracle"]
    assert list_missing("morpho_get_market_info", told) == ["markets.oracle"]
    assert list_missing("morpho_get_market_info", {}) == ["markets"]
    assert list_missing("a tool that nobody specified", {}) == []
