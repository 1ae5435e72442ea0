"""The call of the Universal Router (2.1.1) that swaps in V4 pools, and what it is given before.

Tokens come by way of Permit2, the coin as value. What the router holds in between is bounded where it leaves, and what
it did not need goes back in the same call: the next caller may take whatever lies there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eth_abi.abi import encode

from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.v4.keys import COIN, KEY_TYPE, PoolKey
from tools_app.toolkit.plan import Call

EXECUTE: Final = "function execute(bytes commands, bytes[] inputs, uint256 deadline) payable"
ROUTER_ITSELF: Final = "0x0000000000000000000000000000000000000002"
ALL_IT_HOLDS: Final = 1 << 255
OPEN_DELTA: Final = 0
_TRANSFER, _SWEEP, _WRAP, _UNWRAP, _V4 = 0x02, 0x04, 0x0B, 0x0C, 0x10
_IN_SINGLE, _IN, _OUT_SINGLE, _OUT, _SETTLE, _SETTLE_ALL, _TAKE = 0x06, 0x07, 0x08, 0x09, 0x0B, 0x0C, 0x0E
_PATH: Final = "(address,uint24,int24,address,bytes)[]"


@dataclass(frozen=True, slots=True)
class Step:
    """One pool of a path, and the currency that goes into it."""

    key: PoolKey
    currency_in: str

    @property
    def currency_out(self) -> str:
        return self.key.currency1 if self.currency_in == self.key.currency0 else self.key.currency0

    @property
    def forward(self) -> bool:
        """Whether the first currency goes in."""
        return self.currency_in == self.key.currency0


def swap(
    *,
    router: str,
    wrapped: str,
    steps: Sequence[Step],
    amount: int,
    limit: int,
    is_exact_out: bool,
    recipient: str,
    deadline: int,
    coin_in: bool,
    coin_out: bool,
    label: str,
) -> Call:
    """One swap before `deadline` (Unix seconds), its proceeds and what is left of its input to `recipient`.

    Exact input: `amount` is spent and `limit` is the least received. Exact output: `amount` is received and `limit` the
    most spent.
    """
    most = limit if is_exact_out else amount
    least = amount if is_exact_out else limit
    first, last = steps[0].currency_in, steps[-1].currency_out
    commands: list[tuple[int, bytes]] = []
    is_held = coin_in or first == COIN
    if not coin_in and first == COIN:
        commands += [
            (_TRANSFER, encode(["address", "address", "uint160"], [wrapped, ROUTER_ITSELF, most])),
            (_UNWRAP, encode(["address", "uint256"], [ROUTER_ITSELF, most])),
        ]
    elif coin_in and first != COIN:
        commands.append((_WRAP, encode(["address", "uint256"], [ROUTER_ITSELF, most])))
    is_direct = coin_out == (last == COIN)
    commands.append((_V4, _trade(steps, amount, limit, is_exact_out, is_held, recipient if is_direct else "")))
    if not is_direct and coin_out:
        commands.append((_UNWRAP, encode(["address", "uint256"], [recipient, least])))
    elif not is_direct:
        commands.append((_WRAP, encode(["address", "uint256"], [recipient, ALL_IT_HOLDS])))
    if is_held:
        commands += _give_back(first, recipient, coin_in=coin_in)
    data = encode_call(EXECUTE, bytes(code for code, _ in commands), [each for _, each in commands], deadline)
    return Call(to=router, data=data, value=most if coin_in else 0, label=label)


def _give_back(first: str, recipient: str, *, coin_in: bool) -> list[tuple[int, bytes]]:
    """What the router still holds of the input, in the form in which it came."""
    if coin_in and first == COIN:
        return [(_SWEEP, encode(["address", "address", "uint256"], [COIN, recipient, 0]))]
    if coin_in:
        return [(_UNWRAP, encode(["address", "uint256"], [recipient, 0]))]
    return [(_WRAP, encode(["address", "uint256"], [recipient, ALL_IT_HOLDS]))]


def _trade(steps: Sequence[Step], amount: int, limit: int, is_exact_out: bool, is_held: bool, recipient: str) -> bytes:
    """The swap, what pays for it, and where its proceeds go: to the router itself without a `recipient`."""
    code, swapped = _encode_swap(steps, amount, limit, is_exact_out)
    first, last = steps[0].currency_in, steps[-1].currency_out
    if is_held:
        paying = (_SETTLE, encode(["address", "uint256", "bool"], [first, OPEN_DELTA, False]))
    else:
        paying = (_SETTLE_ALL, encode(["address", "uint256"], [first, limit if is_exact_out else amount]))
    taking = (_TAKE, encode(["address", "address", "uint256"], [last, recipient or ROUTER_ITSELF, OPEN_DELTA]))
    actions = [(code, swapped), paying, taking]
    return encode(["bytes", "bytes[]"], [bytes(each for each, _ in actions), [each for _, each in actions]])


def _encode_swap(steps: Sequence[Step], amount: int, limit: int, is_exact_out: bool) -> tuple[int, bytes]:
    if len(steps) == 1:
        only = steps[0]
        values: tuple[object, ...] = (only.key.as_tuple, only.forward, amount, limit, b"")
        code = _OUT_SINGLE if is_exact_out else _IN_SINGLE
        return code, encode([f"({KEY_TYPE},bool,uint128,uint128,bytes)"], [values])
    exact = steps[-1].currency_out if is_exact_out else steps[0].currency_in
    # No limit for single hops: the limit of the whole bounds them all.
    values = (exact, path_keys(steps, is_exact_out=is_exact_out), [], amount, limit)
    code = _OUT if is_exact_out else _IN
    return code, encode([f"(address,{_PATH},uint256[],uint128,uint128)"], [values])


def path_keys(steps: Sequence[Step], *, is_exact_out: bool) -> tuple[tuple[str, int, int, str, bytes], ...]:
    """A path as V4 takes it: of each pool the currency on the side that is not told yet."""
    return tuple(
        (
            step.currency_in if is_exact_out else step.currency_out,
            step.key.fee,
            step.key.spacing,
            step.key.hooks,
            b"",
        )
        for step in steps
    )
