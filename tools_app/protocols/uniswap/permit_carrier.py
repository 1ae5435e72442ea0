"""Puts a signed permit of Permit2 before the other commands of a call of the Universal Router."""

from __future__ import annotations

from dataclasses import replace

from eth_abi.abi import encode

from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.router_permits import EXECUTE, MAY_FAIL, SINGLE, SINGLE_TYPES, RouterPermits, is_permit
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.inner_permits import InnerPermit
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

    def put(self, call: Call, permit: InnerPermit) -> Call:
        """The permit first. It may fail: who saw it on its way and handed it in before stops nothing."""
        commands, inputs, deadline = read_exactly(call.data, EXECUTE)
        (given,) = permit.gives
        details = (given.token, given.amount, given.until, given.nonce)
        signed = encode(list(SINGLE_TYPES), [(details, permit.spender, permit.ends_at), permit.signature])
        data = encode_call(EXECUTE, bytes([MAY_FAIL | SINGLE, *commands]), [signed, *inputs], deadline)
        return replace(call, data=data, label=f"{call.label}, paid by a permit that the account signed")
