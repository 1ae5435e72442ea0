"""What a halted golem may still sign: allowances set to zero, and its own positions taken back to its own account.

Judged from the bytes of the permit, not from what made it. Seed: decisions, "Halt".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archetypes_app.models import Golem
from permits_app.models import ActionPermit
from permits_app.signing_route import carries_its_batch
from tools_app.chain.abi import AbiDecodeError, decode_input
from tools_app.chain.networks import ChainNotSupported
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.v3.plans import COLLECT, DECREASE, MULTICALL

_APPROVE_SELECTOR = "0x095ea7b3"


def is_halts_own(permit: ActionPermit, golem: Golem) -> bool:
    """Whether the halt itself sends this: made under the present halt, and every call one of the two kinds."""
    if permit.halt_epoch is None or permit.halt_epoch != golem.halt_epoch or not permit.calls:
        return False
    return carries_its_batch(permit) and all(
        call["value"] == "0" and (_is_revocation(call) or _is_withdrawal(call, permit.chain_id, permit.account))
        for call in permit.plan_calls
    )


def _is_revocation(call: Mapping[str, Any]) -> bool:
    data = str(call["data"])
    return data.startswith(_APPROVE_SELECTOR) and len(data) == 2 + 2 * 68 and int(data[-64:], 16) == 0


def _is_withdrawal(call: Mapping[str, Any], chain_id: int, account: str) -> bool:
    """A call to the position manager that takes liquidity out or collects, everything to `account`."""
    try:
        manager = deployment_on(chain_id).v3_position_manager
    except ChainNotSupported:
        return False
    data = bytes.fromhex(str(call["data"]).removeprefix("0x"))
    together = _read(MULTICALL, data)
    parts = [bytes(part) for part in together[0]] if together is not None else [data]
    return bool(call["to"] == manager and parts) and all(_takes_back(part, account) for part in parts)


def _takes_back(data: bytes, account: str) -> bool:
    if _read(DECREASE, data) is not None:
        return True
    collected = _read(COLLECT, data)
    return collected is not None and str(collected[0][1]).lower() == account.lower()


def _read(signature: str, data: bytes) -> tuple[Any, ...] | None:
    try:
        return decode_input(signature, data)
    except AbiDecodeError:
        return None
