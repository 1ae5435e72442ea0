"""A plan that calls what no protocol here declares is permitted only where the owner allows arbitrary call data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from permits_app.models import PolicyCage
from tests.adversary.conftest import SWAP, Adversary
from tools_app import runner
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call, TxPlan

ROUTER = "uniswap_v3_swap_router_02"
FACTORY = encode_call("function factory()")
UNTIL = "function multicall(uint256 deadline, bytes[] data)"


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch, adversary: Adversary) -> Any:
    """Puts one more call of the router, harmless and unknown to every protocol here, behind each plan."""

    def put(data: bytes) -> None:
        honest = runner.build_plan
        router = adversary.live.world.contracts[ROUTER]

        def build(**asked: Any) -> TxPlan:
            plan = honest(**asked)
            return replace(plan, calls=(*plan.calls, Call(router, data, 0, "Look")))

        monkeypatch.setattr(runner, "build_plan", build)

    return put


@pytest.mark.parametrize("data", [FACTORY, encode_call(UNTIL, 2**40, [FACTORY])], ids=["plainly", "in a bundle"])
def test_an_undeclared_function_needs_the_owners_switch(adversary: Adversary, more: Any, data: bytes) -> None:
    more(data)
    status, problem = adversary.preview(**SWAP, venue="uniswap")
    assert (status, problem["rule"]) == (403, "policy_cage.arbitrary_calldata"), problem
    PolicyCage.objects.filter(golem=adversary.live.golem).update(allows_arbitrary_calldata=True)
    status, permit = adversary.preview(**SWAP, venue="uniswap")
    assert (status, permit["status"]) == (200, "CREATED"), permit


def test_coin_that_comes_out_of_a_swap_is_declared_as_part_of_its_bundle(adversary: Adversary) -> None:
    status, permit = adversary.preview(**{**SWAP, "token_out": "ETH"}, venue="uniswap")
    assert (status, permit["status"]) == (200, "CREATED"), permit
