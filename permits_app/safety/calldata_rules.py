"""Hook 1's part for a golem whose cage is a row on this server: which functions its plans may call.

Without leave of the owner only those that a protocol here declares for that contract, a token's own bookkeeping, the
wrapped coin, and steps within a loan. A contract's cage says the same by its own rules.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from permits_app.hook_rejection import Reject
from permits_app.policy_cage.call_rules import unwrap
from permits_app.policy_cage.preflight_types import Refused
from permits_app.safety.decode_token_calls import read_token_call
from permits_app.safety.hook import HookCall
from tools_app.chain.chains import get_deployment
from tools_app.chain.signatures import parse_signature
from tools_app.standards import loan_callback
from tools_app.standards.calldata import calls as is_call
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.protocol import SHELF

_WRAPPING: Final = ("function deposit()", "function withdraw(uint256)")


def judge_calldata(call: HookCall) -> Reject | None:
    """The first call whose function nobody here declares; None where there is none, or the owner allows such calls.

    Raises what the chain raises.
    """
    if call.plan is None or call.cage.allows_arbitrary_calldata or getattr(call.cage, "mirror", None) is not None:
        return None
    for made in loan_callback.unfold(call.plan.calls):
        if not _is_declared(made, call):
            return Reject(
                rule="policy_cage.arbitrary_calldata",
                reason=f"the plan calls 0x{made.data[:4].hex()} of {made.to}, which no protocol here declares",
                observed=f"0x{made.data[:4].hex()} of {made.to}",
                limit="functions that a protocol declares for its own contract",
                would_pass="an action that calls known functions only, or once the owner allows arbitrary call data",
                data={"contract": made.to, "selector": f"0x{made.data[:4].hex()}"},
            )
    return None


def _is_declared(made: Call, call: HookCall) -> bool:
    if read_token_call(made) is not None:
        return True
    chain = call.chain
    if chain is None or call.plan is None:
        return False
    if is_call(made.data, loan_callback.ANNOUNCE):
        return _is_own_announcement(made, call.view.address or "", chain)
    return _is_wrapping(made, chain) or _are_known(made, call.plan.chain_id)


def _is_own_announcement(made: Call, account: str, chain: ChainReader) -> bool:
    try:
        loan_callback.check_announcement(made, account=account, chain=chain)
    except UnknownCall:
        return False
    return True


def _is_wrapping(made: Call, chain: ChainReader) -> bool:
    return made.to == get_deployment(chain.chain_id).wrapped_native and any(
        is_call(made.data, signature) for signature in _WRAPPING
    )


def _are_known(made: Call, chain_id: int) -> bool:
    """Whether the function and, where it bundles others, each of those is declared for the contract."""
    known = _list_declared(chain_id, SHELF.version)
    try:
        inner = unwrap(made.data[:4], made.data)
    except Refused:
        return False
    return all((made.to, each[:4]) in known for each in (made.data, *inner))


@lru_cache(maxsize=64)
def _list_declared(chain_id: int, version: int) -> frozenset[tuple[str, bytes]]:
    """(contract, selector) of all that protocols of the chain declare; `version` is the shelf's."""
    found: set[tuple[str, bytes]] = set()
    for protocol in SHELF.on(chain_id):
        texts = [(each.key, text) for each in protocol.contracts for text in (*each.functions, *each.besides)]
        texts += [(each.key, each.signature) for each in (*protocol.leaving, *protocol.selling)]
        for key, text in texts:
            address = protocol.address(chain_id, key)
            if address is not None:
                found.add((address, parse_signature(f"function {text.removeprefix('function ')}").selector))
    return frozenset(found)
