"""For every function the product's tools call, who receives and which tokens are pinned before the call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from permits_app.policy_cage.conditions import Condition, Must, is_met
from permits_app.policy_cage.suggested_conditions import suggest_conditions
from tools_app.chain.abi import encode_call
from tools_app.chain.signatures import AbiParam, parse_signature
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.toolkit.protocol import SHELF, Contract

ACCOUNT, THIEF = "0x" + "aa" * 20, "0x" + "bb" * 20
USDC, WETH, STRANGE = "0x" + "01" * 20, "0x" + "02" * 20, "0x" + "03" * 20
# Addresses that are neither who receives nor a token; why each may be anything.
FREE = {
    ("submit", (0,)): "who referred to Lido gets nothing of the account's",
    (
        "join",
        (0,),
    ): "a vault's urn, which no bytes tell whose it is; into another's is a loss, which the cage bounds",
    ("hope", (0,)): "the cage forbids it, whatever it names",
    ("nope", (0,)): "takes a right back",
    ("setAuthorization", (0,)): "the cage forbids it, whatever it names",
    ("approve", (0,)): "the cage decodes it, and bounds the spender",
    ("mint", (0,)): "which gauge's reward is paid: the minter pays who calls, and holds nothing of the account's",
    (
        "claim",
        (0,),
    ): "which market's rewards are paid: the contract knows its markets, and pays the account, which is pinned",
    ("depositIntoStrategy", (0,)): "the manager takes its own strategies alone; no cage is suggested it",
    ("completeQueuedWithdrawal", (0, 1)): "whom a withdrawal was delegated to: the contract keeps a hash of all of it",
    ("completeQueuedWithdrawal", (0, 5)): "strategies of a withdrawal: the contract keeps a hash of all of it",
    ("completeQueuedWithdrawal", (1,)): "the tokens of those strategies: any other reverts",
    ("queueWithdrawals", (0, 0)): "strategies: what comes out of them is the caller's",
    ("queueWithdrawals", (0, 2)): "the contract asks nothing of it: the withdrawer is the caller",
    ("delegateTo", (0,)): "whom it trusts, who can be slashed; no cage is suggested it",
    ("redelegate", (0,)): "whom it trusts, who can be slashed; no cage is suggested it",
    ("release", (1,)): "which of a jar's assets are paid; all of them go to the account, which is pinned",
    ("depositETHForWeETH", (0,)): "who referred to ether.fi gets nothing of the account's",
    ("redeemWeEth", (2,)): "what ether.fi pays with, which it gives to the account; no cage is suggested it",
    ("initiateWithdrawal", (0,)): "what Kelp pays with, which it gives to the caller; no cage is suggested it",
    ("instantWithdrawal", (0,)): "what Kelp pays with, which it gives to the caller; no cage is suggested it",
    ("completeWithdrawal", (0,)): "what Kelp pays with, which it gives to the caller; no cage is suggested it",
    ("withdraw", (1,)): "what Renzo pays with, which it gives to the caller; no cage is suggested it",
    ("enterMarkets", (0,)): "which markets cover debts at Moonwell; no cage is suggested it",
    ("claimReward", (1,)): "which of Moonwell's markets pay; they pay the account, which is pinned",
    ("liquidate", (1,)): "who owes; a price of the thief's making is a loss the cage bounds",
}
# The market's own contracts in Morpho's parameters: a market of others is a position that nobody values.
MARKET = {(0, 2), (0, 3)}


def list_addresses(params: Sequence[AbiParam], at: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    for index, param in enumerate(params):
        here = (*at, index)
        if param.members and not param.array_suffix:
            yield from list_addresses(param.members, here)
        elif param.type.startswith("address"):
            yield here


def contracts() -> list[tuple[str, Contract]]:
    return [(protocol.name, contract) for protocol in SHELF for contract in protocol.contracts]


def test_every_address_of_every_call_is_pinned_or_free_for_a_reason() -> None:
    loose = []
    for name, contract in contracts():
        for text in contract.functions:
            entry = parse_signature("function " + text.removeprefix("function "))
            pinned = {*contract.own.get(text, ()), *contract.tokens.get(text, ())}
            for place in list_addresses(entry.inputs):
                is_market = name == "morpho" and place in MARKET
                if place not in pinned and (entry.name, place) not in FREE and not is_market:
                    loose.append((name, entry.name, place))
    assert loose == []


def test_what_is_pinned_is_a_place_of_a_function_that_is_called() -> None:
    for _, contract in contracts():
        for text in (*contract.own, *contract.tokens):
            assert text in contract.functions
            assert suggest_conditions(text, own=contract.own.get(text, ()), tokens=contract.tokens.get(text, ()))


def path(*tokens: str) -> bytes:
    return (500).to_bytes(3, "big").join(bytes.fromhex(token[2:]) for token in tokens)


@pytest.mark.parametrize(
    ("signature", "arguments", "is_fine"),
    [
        (v3.EXACT_IN_SINGLE, ((USDC, WETH, 500, ACCOUNT, 1, 1, 0),), True),
        (v3.EXACT_IN_SINGLE, ((USDC, WETH, 500, THIEF, 1, 1, 0),), False),
        (v3.EXACT_IN_SINGLE, ((USDC, STRANGE, 500, ACCOUNT, 1, 1, 0),), False),
        (v3.EXACT_IN, ((path(USDC, WETH), ACCOUNT, 1, 1),), True),
        (v3.EXACT_IN, ((path(USDC, STRANGE, WETH), ACCOUNT, 1, 1),), False),
        (v3.EXACT_IN, ((path(USDC, WETH), THIEF, 1, 1),), False),
        (v3.V2_TOKENS_IN, (1, 1, [USDC, WETH], ACCOUNT), True),
        (v3.V2_TOKENS_IN, (1, 1, [USDC, STRANGE, WETH], ACCOUNT), False),
        (v3.V2_TOKENS_IN, (1, 1, [USDC, WETH], THIEF), False),
    ],
)
def test_a_call_of_the_router_meets_its_conditions_or_not(
    signature: str, arguments: tuple[object, ...], is_fine: bool
) -> None:
    router = next(contract for _, contract in contracts() if contract.key == "v3_router")
    conditions: list[Condition] = suggest_conditions(
        signature, own=router.own.get(signature, ()), tokens=router.tokens.get(signature, ())
    )
    assert {each.must for each in conditions} >= {Must.BE_ACCOUNT}
    data, assets = encode_call(signature, *arguments), {int(USDC, 16), int(WETH, 16)}
    met = [
        is_met(each.pack(), value=0, data=data, account=ACCOUNT, is_listed=assets.__contains__) for each in conditions
    ]
    assert all(met) is is_fine


def test_what_stands_behind_an_array_of_fixed_size_is_pinned_at_its_own_word() -> None:
    [found] = suggest_conditions("function add(uint256[3],uint256,address)", own=((2,),), tokens=())
    assert found == Condition(Must.BE_ACCOUNT, (4,))
