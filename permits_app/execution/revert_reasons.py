"""Finds why a call reverted, in the words of the contract that refused it.

The same bytes are asked of a node on the state that their block left, where what made them fail has happened. What a
contract says is foreign text: it is told and remembered as such, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from permits_app.models import ActionPermit
from permits_app.permits.stored_calls import list_sent_calls
from tools_app.chain.abi import clean_text
from tools_app.chain.chains import get_pool
from tools_app.chain.node_errors import CallReverted
from tools_app.chain.rpc import RpcRequest
from tools_app.core.clock import Deadline
from tools_app.toolkit.views import ReceiptView

_BUDGET_MS: Final = 2_000
_LONGEST: Final = 200


def read_revert_reason(*, permit: ActionPermit, receipts: Sequence[ReceiptView]) -> str:
    """The reason of the first call that reverted, empty where it cannot be told. Raises what a node raises.

    A user operation is carried by somebody else's transaction, which has no reason of its own.
    """
    failed = next((index for index, receipt in enumerate(receipts) if not receipt.succeeded), None)
    calls = list_sent_calls(permit)
    if failed is None or permit.sends_operation or len(receipts) != len(calls):
        return ""
    call, block = calls[failed], receipts[failed].block_number
    asked = {
        "from": permit.signer,
        "to": call.to,
        "data": call.data,
        "value": hex(call.value),
        "gas": hex(call.gas_limit),
    }
    request = RpcRequest("eth_call", (asked, hex(block)))
    (reply,) = get_pool(permit.chain_id).send([request], deadline=Deadline.after_ms(_BUDGET_MS))
    return clean_text(reply.error.detail, limit=_LONGEST) if isinstance(reply.error, CallReverted) else ""
