"""Calls of SwapRouter02 and the position manager.

Every swap goes through the router's `multicall(deadline, …)`, because its swap functions carry no deadline of
their own. The chain's coin goes in as value and comes out through `unwrapWETH9` in the same call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.v3.path import encode_path
from tools_app.standards.concentrated import UINT128_MAX
from tools_app.toolkit.plan import Call

MULTICALL_UNTIL = "function multicall(uint256 deadline, bytes[] data) payable returns (bytes[])"
MULTICALL = "function multicall(bytes[] data) payable returns (bytes[])"
EXACT_IN_SINGLE = "function exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
EXACT_IN = "function exactInput((bytes,address,uint256,uint256))"
EXACT_OUT_SINGLE = "function exactOutputSingle((address,address,uint24,address,uint256,uint256,uint160))"
EXACT_OUT = "function exactOutput((bytes,address,uint256,uint256))"
V2_TOKENS_IN = "function swapExactTokensForTokens(uint256,uint256,address[],address)"
UNWRAP = "function unwrapWETH9(uint256 amountMinimum, address recipient) payable"
REFUND = "function refundETH() payable"
MINT = (
    "function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper,"
    " uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min,"
    " address recipient, uint256 deadline))"
)
INCREASE = "function increaseLiquidity((uint256,uint256,uint256,uint256,uint256,uint256))"
DECREASE = "function decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))"
SWEEP = "function sweepToken(address token, uint256 amountMinimum, address recipient) payable"
COLLECT = "function collect((uint256,address,uint128,uint128))"

ROUTER_ITSELF = "0x0000000000000000000000000000000000000002"
"""The address SwapRouter02 reads as itself, so that it can unwrap what it holds."""
WHAT_THE_ROUTER_HOLDS = 0
"""The amount SwapRouter02 reads as its own balance."""


def swap(
    *,
    router: str,
    path: Sequence[str],
    fees: Sequence[int],
    amount: int,
    limit: int,
    is_exact_out: bool,
    recipient: str,
    deadline: int,
    coin_in: bool,
    coin_out: bool,
    label: str,
) -> Call:
    """One swap before `deadline` (Unix seconds).

    Exact input: `amount` is spent and `limit` is the least received. Exact output: `amount` is received and
    `limit` the most spent.
    """
    receiver = ROUTER_ITSELF if coin_out else recipient
    if len(fees) == 1:
        signature = EXACT_OUT_SINGLE if is_exact_out else EXACT_IN_SINGLE
        body = encode_call(signature, (path[0], path[1], fees[0], receiver, amount, limit, 0))
    else:
        signature = EXACT_OUT if is_exact_out else EXACT_IN
        body = encode_call(signature, (encode_path(path, fees, is_exact_out=is_exact_out), receiver, amount, limit))
    steps = [body]
    if coin_out:
        steps.append(encode_call(UNWRAP, amount if is_exact_out else limit, recipient))
    if coin_in and is_exact_out:
        steps.append(encode_call(REFUND))
    value = (limit if is_exact_out else amount) if coin_in else 0
    return Call(to=router, data=encode_call(MULTICALL_UNTIL, deadline, steps), value=value, label=label)


@dataclass(frozen=True, slots=True)
class PathLeg:
    """One pool of a path that leads from one version into the other."""

    token_in: str
    token_out: str
    fee: int
    version: str


def swap_mixed(
    *,
    router: str,
    legs: Sequence[PathLeg],
    amount_in: int,
    minimum_out: int,
    recipient: str,
    deadline: int,
    coin_in: bool,
    coin_out: bool,
    label: str,
) -> Call:
    """An exact input through pools of both versions; what one leg gives stays with the router for the next.

    Only the last leg carries a minimum, because all of them succeed or fail together.
    """
    steps: list[bytes] = []
    for index, leg in enumerate(legs):
        is_last = index == len(legs) - 1
        receiver = recipient if is_last and not coin_out else ROUTER_ITSELF
        amount = amount_in if index == 0 else WHAT_THE_ROUTER_HOLDS
        least = minimum_out if is_last else 0
        if leg.version == "v2":
            steps.append(encode_call(V2_TOKENS_IN, amount, least, [leg.token_in, leg.token_out], receiver))
        else:
            steps.append(
                encode_call(EXACT_IN_SINGLE, (leg.token_in, leg.token_out, leg.fee, receiver, amount, least, 0))
            )
    if coin_out:
        steps.append(encode_call(UNWRAP, minimum_out, recipient))
    data = encode_call(MULTICALL_UNTIL, deadline, steps)
    return Call(to=router, data=data, value=amount_in if coin_in else 0, label=label)


@dataclass(frozen=True, slots=True)
class OfferedAmounts:
    """Amounts offered to a position, in base units, and the least of each that must be used."""

    amount0: int
    amount1: int
    least0: int
    least1: int


def mint_position(
    *,
    manager: str,
    token0: str,
    token1: str,
    fee: int,
    tick_lower: int,
    tick_upper: int,
    deposit: OfferedAmounts,
    recipient: str,
    deadline: int,
    label: str,
) -> Call:
    """Open a position whose NFT goes to `recipient`."""
    head = (token0, token1, fee, tick_lower, tick_upper)
    amounts = (deposit.amount0, deposit.amount1, deposit.least0, deposit.least1)
    return Call(to=manager, data=encode_call(MINT, (*head, *amounts, recipient, deadline)), value=0, label=label)


def increase_position(*, manager: str, position_id: str, deposit: OfferedAmounts, deadline: int, label: str) -> Call:
    """Add to a position without changing its range."""
    amounts = (deposit.amount0, deposit.amount1, deposit.least0, deposit.least1)
    return Call(to=manager, data=encode_call(INCREASE, (int(position_id), *amounts, deadline)), value=0, label=label)


def decrease_steps(
    *,
    position_id: str,
    liquidity: int,
    least0: int,
    least1: int,
    most0: int | None,
    most1: int | None,
    recipient: str,
    deadline: int,
) -> list[bytes]:
    """Take liquidity out and collect; `most0` and `most1` None collect everything owed, fees included."""
    take = encode_call(DECREASE, (int(position_id), liquidity, least0, least1, deadline))
    return [take, collect_step(position_id=position_id, recipient=recipient, most0=most0, most1=most1)]


def collect_step(*, position_id: str, recipient: str, most0: int | None = None, most1: int | None = None) -> bytes:
    """Take what is owed to a position; of a token whose most is told, no more than that."""
    most = (UINT128_MAX if most0 is None else most0, UINT128_MAX if most1 is None else most1)
    return encode_call(COLLECT, (int(position_id), recipient, *most))


def pay_out_steps(*, wrapped: str, tokens: tuple[str, str], least: tuple[int, int], recipient: str) -> list[bytes]:
    """Pay out what was collected to the manager itself: the wrapped coin as the coin, the other token as it is."""
    return [
        encode_call(UNWRAP, low, recipient) if token == wrapped else encode_call(SWEEP, token, low, recipient)
        for token, low in zip(tokens, least, strict=True)
    ]


def bundle(*, manager: str, steps: Sequence[bytes], label: str) -> Call:
    """Steps of the manager as one call, which are all done or none."""
    data = steps[0] if len(steps) == 1 else encode_call(MULTICALL, list(steps))
    return Call(to=manager, data=data, value=0, label=label)


def decrease_position(
    *,
    manager: str,
    position_id: str,
    liquidity: int,
    least0: int,
    least1: int,
    most0: int | None,
    most1: int | None,
    recipient: str,
    deadline: int,
    label: str,
) -> Call:
    """Take liquidity out and collect in one call; `most0` and `most1` None collect everything owed, fees included."""
    steps = decrease_steps(
        position_id=position_id,
        liquidity=liquidity,
        least0=least0,
        least1=least1,
        most0=most0,
        most1=most1,
        recipient=recipient,
        deadline=deadline,
    )
    return bundle(manager=manager, steps=steps, label=label)


def collect_fees(
    *, manager: str, position_id: str, recipient: str, label: str, most0: int | None = None, most1: int | None = None
) -> Call:
    """Take all fees owed to a position; of a token whose most is told, no more than that."""
    step = collect_step(position_id=position_id, recipient=recipient, most0=most0, most1=most1)
    return Call(to=manager, data=step, value=0, label=label)
