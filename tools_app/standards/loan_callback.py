"""What a Safe does with a loan within one transaction: announced steps, run out of the lender's callback.

`LoanCallback` of `contracts/src` is fallback handler and module of a Safe. The Safe announces a lender and the steps,
the lender hands the loan and the steps over, and the contract makes them calls of the Safe. So what happens within the
loan stands in the bytes of the plan, word for word, and is judged as if it stood there plainly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tools_app.chain.abi import AbiDecodeError, checksum, decode_input, encode_call
from tools_app.chain.running_code import hash_code
from tools_app.standards.calldata import calls as is_call
from tools_app.standards.calldata import read_exactly
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.plan import Call, TxPlan

ANNOUNCE: Final = "function announce(address lender, bytes steps)"
HANDLER_SLOT: Final = 0x6C9A6C4A39284E37ED1CF53D337577D14212A4870FB976A4366C693B939918D5
"""Where a Safe keeps its fallback handler: the hash of "fallback_manager.handler.address"."""
CODE_HASH: Final = "0xcdff6e3eee63787d12fa9af47aef86a81d55c91776519c19c955ae8cdbecd9b4"
"""Keccak-256 of the one code that is trusted with a Safe; it has no settings, so it is the same on every chain."""
_STEPS: Final = "function steps((address to, uint256 value, bytes data)[] steps)"
_IS_MODULE: Final = "function isModuleEnabled(address module) view returns (bool)"
_ADDRESS: Final = (1 << 160) - 1


def find_handler(chain: ChainReader, account: str) -> str | None:
    """The contract that runs steps for `account`, which has to be its fallback handler and its module; None for none.

    Raises what the chain raises.
    """
    if not chain.code(account):
        return None
    word = chain.slot(account, HANDLER_SLOT) & _ADDRESS
    handler = checksum(f"0x{word:040x}")
    if not word or hash_code(chain.code(handler)) != CODE_HASH:
        return None
    (answer,) = chain.call_many([ReadCall(account, _IS_MODULE, (handler,))])
    return handler if answer.ok and answer.values[0] else None


def run_within(
    steps: Sequence[Call], *, handler: str, lender: str, ask: Callable[[bytes], Call], label: str
) -> tuple[Call, Call]:
    """The two calls that run `steps` within a loan; `ask` makes the lender's call out of the data it hands on."""
    data = encode_call(_STEPS, [(step.to, step.value, step.data) for step in steps])[4:]
    return Call(handler, encode_call(ANNOUNCE, lender, data), 0, label), ask(data)


def is_announced(data: bytes, *, lender: str, earlier: Sequence[Call]) -> bool:
    """Whether a call before announced to `lender` exactly the steps that it is to hand on."""
    return any(
        is_call(call.data, ANNOUNCE) and _read_announcement(call) == (lender, data)
        for call in earlier
        if len(call.data) > 4
    )


def unfold(calls: Sequence[Call]) -> tuple[Call, ...]:
    """The calls in the order they are made in, those within a loan between their announcement and the lender's call.

    Raises UnknownCall for steps that cannot be read, that announce steps of their own, or that the next call does not
    hand to the lender they are announced to: an announcement must not be left standing.
    """
    found: list[Call] = []
    for index, call in enumerate(calls):
        found.append(call)
        if not is_call(call.data, ANNOUNCE):
            continue
        lender, data = _read_announcement(call)
        following = calls[index + 1] if index + 1 < len(calls) else None
        if following is None or following.to != lender or data not in following.data:
            raise UnknownCall("steps are announced, and the next call does not ask that lender to hand them back")
        steps = _read_steps(data)
        if any(is_call(step.data, ANNOUNCE) for step in steps):
            raise UnknownCall("steps within a loan announce steps of their own")
        found += steps
    return tuple(found)


def list_contracts(plan: TxPlan) -> tuple[str, ...]:
    """Every address the plan calls, those within a loan too, in order, once. Raises UnknownCall."""
    return tuple(dict.fromkeys((*(call.to for call in unfold(plan.calls)), *plan.contracts)))


def check_announcement(call: Call, *, account: str, chain: ChainReader) -> None:
    """Raises UnknownCall where the contract that would run the steps is not the account's own, or not this code."""
    if call.value or find_handler(chain, account) != call.to:
        raise UnknownCall(f"{call.to} is not what runs the steps of a loan for the account")


def _read_announcement(call: Call) -> tuple[str, bytes]:
    lender, data = read_exactly(call.data, ANNOUNCE)
    return str(lender), bytes(data)


def _read_steps(data: bytes) -> tuple[Call, ...]:
    whole = encode_call(_STEPS, [])[:4] + data
    try:
        (steps,) = decode_input(_STEPS, whole)
    except AbiDecodeError as error:
        raise UnknownCall("the steps within a loan are not whole") from error
    if encode_call(_STEPS, [tuple(step) for step in steps]) != whole:
        raise UnknownCall("the steps within a loan have bytes that say nothing")
    return tuple(
        Call(checksum(to), bytes(inner), int(value), f"step {number} within the loan")
        for number, (to, value, inner) in enumerate(steps, 1)
    )
