"""What a plan promises is what its bytes say, read by who did not make it; every other byte is refused."""

from __future__ import annotations

from typing import Any

import pytest

import tools_app.protocols.lido.tools.stake
import tools_app.protocols.lido.tools.withdraw  # noqa: F401  declares the tools
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import call_tool, make_context, report_of
from tests.tools_app.protocols.lido.staking import ETH, act, at, report
from tools_app.chain.abi import encode_call
from tools_app.protocols.lido.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call, TxPlan

pytestmark = pytest.mark.protocols("lido")


def read(chain: World, account: Any, plan: TxPlan) -> Effects:
    reader, effects = make_context(chain, address=account.address).chain(), Effects()
    assert PROTOCOL.effects is not None
    for index, call in enumerate(plan.calls):
        PROTOCOL.effects.read(call, earlier=plan.calls[:index], account=account.address, chain=reader, into=effects)
    return effects


@pytest.fixture
def held(chain: World) -> Any:
    """Somebody with stETH, wstETH, and a request that is final."""
    account = chain.new_account(60 * ETH)
    act(chain, account, "lido_stake", amount=str(20 * ETH))
    act(chain, account, "lido_stake", amount=str(20 * ETH), output_token="stETH")
    (done,) = report_of("lido_unstake", act(chain, account, "lido_unstake", amounts=[str(ETH)]))["request_ids"]
    report(chain, last_id=int(done), ether=10 * ETH)
    return account, done


def call_of(key: str, signature: str, *args: Any, value: int = 0, more: bytes = b"") -> Call:
    return Call(at(key), encode_call(f"function {signature}", *args) + more, value, signature)


def test_what_is_not_known_is_refused(chain: World, held: Any) -> None:
    account, done = held
    other = "0x" + "33" * 20
    bad = (
        call_of("queue", "requestWithdrawals(uint256[],address)", [ETH], other),
        call_of("queue", "claimWithdrawalsTo(uint256[],uint256[],address)", [1], [1], other),
        call_of("queue", "setApprovalForAll(address,bool)", other, True),
        call_of("queue", "transferFrom(address,address,uint256)", account.address, other, 1),
        call_of("wsteth", "wrap(uint256)", ETH, value=1),
        call_of("wsteth", "wrap(uint256)", ETH, more=b"\0"),
        call_of("steth", "submit(address)", other),
        call_of("steth", "transferShares(address,uint256)", other, 1),
        call_of("queue", "claimWithdrawals(uint256[],uint256[])", [], []),
        Call(at("steth"), b"", ETH, "plain coin"),
    )
    for call in bad:
        with pytest.raises(UnknownCall):
            read(chain, account, TxPlan(CHAIN_ID, (call,)))
    thief = chain.new_account(ETH)
    claim = call_tool(make_context(chain, address=account.address), "lido_claim_withdrawal", request_ids=[done])
    with pytest.raises(UnknownCall, match="own"):
        read(chain, thief, claim)


@pytest.mark.parametrize(
    ("key", "signature"),
    [
        ("wsteth", "wrap(uint256)"),
        ("wsteth", "unwrap(uint256)"),
        ("queue", "requestWithdrawals(uint256[],address)"),
        ("queue", "requestWithdrawalsWstETH(uint256[],address)"),
    ],
)
def test_what_moves_within_the_position_is_promised_a_few_wei_less_than_what_leaves(
    chain: World, held: Any, key: str, signature: str
) -> None:
    account, _ = held
    args = ([ETH], account.address) if key == "queue" else (ETH,)
    changes = read(chain, account, TxPlan(CHAIN_ID, (call_of(key, signature, *args),))).changes
    left, came = (sum(each.raw for each in changes if (each.raw > 0) is is_gain) for is_gain in (False, True))
    assert left < 0 < came and 0 < -left - came <= 10
