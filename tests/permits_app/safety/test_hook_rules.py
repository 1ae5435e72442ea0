"""Hooks of pools that a plan says and its calls do not reach, and calls that nobody can read for them."""

from __future__ import annotations

from permits_app.hook_rejection import Reject
from permits_app.safety.hook_rules import judge_pool_hooks, reaches_hooks
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import ACCOUNT, OTHER, ROUTER, swap_call
from tests.tools_app.portfolio.paper_bank import Paper, read_paper
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.pool_hooks import PoolHooks
from tools_app.toolkit.protocol import SHELF

HOOK = PoolHooks("pools/0x01", OTHER)


def judge(chain: ChainReader, *calls: Call, hooks: tuple[PoolHooks, ...] = ()) -> Reject | None:
    return judge_pool_hooks(plan=TxPlan(31337, calls, hooks=hooks), chain=chain, account=ACCOUNT)


def test_a_plan_that_says_a_hook_which_no_call_reaches_is_refused_with_its_name() -> None:
    refused = judge(read_paper(Paper()), hooks=(HOOK,))
    assert refused is not None
    assert (refused.rule, refused.observed) == ("hallucination_detector.pool_hook", f"hook {OTHER}")
    assert refused.reason.endswith("the plan says so and no call does")


def test_calls_of_what_runs_hooks_are_read_whatever_the_plan_says_and_others_are_not(live_golem: LiveGolem) -> None:
    chain = swap_call(live_golem).chain
    assert chain is not None
    [running, *_] = [address for address, each in SHELF.contracts_on(31337) if each.runs_hooks]
    unreadable, elsewhere = Call(running, b"\x12\x34\x56\x78", 0, "x"), Call(ROUTER, b"\x12\x34\x56\x78", 0, "x")
    assert judge(chain, elsewhere) is None and not reaches_hooks(TxPlan(31337, (elsewhere,)))
    for calls in ((unreadable,), (elsewhere, unreadable)):
        refused = judge(chain, *calls)
        assert refused is not None and refused.observed == "calls nobody can read", calls
        assert reaches_hooks(TxPlan(31337, calls))
    assert not reaches_hooks(TxPlan(1, (unreadable,))), "that contract is another chain's"
