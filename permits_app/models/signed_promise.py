"""SignedPromise: what a golem signed for others to carry out, counted from its signature to its end."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from tools_app.core.models import TimeStamped


class PromiseState(models.TextChoices):
    OPEN = "OPEN", "Open: may be filled any moment"
    FILLED = "FILLED", "Filled"
    CANCELLED = "CANCELLED", "Cancelled"
    EXPIRED = "EXPIRED", "Expired"


class SignedPromise(TimeStamped):
    """One signature over typed data. Its state changes only through `permits_app.limits.signed_promises`.

    What it gives stays reserved by its permit's spend entry, and counts as under way, while it is OPEN. An end that a
    look saw (`seen_state`) holds once a later look sees it too. `next_check_at` is the follower's lease as well.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="signed_promises")
    permit = models.OneToOneField(
        "permits_app.ActionPermit", on_delete=models.PROTECT, related_name="signed_promise", help_text="Which signed it"
    )
    chain_id = models.PositiveBigIntegerField()
    account = models.CharField(max_length=42)
    protocol = models.CharField(max_length=64)
    contract = models.CharField(max_length=42)
    digest = models.CharField(max_length=66, help_text="EIP-712")
    reference = models.CharField(max_length=66, blank=True, help_text="What its protocol and its desk know it by")
    typed_data = models.JSONField()
    signature = models.TextField(help_text="0x-hex; whoever has it can carry the promise out")
    gives = models.JSONField(default=list, help_text="Token addresses and base units that may go")
    gets = models.JSONField(default=list, help_text="Token addresses and least base units that come for it")
    payment_host = models.ForeignKey(
        "permits_app.PaymentHost", null=True, blank=True, on_delete=models.SET_NULL, related_name="promises"
    )
    ends_at = models.DateTimeField(help_text="Its deadline; its contract takes it no longer")
    state = models.CharField(max_length=9, choices=PromiseState.choices, default=PromiseState.OPEN)
    seen_state = models.CharField(max_length=9, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    next_check_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    seen_block = models.PositiveBigIntegerField(null=True, blank=True, help_text="The last block in which it was open")
    handed_in_at = models.DateTimeField(null=True, blank=True, help_text="When its desk took it")
    hand_in_error = models.CharField(max_length=255, blank=True, help_text="What its desk said when it was asked last")
    last_error = models.CharField(max_length=255, blank=True)

    class Meta:
        verbose_name = "signed promise"
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "account", "digest"], name="signed_promise_once"),
            # What a desk knows by one word is signed once: of two, one would count as carried out without being it.
            models.UniqueConstraint(
                fields=["chain_id", "account", "protocol", "reference"],
                condition=Q(state__in=("OPEN", "FILLED")) & ~Q(reference=""),
                name="signed_promise_reference_once",
            ),
            models.CheckConstraint(condition=Q(state__in=PromiseState.values), name="signed_promise_known_state"),
            models.CheckConstraint(
                condition=Q(state="OPEN", ended_at__isnull=True) | ~Q(state="OPEN") & Q(ended_at__isnull=False),
                name="signed_promise_ended_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["next_check_at"], condition=Q(state="OPEN"), name="signed_promise_due"),
            models.Index(fields=["golem"], condition=Q(state="OPEN"), name="signed_promise_open"),
            models.Index(fields=["golem", "ended_at"], condition=Q(state="FILLED"), name="signed_promise_filled"),
            models.Index(fields=["golem", "reference"], name="signed_promise_by_reference"),
        ]

    def __str__(self) -> str:
        return f"promise at {self.protocol} until {self.ends_at:%Y-%m-%d %H:%M} ({self.state.lower()})"
