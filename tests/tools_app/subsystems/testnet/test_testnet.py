"""The testnet tools on real private chains: each golem sees its own, nothing answers an address, a token works once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

import tools_app.subsystems.testnet.chains
import tools_app.subsystems.testnet.fund_and_deploy  # noqa: F401  declares the tools
from golem_project.runtime.dev_chains import EmbeddedDevChains
from tests.evm.world import World
from tests.tools_app.factories import find_tool, make_context
from tools_app.core.errors import GolemError
from tools_app.subsystems.testnet.dev_chains import DevChains
from tools_app.toolkit.context import ServiceMissing
from tools_app.toolkit.result import encode_result
from tools_app.toolkit.schema import validate_params
from tools_app.toolkit.tooldef import LocalWriteTool

SOMEBODY = "0x00000000000000000000000000000000000000aa"
GOLEM, OTHER = UUID(int=7), UUID(int=8)


class UsedUp(Exception):
    """A capability was consumed twice."""


@dataclass
class OneShot:
    """A capability for one call of one tool, as the safety layer mints it."""

    tool_name: str
    plan_hash: str = "0x" + "11" * 32
    permit_id: UUID = field(default_factory=uuid4)
    value_limit_micro_usd: int = 0
    uses: int = 0

    def consume(self, *, tool_name: str, plan_hash: str) -> None:
        if self.uses or (tool_name, plan_hash) != (self.tool_name, self.plan_hash):
            raise UsedUp(tool_name)
        self.uses += 1


@pytest.fixture
def chains(tmp_path: Path) -> Iterator[EmbeddedDevChains]:
    made = EmbeddedDevChains(tmp_path / "dev")
    yield made
    made._chains.stop_all()


def run(world: World, chains: EmbeddedDevChains, name: str, *, golem: UUID = GOLEM, **params: Any) -> dict[str, Any]:
    """Preview, then do it once, as a permit would."""
    tool = find_tool(name)
    assert isinstance(tool, LocalWriteTool)
    ctx = make_context(world, golem_id=golem, services={DevChains: chains})
    checked = validate_params(tool.params_model, params)
    effect = tool.preview(ctx, **checked)
    assert effect.summary
    json.dumps(effect.details)
    # The runner uses the capability up before a handler is called.
    answer: dict[str, Any] = encode_result(tool.handler(ctx, OneShot(name), **checked))
    return answer


def test_a_chain_is_set_up_used_and_stopped_without_its_address_ever_shown(
    world: World, chains: EmbeddedDevChains
) -> None:
    started = run(world, chains, "testnet_setup_local", funded_accounts=2)
    assert len(started["funded_addresses"]) == 2
    assert started["chain_id"] == 31337
    assert len(started["seeded_pools"]) == 10
    assert {"uniswap_v3_factory", "weth9"} <= set(started["deployed_contracts"])

    funded = run(
        world,
        chains,
        "testnet_fund_account",
        address=SOMEBODY,
        eth_amount="5",
        tokens=["USDC", "WETH", "USDC"],
        amounts=["1500000", "7", "500000"],
    )
    assert funded["eth_balance"] == "5"
    assert {(row["symbol"], row["amount"]) for row in funded["token_balances"]} == {("USDC", "2000000"), ("WETH", "7")}

    moved = run(world, chains, "testnet_time_travel", seconds=3_600, mine_blocks=5)
    assert moved["mined_blocks"] == 5
    assert 3_600 <= moved["advanced_seconds"] < 3_700

    pool = run(
        world,
        chains,
        "testnet_deploy_mock_pool",
        token0="WBTC",
        token1="DAI",
        fee_tier=500,
        initial_price="61234.5",
        liquidity_usd="250000",
    )
    assert int(pool["liquidity"]) > 0
    assert pool["version"] == "v3"

    stopped = run(world, chains, "testnet_stop_local")
    assert stopped == {"stopped": True, "chain_ref": started["chain_ref"], "uptime_seconds": stopped["uptime_seconds"]}
    for answer in (started, funded, moved, pool, stopped):
        text = json.dumps(answer)
        assert "127.0.0.1" not in text
        assert "http" not in text
        assert "rpc" not in text.lower()


def test_a_chain_of_another_golem_is_unknown(world: World, chains: EmbeddedDevChains) -> None:
    started = run(world, chains, "testnet_setup_local", seed_liquidity=False)
    for name, params in (
        ("testnet_stop_local", {}),
        ("testnet_time_travel", {"seconds": 5}),
        ("testnet_fund_account", {"address": SOMEBODY}),
        ("testnet_deploy_mock_pool", {"token0": "USDC", "token1": "DAI"}),
    ):
        for reference in ({"chain_ref": started["chain_ref"]}, {}):
            with pytest.raises(GolemError) as refused:
                run(world, chains, name, golem=OTHER, **params, **reference)
            assert refused.value.code == "DEV_CHAIN_NOT_FOUND"
    assert run(world, chains, "testnet_stop_local", chain_ref=started["chain_ref"])["stopped"]


def test_a_golem_may_only_run_a_few_chains(world: World, chains: EmbeddedDevChains) -> None:
    for _ in range(2):
        run(world, chains, "testnet_setup_local", seed_liquidity=False)
    with pytest.raises(GolemError) as refused:
        run(world, chains, "testnet_setup_local", seed_liquidity=False)
    assert refused.value.code == "DEV_CHAIN_LIMIT"


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("testnet_setup_local", {"mode": "fork"}),
        ("testnet_setup_local", {"versions": ["v4"]}),
        ("testnet_setup_local", {"funded_accounts": 21}),
        ("testnet_setup_local", {"fork_from": "ethereum"}),
        ("testnet_stop_local", {"rpc_url": "http://127.0.0.1:8545"}),
        ("testnet_time_travel", {"seconds": 0}),
        ("testnet_time_travel", {"seconds": 1, "mine_blocks": 100_000}),
        ("testnet_fund_account", {"address": "0x12"}),
        ("testnet_fund_account", {"address": SOMEBODY, "tokens": ["USDC"]}),
        ("testnet_deploy_mock_pool", {"token0": "USDC", "token1": "USDC"}),
        ("testnet_deploy_mock_pool", {"token0": "USDC", "token1": "DAI", "version": "v4"}),
        ("testnet_deploy_mock_pool", {"token0": "USDC", "token1": "DAI", "liquidity_usd": "0"}),
        ("testnet_deploy_mock_pool", {"token0": "USDC", "token1": "DAI", "tick_lower": 0}),
    ],
)
def test_a_bad_testnet_call_is_refused_as_bad_parameters(
    world: World, chains: EmbeddedDevChains, name: str, params: dict[str, Any]
) -> None:
    if name != "testnet_setup_local":
        run(world, chains, "testnet_setup_local", seed_liquidity=False, funded_accounts=1)
    with pytest.raises(GolemError) as refused:
        run(world, chains, name, **params)
    assert refused.value.code == "INVALID_PARAMS"


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("testnet_fund_account", {"address": SOMEBODY, "tokens": ["NOPE"], "amounts": ["1"]}),
        ("testnet_deploy_mock_pool", {"token0": "USDC", "token1": "NOPE"}),
        ("testnet_deploy_mock_pool", {"token0": "USDC", "token1": "DAI", "fee_tier": 1234}),
    ],
)
def test_what_a_test_chain_refuses_is_said_in_its_words(
    world: World, chains: EmbeddedDevChains, name: str, params: dict[str, Any]
) -> None:
    run(world, chains, "testnet_setup_local", seed_liquidity=False, funded_accounts=1)
    with pytest.raises(GolemError) as refused:
        run(world, chains, name, **params)
    assert refused.value.code in {"DEV_CHAIN_FAILED", "INVALID_PARAMS"}
    assert "Fix:" in refused.value.detail


def test_without_the_service_a_testnet_tool_says_so(world: World) -> None:
    tool = find_tool("testnet_setup_local")
    ctx = make_context(world, golem_id=GOLEM)
    with pytest.raises(ServiceMissing):
        tool.handler(ctx, OneShot("testnet_setup_local"), **validate_params(tool.params_model, {}))
