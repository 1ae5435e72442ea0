"""Encodes what a Safe does within a flash loan: announced steps, run from the lender's callback.

`LoanCallback` of `contracts/src` is fallback handler and module of a Safe. The Safe announces a lender and the steps,
the lender hands the loan and the steps over, and the contract makes them calls of the Safe. So what happens within the
loan stands in the bytes of the plan, word for word, and is judged as if it stood there plainly.

A Safe hands strangers' calls on to its handler as its own and appends who made them. So its own announcement ends with
its own address, by which the contract tells it from theirs.
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
CODE_HASH: Final = "0xd415ddd702cd73a8aa8ed85a7a39035fbd6c67b266255f3dc8ea3c1b5e191598"
"""Keccak-256 of the one code that is trusted with a Safe; it has no settings, so it is the same on every chain."""
OPEN_CODE_HASHES: Final = frozenset({"0xcdff6e3eee63787d12fa9af47aef86a81d55c91776519c19c955ae8cdbecd9b4"})
"""Of what `LoanCallback` was before it asked who calls the Safe: as handler and module it lets anybody empty one."""
_STEPS: Final = "function steps((address to, uint256 value, bytes data)[] steps)"
_IS_MODULE: Final = "function isModuleEnabled(address module) view returns (bool)"
_ADDRESS: Final = (1 << 160) - 1
_SENDER_BYTES: Final = 20
"""What a Safe appends to a call that it hands on, and what its own announcement ends with: who made the call."""


def has_open_code(code: bytes) -> bool:
    """Whether a Safe that uses a contract of this code hands itself to whoever calls it."""
    return hash_code(code) in OPEN_CODE_HASHES


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
    steps: Sequence[Call], *, handler: str, account: str, lender: str, ask: Callable[[bytes], Call], label: str
) -> tuple[Call, Call]:
    """The two calls of `account` that run `steps` within a loan; `ask` makes the lender's call out of the data it hands
    on.
    """
    data = encode_call(_STEPS, [(step.to, step.value, step.data) for step in steps])[4:]
    announced = encode_call(ANNOUNCE, lender, data) + bytes.fromhex(account[2:])
    return Call(handler, announced, 0, label), ask(data)


def is_announced(data: bytes, *, lender: str, earlier: Sequence[Call]) -> bool:
    """Whether a call before announced to `lender` exactly the steps that it is to hand on."""
    return any(
        is_call(call.data, ANNOUNCE) and _read_announcement(call)[1:] == (lender, data)
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
        _, lender, data = _read_announcement(call)
        following = calls[index + 1] if index + 1 < len(calls) else None
        if following is None or following.to != lender or data not in following.data:
            raise UnknownCall("steps are announced, and the next call does not ask that lender to hand them back")
        steps = _read_steps(data)
        if any(is_call(step.data, ANNOUNCE) for step in steps):
            raise UnknownCall("steps within a loan announce steps of their own")
        found += steps
    return tuple(found)


def read_steps(call: Call) -> tuple[str, tuple[Call, ...]] | None:
    """To which lender a call announces which steps; None for any other call, and for steps that cannot be read."""
    try:
        if not is_call(call.data, ANNOUNCE):
            return None
        _, lender, data = _read_announcement(call)
        return lender, _read_steps(data)
    except UnknownCall:
        return None


def list_contracts(plan: TxPlan) -> tuple[str, ...]:
    """Every address the plan calls, those within a loan too, in order, once. Raises UnknownCall."""
    return tuple(dict.fromkeys((*(call.to for call in unfold(plan.calls)), *plan.contracts)))


def check_announcement(call: Call, *, account: str, chain: ChainReader) -> None:
    """Raises UnknownCall where the contract that would run the steps is not the account's own, or not this code, and
    where somebody else is named as who announces.
    """
    if _read_announcement(call)[0] != account:
        raise UnknownCall(f"the steps of a loan are announced as those of another account than {account}")
    if call.value or find_handler(chain, account) != call.to:
        raise UnknownCall(f"{call.to} is not what runs the steps of a loan for the account")


def _read_announcement(call: Call) -> tuple[str, str, bytes]:
    """Who announces, the lender, and what it is to hand on. Raises UnknownCall."""
    body, sender = call.data[:-_SENDER_BYTES], call.data[-_SENDER_BYTES:]
    lender, data = read_exactly(body, ANNOUNCE)
    return checksum("0x" + sender.hex()), str(lender), bytes(data)


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
