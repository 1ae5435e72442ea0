"""Owners read every bound that a plan is held to: nothing that the permit binds is left out of the words."""

from __future__ import annotations

from permits_app.approvals.approval_statement import summarize_bounds
from permits_app.approvals.plan_bounds_text import say_bounds
from permits_app.permits.kept_bounds import read_bounds
from permits_app.permits.plan_store import encode_bounds
from tests.evm.world import CHAIN_ID
from tools_app.toolkit.plan import Call, ItemGiven, Statement, TokenFlow, TxPlan
from tools_app.toolkit.positions import Gauge, GaugeBound, PositionChange, PositionRef
from tools_app.toolkit.views import TokenMeta

USDC = TokenMeta(CHAIN_ID, "0x00000000000000000000000000000000000000C1", "USDC", 6, "USD Coin", True)
POOL = "0x00000000000000000000000000000000000000C2"
TAKER = "0x00000000000000000000000000000000000000C3"
ACCOUNT = PositionRef("bank", "account", CHAIN_ID, "1")

SHOWN_ELSEWHERE = {"spends", "receives", "allowances", "contracts", "recipients", "action_class", "promise"}
"""In lists of their own, and what is promised to a taker in the words of its own page."""
NO_BOUND = {"price_impact_bps", "details"}
"""What was quoted; nothing is held to it."""

PLAN = TxPlan(
    CHAIN_ID,
    (Call(POOL, b"", 0, "nothing"),),
    spends=(TokenFlow(USDC, 1, 1),),
    slippage_bps=50,
    deadline=1_900_000_000,
    collateral_ratio_bps=20_000,
    changes=(
        PositionChange("bank", "debt", USDC.address, -6_000_000, -6_600_000, ACCOUNT, 15_001),
        PositionChange("bank", "account", USDC.address, 5_000_000, 4_900_000),
        PositionChange("bank", "account", USDC.address, -5_000_000, -5_100_000, ACCOUNT),
    ),
    gauges=(
        GaugeBound(Gauge("spare votes", POOL, "function votes() view returns (uint256)"), least=3, most=5),
        GaugeBound(Gauge("calls left", POOL, "function left() view returns (uint256)"), most=7),
    ),
    statements=(Statement(POOL, "agent 4", "agentURI", "https://example.org/<script>"),),
    items=(ItemGiven(POOL, 9, TAKER),),
)


def test_every_bound_beside_the_flows_is_said_with_its_figure() -> None:
    assert say_bounds(read_bounds(encode_bounds(PLAN)), chain_id=CHAIN_ID) == [
        "bank/account/31337/1: at most 6,600,000 base units of 0x000000… more owed",
        "bank/account/31337/1: health at least 1.50 afterwards",
        "a new account at bank: at least 4,900,000 base units of 0x000000… more in it, or less owed",
        "bank/account/31337/1: at most 5,100,000 base units of 0x000000… less in it, or more owed",
        f"spare votes at {POOL}: at least 3 and at most 5 afterwards",
        f"calls left at {POOL}: at most 7 afterwards",
        f"{POOL} is told the agentURI of agent 4: https://example.org/<script>",
        f"number 9 of {POOL} goes to {TAKER}",
        "slippage: at most 50 bps (0.5%)",
        "its cover is worth 2.00 times what is owed, as planned",
        "deadline: 2030-03-17 17:46:40 UTC",
    ]


def test_a_bound_that_nobody_says_cannot_be_added() -> None:
    said = {"changes", "gauges", "statements", "items", "slippage_bps", "collateral_ratio_bps", "deadline"}
    assert set(encode_bounds(PLAN)) | {"promise"} == said | SHOWN_ELSEWHERE | NO_BOUND


def test_a_plan_that_promises_nothing_else_says_nothing_else() -> None:
    plain = encode_bounds(TxPlan(CHAIN_ID, (Call(POOL, b"", 0, "nothing"),)))
    assert summarize_bounds(plain, chain_id=CHAIN_ID)["promises"] == []
