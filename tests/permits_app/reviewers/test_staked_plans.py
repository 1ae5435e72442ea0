"""The guardian reads plans of staking as their tools meant them, trades of claims included, and vetoes more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from permits_app.reviewers.safety_guardian import (
    judge_approvals,
    judge_changes,
    judge_receives,
    judge_recipients,
    judge_spends,
)
from permits_app.safety.decoding import read_calls
from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context
from tests.tools_app.protocols.lido.staking import ETH, act, report
from tests.tools_app.protocols.lido.test_figures import make_market
from tools_app.standards import erc20
from tools_app.toolkit.plan import TxPlan

pytestmark = [pytest.mark.protocols("lido", "rocketpool"), pytest.mark.django_db]


def judge(chain: World, account: Any, plan: TxPlan) -> list[str]:
    reader = make_context(chain, address=account.address).chain()
    effects = read_calls(plan.calls, account=account.address, chain=reader)
    return [
        *judge_recipients(effects, account=account.address, payable=frozenset()),
        *judge_spends(effects, plan),
        *judge_receives(effects, plan),
        *judge_approvals(effects, plan),
        *judge_changes(effects, plan),
    ]


def plan_of(chain: World, account: Any, tool: str, **params: Any) -> TxPlan:
    plan: TxPlan = call_tool(make_context(chain, address=account.address), tool, **params)
    return plan


def test_an_approval_of_a_claim_beyond_what_the_plan_uses_up_is_vetoed(chain: World) -> None:
    account = chain.new_account(60 * ETH)
    act(chain, account, "lido_stake", amount=str(20 * ETH), output_token="stETH")
    plan = plan_of(chain, account, "lido_wrap", amount=str(ETH))
    token = plan.allowances[0].token
    more = erc20.approve_exact(token=token, spender=plan.allowances[0].spender, amount=2 * ETH)
    assert any(
        "would be allowed" in each for each in judge(chain, account, replace(plan, calls=(more, plan.calls[-1])))
    )
    elsewhere = erc20.approve_exact(token=token, spender="0x" + "55" * 20, amount=ETH)
    assert any(
        "never calls" in each for each in judge(chain, account, replace(plan, calls=(elsewhere, plan.calls[-1])))
    )
    left = replace(plan.allowances[0], left=1)
    assert judge(chain, account, replace(plan, allowances=(left,)))


def test_a_claim_that_is_traded_without_the_plan_saying_so_is_vetoed(chain: World) -> None:
    account = chain.new_account(300 * ETH)
    act(chain, account, "lido_stake", amount=str(200 * ETH))
    report(chain, earned=200 * ETH)
    make_market(chain, other="USDC", ether=400 * ETH)
    plan = plan_of(chain, account, "lido_harvest_yield")
    assert any("does not say so" in each for each in judge(chain, account, replace(plan, changes=())))
