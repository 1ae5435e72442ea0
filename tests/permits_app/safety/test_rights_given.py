"""Contracts that take a right over the golem's assets inside a call that pays what it promised, through hook 5."""

from __future__ import annotations

import pytest

from permits_app.hook_rejection import Reject
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import USDC
from tests.permits_app.safety.test_told_simulations import HOOK, PAY, poke, put
from tools_app.chain.abi import event_topic

TAKER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
CALLER, T, K = "33", f"73{TAKER[2:]}", f"73{USDC.address[2:]}"
EVERYTHING = "7f" + "f" * 64
# Event, indexed arguments, the others: each as the bytecode that pushes it.
RIGHTS = {
    "operator of claims (ERC-6909)": ("OperatorSet(address,address,bool)", (CALLER, T), ("6001",)),
    "approval of a claim (ERC-6909)": ("Approval(address,address,uint256,uint256)", (CALLER, T, "6007"), (EVERYTHING,)),
    "authorization (Morpho)": ("SetAuthorization(address,address,address,bool)", (CALLER, CALLER, T), ("6001",)),
    "operator (ERC-777)": ("AuthorizedOperator(address,address)", (T, CALLER), ()),
    "credit (Aave)": (
        "BorrowAllowanceDelegated(address,address,address,uint256)",
        (CALLER, T, K),
        (EVERYTHING,),
    ),
    "operator of all (ERC-1155)": ("ApprovalForAll(address,address,bool)", (CALLER, T), ("6001",)),
    "approval, nothing indexed": ("Approval(address,address,uint256)", (), (CALLER, T, EVERYTHING)),
    "approval, the owner indexed": ("Approval(address,address,uint256)", (CALLER,), (T, EVERYTHING)),
}


def emit(event: str, indexed: tuple[str, ...], others: tuple[str, ...]) -> str:
    """Keep the right in a slot of the caller, and tell it."""
    code = "60013355"
    for index, word in enumerate(others):
        code += word + f"60{32 * index:02x}52"
    topics = (f"7f{event_topic('event ' + event)[2:]}", *indexed)
    return code + "".join(reversed(topics)) + f"60{32 * len(others):02x}5f" + f"a{len(topics):x}"


@pytest.mark.parametrize("engine", ["auto", "pyevm"])
@pytest.mark.parametrize("right", sorted(RIGHTS))
def test_a_right_of_which_the_plan_says_nothing_is_refused(
    live_golem: LiveGolem, local_chain: World, right: str, engine: str
) -> None:
    put(local_chain, emit(*RIGHTS[right]) + "6001" + PAY)
    refused = HOOK.check(poke(live_golem, engine=engine))

    assert isinstance(refused, Reject)
    assert refused.rule == "simulator.unexpected_approval"
    assert refused.data["spender"] == TAKER
