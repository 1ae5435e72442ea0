"""Names a sent payload on a page: a transaction by its hash, a user operation by its own and its carrier's."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

from permits_app.models import OutboundTransaction
from tools_app.pages.html import show_hex, show_transaction


def show_payload(row: OutboundTransaction) -> SafeString:
    """The hash, linked to the chain's explorer; explorers know an operation by the transaction that carried it."""
    if not row.entry_point:
        return show_transaction(row.tx_hash, row.chain_id)
    own, carrier = show_hex(row.tx_hash), str(row.receipt.get("tx_hash", ""))
    if not carrier:
        return format_html("user operation {}", own)
    return format_html("user operation {} in {}", own, show_transaction(carrier, row.chain_id))
