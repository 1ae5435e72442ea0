"""OutboundTransaction: signed bytes, stored before they are sent, and what became of them."""

from __future__ import annotations

from typing import Any

from django.db import models

from tools_app.core.models import TimeStamped


class TransactionState(models.TextChoices):
    SIGNED = "SIGNED", "Signed, not seen sent"
    BROADCAST = "BROADCAST", "Broadcast"
    MINED = "MINED", "Mined"
    REVERTED = "REVERTED", "Mined, reverted"
    DROPPED = "DROPPED", "Dropped: its nonce was used by another transaction"


class OutboundTransaction(TimeStamped):
    """One signed payload per nonce and one nonce per call. Read-only everywhere but in `permits_app.execution`."""

    permit: Any = models.ForeignKey("permits_app.ActionPermit", on_delete=models.PROTECT, related_name="transactions")
    call_index = models.PositiveIntegerField()
    chain_id = models.PositiveBigIntegerField()
    sender = models.CharField(max_length=42)
    nonce = models.PositiveBigIntegerField()
    to = models.CharField(max_length=42)
    value_wei = models.CharField(max_length=78)
    gas_limit = models.PositiveBigIntegerField(help_text="Gas units")
    max_fee_per_gas = models.CharField(max_length=78, help_text="Wei per gas")
    max_priority_fee_per_gas = models.CharField(max_length=78, help_text="Wei per gas")
    raw = models.TextField(help_text="Signed bytes, 0x-hex")
    tx_hash = models.CharField(max_length=66, unique=True)
    state = models.CharField(max_length=12, choices=TransactionState.choices, default=TransactionState.SIGNED)
    broadcast_at = models.DateTimeField(null=True, blank=True)
    broadcast_count = models.PositiveIntegerField(default=0)
    receipt = models.JSONField(default=dict)
    block_number = models.PositiveBigIntegerField(null=True, blank=True)
    gas_used = models.PositiveBigIntegerField(null=True, blank=True, help_text="Gas units")
    fee_wei = models.CharField(max_length=78, blank=True)

    class Meta:
        verbose_name = "outbound transaction"
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "sender", "nonce"], name="outbound_one_payload_per_nonce"),
            models.UniqueConstraint(fields=["permit", "call_index"], name="outbound_one_payload_per_call"),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash[:12]}… nonce {self.nonce}"
