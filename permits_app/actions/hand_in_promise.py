"""hand_in_promise: hand a signed promise to the desk of its protocol, where those who fill it hear of it.

A desk is set by the operator; without one whoever asked for the signature hands it in. The same promise may be handed
in twice: it is named by its digest, and its nonce is used once. What a desk answers decides nothing but whether it is
asked again.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Final

from permits_app.limits.signed_promises import note_handed_in, read_typed
from permits_app.models import SignedPromise
from tools_app import runner
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed, post, resolve
from tools_app.toolkit.order_desks import OrderDesks
from tools_app.toolkit.protocol import SHELF

HAND_IN_SECONDS: Final = 4.0


def hand_in_promise(row: SignedPromise, *, now: datetime) -> None:
    """Post it once, where there is a desk for it. Nothing here ends a promise or raises for a desk that fails."""
    desks, protocol = runner.list_services().get(OrderDesks), SHELF.get(row.protocol)
    if not isinstance(desks, OrderDesks) or protocol is None or protocol.promises is None:
        return
    desk = desks.find(row.protocol, row.chain_id)
    told = protocol.promises.hand_in(read_typed(row), bytes.fromhex(row.signature[2:])) if desk is not None else None
    if desk is None or told is None:
        return
    error = ""
    try:
        target = resolve(desk.url, allows_private=desks.allows_private)
        answer = post(
            target,
            headers={"Content-Type": "application/json"},
            body=json.dumps(dict(told.body)).encode(),
            seconds=HAND_IN_SECONDS,
        )
        if not 200 <= answer.status < 300:
            error = f"its desk answered {answer.status}"
    except (AddressRefused, ExchangeFailed) as problem:
        error = f"its desk took nothing: {problem}"
    note_handed_in(row, error=error, now=now)
