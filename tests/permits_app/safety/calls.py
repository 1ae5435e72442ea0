"""HookCalls for the hooks' tests: of a real golem on the real chain, and of plain values without either."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from archetypes_app.models import Golem
from archetypes_app.toolset import resolve_toolset, view_golem
from permits_app.limits.policy import Policy, load_for_decision, read_policy
from permits_app.limits.valuation import PlanValue
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.previews.hook_call import make_hook_call
from permits_app.safety.hook import HookCall, HookStage
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tools_app import runner
from tools_app.core import clock
from tools_app.toolkit.enums import ActionClass, CapabilityTier, Category, PiTool, RiskLayer, SpriteTrigger, TickBudget
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import ToolParams
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import TokenMeta

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ACCOUNT = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
ROUTER = "0x55Ff132D02aaDa36A2862506D33E0817EE2496fC"
OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"

USDC = TokenMeta(CHAIN_ID, "0x3798B16bb55a335A00ae957929CC9DD22447a26B", "USDC", 6, "USD Coin", True)
WETH = TokenMeta(CHAIN_ID, "0x00d0b34Da709b017641821205fb0eEa972eC1FC3", "WETH", 18, "Wrapped Ether", True)
WBTC = TokenMeta(CHAIN_ID, "0xACD71143EE1d52BDE870CA93441959ed194726aa", "WBTC", 8, "Wrapped BTC", True)

SWAP_TOOL = WriteTool(
    name="uniswap_execute_swap",
    prefix="uniswap",
    venue="uniswap",
    category=Category.TRADING,
    capability=CapabilityTier.WRITE,
    risk_layer=RiskLayer.BOUNDED,
    tick_budget=TickBudget.SLOW,
    summary="",
    description="",
    snippet="",
    guidelines=(),
    named_steps=(),
    sprite_trigger=SpriteTrigger.EXECUTING,
    requires=frozenset(),
    supported_chains=None,
    schema_version=1,
    pi_tool=PiTool.PREVIEW_ACTION,
    key="swap",
    aliases=(),
    params_model=ToolParams,
    handler=lambda ctx: None,
    source="",
    action_class=None,
    report=lambda outcome: None,
)


def plain_call(plan: TxPlan | None = None, **changes: Any) -> HookCall:
    """A call that touches neither chain nor database; `limits` and `cage` are unsaved rows with the defaults."""
    golem = Golem(id=uuid4(), name="plain", address=ACCOUNT, home_chain_id=CHAIN_ID)
    call = HookCall(
        stage=HookStage.PREVIEW,
        golem=golem,
        view=view_golem(golem),
        toolset=Toolset.of((), ""),
        tool=SWAP_TOOL,
        params={},
        plan=plan,
        effect=None,
        action_class=ActionClass.NEW_POSITION,
        value=PlanValue(),
        chain=None,
        limits=SpendingLimits(golem=golem),
        cage=PolicyCage(golem=golem),
        allowlist=frozenset(),
        api_key_id=None,
        now=NOW,
    )
    return replace(call, **changes)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the database says of a golem before it acts, read as a preview reads it."""

    golem: Golem
    toolset: Toolset
    policy: Policy


def read_standing(live: LiveGolem) -> Standing:
    """A golem's as it is now."""
    golem, addresses = load_for_decision(live.golem.pk)
    toolset = resolve_toolset(golem)
    return Standing(golem, toolset, read_policy(golem=golem, toolset=toolset, addresses=addresses))


def live_call(
    live: LiveGolem, name: str, params: Mapping[str, Any], *, standing: Standing | None = None, **changes: Any
) -> HookCall:
    """What the chain of hooks is asked for one tool of a real golem: the tool's own plan on the local chain. Who asks
    often and changes nothing of the golem read its `standing` before.
    """
    stands = standing or read_standing(live)
    tool = REGISTRY.get(name)
    assert isinstance(tool, WriteTool)
    call = make_hook_call(
        stage=HookStage.PREVIEW,
        golem=stands.golem,
        toolset=stands.toolset,
        policy=stands.policy,
        tool=tool,
        params=runner.check_params(tool=tool, params=params),
        api_key_id=live.key.key.pk,
        now=clock.now(),
    )
    return replace(call, **changes)


def swap_call(live: LiveGolem, **params: Any) -> HookCall:
    """A swap of 500 USDC to WETH with `params` changed."""
    return live_call(
        live, "uniswap_execute_swap", {"token_in": "USDC", "token_out": "WETH", "amount": "500000000", **params}
    )


def open_position(live: LiveGolem, chain: World, *, amount1: str = "500000000") -> str:
    """The id of a WETH/USDC position over a wide range: the tool's own calls, sent as the golem by the test node."""
    params = {"token0": "WETH", "token1": "USDC", "price_lower": "1", "price_upper": "100000", "amount1": amount1}
    plan = live_call(live, "uniswap_lp_add_liquidity", params).plan
    assert plan is not None
    account = live.golem.address
    chain.rpc.call("anvil_impersonateAccount", account)
    for call in plan.calls:
        request = {"from": account, "to": call.to, "data": "0x" + call.data.hex(), "gas": hex(3_000_000)}
        assert chain.wait(chain.rpc.call("eth_sendTransaction", request))["status"] == "0x1"
    chain.rpc.call("anvil_stopImpersonatingAccount", account)
    manager = chain.contracts["uniswap_v3_position_manager"]
    answer = chain.rpc.read(manager, "tokenOfOwnerByIndex(address,uint256)", account, 0, returns="(uint256)")
    return str(answer[0] if isinstance(answer, list | tuple) else answer)
