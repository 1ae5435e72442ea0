"""Puts a signed permit of Permit2 first in a call of the Universal Router or of V4's position manager."""

from __future__ import annotations

from dataclasses import replace

from eth_abi.abi import encode

from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.router_permits import (
    BATCH,
    BATCH_TYPES,
    EXECUTE,
    MAY_FAIL,
    SINGLE,
    SINGLE_TYPES,
    RouterPermits,
    is_permit,
)
from tools_app.protocols.uniswap.v4.liquidity_plans import MODIFY
from tools_app.protocols.uniswap.v4.position_permits import BATCH as BATCH_CALL
from tools_app.protocols.uniswap.v4.position_permits import MULTICALL, ManagerPermits
from tools_app.protocols.uniswap.v4.position_permits import SINGLE as SINGLE_CALL
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.permit2_in_call import InnerPermit
from tools_app.toolkit.plan import Call


class RouterCarrier(RouterPermits):
    """Reads permits among the router's commands, and puts one there."""

    def can_carry(self, call: Call) -> bool:
        """Whether it runs commands until a deadline and hands in no permit."""
        if not calls(call.data, EXECUTE):
            return False
        try:
            commands, _, _ = read_exactly(call.data, EXECUTE)
        except UnknownCall:
            return False
        return bool(commands) and not any(map(is_permit, commands))

    def put(self, call: Call, permit: InnerPermit, *, account: str) -> Call:
        """The permit first. It may fail: who saw it on its way and handed it in before stops nothing."""
        commands, inputs, deadline = read_exactly(call.data, EXECUTE)
        types, command = (BATCH_TYPES, BATCH) if permit.is_batch else (SINGLE_TYPES, SINGLE)
        signed = encode(list(types), [_word(permit), permit.signature])
        data = encode_call(EXECUTE, bytes([MAY_FAIL | command, *commands]), [signed, *inputs], deadline)
        return replace(call, data=data, label=_label(call))


class ManagerCarrier(ManagerPermits):
    """Reads permits in bundles of V4's position manager, and bundles one with a change of a position."""

    def can_carry(self, call: Call) -> bool:
        """Whether it changes positions and is no bundle yet."""
        return calls(call.data, MODIFY)

    def put(self, call: Call, permit: InnerPermit, *, account: str) -> Call:
        """The permit first. The manager goes on where it fails: who handed it in before stops nothing."""
        signed = encode_call(BATCH_CALL if permit.is_batch else SINGLE_CALL, account, _word(permit), permit.signature)
        return replace(call, data=encode_call(MULTICALL, [signed, call.data]), label=_label(call))


def _word(permit: InnerPermit) -> AbiValues:
    details = [(each.token, each.amount, each.until, each.nonce) for each in permit.gives]
    return (details if permit.is_batch else details[0], permit.spender, permit.ends_at)


def _label(call: Call) -> str:
    return f"{call.label}, paid by a permit that the account signed"
