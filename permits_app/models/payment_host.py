"""PaymentHost: a host that owners let a golem pay by x402, in one token and up to their caps."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import models
from django.db.models import Q, QuerySet

from archetypes_app.models.golem import ADDRESS
from tools_app.core.visible_text_columns import PlainCharField

HOST: Final = "payment_host"
"""What the request is called that lists a host, changes its caps or its payee, or takes it off."""


class PaymentHost(models.Model):
    """One host of the web on one chain. Whom it is paid at is what the host itself answered first; another address
    wants its owners' approval. Taken off by a time.
    """

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="payment_hosts")
    chain_id = models.PositiveBigIntegerField("chain")
    origin = PlainCharField(max_length=255, help_text="Such as https://api.example; every path of it")
    token = models.CharField(max_length=42, validators=[ADDRESS], help_text="What it is paid in, and nothing else")
    most_raw = models.DecimalField(max_digits=78, decimal_places=0, help_text="Base units of one payment at most")
    most_a_day_raw = models.DecimalField(
        max_digits=78, decimal_places=0, help_text="Base units of all payments that were signed in 24 hours at most"
    )
    payee = models.CharField(max_length=42, blank=True, validators=[ADDRESS], help_text="Empty until it was asked")
    payee_since = models.DateTimeField(null=True, blank=True)
    listed_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "payment host"
        constraints = [
            models.UniqueConstraint(
                fields=["golem", "chain_id", "origin"],
                condition=Q(removed_at__isnull=True),
                name="payment_host_once",
            ),
            models.CheckConstraint(
                condition=Q(most_raw__gt=0) & Q(most_a_day_raw__gte=models.F("most_raw")),
                name="payment_host_caps_in_order",
            ),
            models.CheckConstraint(
                condition=Q(payee="", payee_since__isnull=True) | ~Q(payee="") & Q(payee_since__isnull=False),
                name="payment_host_payee_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.origin} on chain {self.chain_id}"


def list_hosts(golem_id: UUID) -> QuerySet[PaymentHost]:
    """Those that are listed now."""
    return PaymentHost.objects.filter(golem=golem_id, removed_at__isnull=True)


def find_host(golem_id: UUID, *, chain_id: int, origin: str) -> PaymentHost | None:
    """The host, None for one that is not listed."""
    return list_hosts(golem_id).filter(chain_id=chain_id, origin=origin).first() if origin else None
