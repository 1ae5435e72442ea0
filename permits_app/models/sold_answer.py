"""SoldAnswer: an answer that somebody outside paid for, once, to the golem's account."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped


class SaleState(models.TextChoices):
    TAKEN = "TAKEN", "Being answered and carried out"
    SOLD = "SOLD", "Paid"


class SoldAnswer(TimeStamped):
    """One signed payment and what was asked with it. Written by `permits_app.actions.record_paid_read` alone.

    It is TAKEN while a server process works on it, until `lease_until`; what is not paid in the end leaves no row. The
    answer is kept for whoever asks again with the same payment.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="sold_answers")
    query = models.CharField(max_length=64)
    venue = models.CharField(max_length=64)
    asked_digest = models.CharField(max_length=66, help_text="Of query, venue and parameters")
    asker_digest = models.CharField(
        max_length=66,
        blank=True,
        default="",
        db_default="",
        help_text="Of what only its asker can say again: a word of theirs, or a proven wallet",
    )
    answer = models.JSONField(default=dict, help_text="Empty once nobody asks for it again")
    chain_id = models.PositiveBigIntegerField()
    token = models.CharField(max_length=42, validators=[ADDRESS])
    method = models.CharField(max_length=16, help_text="Whose signature moves the token")
    payer = models.CharField(max_length=42, validators=[ADDRESS])
    payee = models.CharField(max_length=42, validators=[ADDRESS], help_text="The golem's account")
    raw = models.DecimalField(max_digits=78, decimal_places=0, help_text="Base units of the token")
    units = models.CharField(max_length=64, help_text="The same in words, such as 0.05 USDC")
    nonce = models.CharField(max_length=66, help_text="0x-hex; of payer and method no other payment has it")
    since_block = models.PositiveBigIntegerField(help_text="The chain stood there when it was handed in")
    ends_at = models.DateTimeField(help_text="The payment can be carried out until then")
    state = models.CharField(max_length=5, choices=SaleState.choices, default=SaleState.TAKEN)
    lease_until = models.DateTimeField(null=True, blank=True)
    transaction = models.CharField(max_length=66, blank=True, help_text="What moved the money, whoever sent it")
    sold_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "sold answer"
        constraints = [
            models.UniqueConstraint(
                fields=["chain_id", "token", "method", "payer", "nonce"], name="sold_answer_once_per_payment"
            ),
            models.UniqueConstraint(
                fields=["chain_id", "transaction"],
                condition=~Q(transaction=""),
                name="sold_answer_once_per_transaction",
            ),
            models.CheckConstraint(condition=Q(raw__gt=0), name="sold_answer_for_something"),
            models.CheckConstraint(
                condition=Q(state="TAKEN", sold_at__isnull=True, lease_until__isnull=False)
                | Q(state="SOLD", sold_at__isnull=False, lease_until__isnull=True),
                name="sold_answer_taken_or_sold",
            ),
        ]
        indexes = [
            models.Index(fields=["golem", "-sold_at"], condition=Q(state="SOLD"), name="sold_answer_of_golem"),
            models.Index(fields=["lease_until"], condition=Q(state="TAKEN"), name="sold_answer_in_work"),
            models.Index(fields=["sold_at"], condition=Q(state="SOLD") & ~Q(answer={}), name="sold_answer_kept"),
        ]

    def __str__(self) -> str:
        return f"{self.query}@{self.venue} for {self.units}"
