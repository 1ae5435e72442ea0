"""Nonces: one cursor per account and chain, one reservation per nonce."""

from __future__ import annotations

from django.db import models

from tools_app.core.models import TimeStamped


class NonceCursor(TimeStamped):
    """The next nonce to give out; its row lock puts reservations in one order."""

    chain_id = models.PositiveBigIntegerField()
    address = models.CharField(max_length=42)
    next_nonce = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = "nonce cursor"
        constraints = [models.UniqueConstraint(fields=["chain_id", "address"], name="nonce_cursor_once")]

    def __str__(self) -> str:
        return f"{self.address} on {self.chain_id} at {self.next_nonce}"


class NonceState(models.TextChoices):
    RESERVED = "RESERVED", "Reserved"
    SIGNED = "SIGNED", "Signed"
    ABANDONED = "ABANDONED", "Abandoned, free to give out again"
    FILLED = "FILLED", "Used up by a zero transfer to itself"


class NonceReservation(TimeStamped):
    """One nonce of one account, held by one call of one permit. Without stored bytes it was never sent."""

    chain_id = models.PositiveBigIntegerField()
    address = models.CharField(max_length=42)
    nonce = models.PositiveBigIntegerField()
    permit = models.ForeignKey(
        "permits_app.ActionPermit", null=True, blank=True, on_delete=models.PROTECT, related_name="nonce_reservations"
    )
    call_index = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=12, choices=NonceState.choices, default=NonceState.RESERVED)

    class Meta:
        verbose_name = "nonce reservation"
        indexes = [
            # Few at a time; those with bytes are as many as there ever were calls.
            models.Index(
                fields=["chain_id", "state"],
                name="nonce_without_bytes",
                condition=models.Q(state__in=["RESERVED", "ABANDONED"]),
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "address", "nonce"], name="nonce_reserved_once"),
            models.UniqueConstraint(
                fields=["permit", "call_index"], condition=models.Q(permit__isnull=False), name="nonce_one_per_call"
            ),
        ]

    def __str__(self) -> str:
        return f"nonce {self.nonce} of {self.address} ({self.state.lower()})"
