"""Defines why a transfer to another chain is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class BridgeNotServed(GolemError):
    """No transfers over this bridge are served. `data.bridges` names those that are."""

    code = "BRIDGE_NOT_SERVED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "That bridge is not served here"


class TokenNotBridged(GolemError):
    """The token has no twin on the other chain, or arrives there as something else. `data.tokens` are served."""

    code = "TOKEN_NOT_BRIDGED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "That token is not sent over this bridge"


class BridgeFeeUnknown(GolemError):
    """Too few transfers of late tell what relayers ask. `data.transfers_seen` were seen in `data.seconds`."""

    code = "BRIDGE_FEE_UNKNOWN"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "Nobody tells what this transfer costs"


class BridgePaused(GolemError):
    """The bridge takes nothing in on one chain, or pays nothing out on the other. `data.chain_id` is that chain."""

    code = "BRIDGE_PAUSED"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the bridge's owner lets it go on"
    title = "The bridge is paused"


class TransferNotFound(GolemError):
    """No transfer of this number left the chain within the days that are looked through."""

    code = "TRANSFER_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "No such transfer"
