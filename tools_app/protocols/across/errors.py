"""Defines why a transfer to another chain is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class BridgeNotServed(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="That bridge is not served here"):
    """No transfers over this bridge are served. `data.bridges` names those that are."""


class TokenNotBridged(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="That token is not sent over this bridge"
):
    """The token has no twin on the other chain, or arrives there as something else. `data.tokens` are served."""


class BridgeFeeUnknown(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="Nobody tells what this transfer costs"
):
    """Too few transfers of late tell what relayers ask. `data.transfers_seen` were seen in `data.seconds`."""


class BridgePaused(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="The bridge is paused",
    cleared_by="the bridge's owner lets it go on",
):
    """The bridge takes nothing in on one chain, or pays nothing out on the other. `data.chain_id` is that chain."""


class TransferNotFound(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="No such transfer"):
    """No transfer of this number left the chain within the days that are looked through."""
