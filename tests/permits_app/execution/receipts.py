"""Receipts as a node answers them, with whatever logs a test wants in them."""

from __future__ import annotations

from tools_app.toolkit.views import LogEntry, ReceiptView


def make_receipt(*logs: LogEntry, succeeded: bool = True, block_number: int = 1) -> ReceiptView:
    return ReceiptView(
        tx_hash="0x" + "01" * 32,
        succeeded=succeeded,
        block_number=block_number,
        block_hash="0x" + "02" * 32,
        gas_used=21_000,
        effective_gas_price=1,
        l1_fee=0,
        logs=logs,
    )
