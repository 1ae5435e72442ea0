"""Stores addresses to which owners may send a golem's money, and the permit that carried a withdrawal out."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import models
from django.db.models import Q, QuerySet

from archetypes_app.models.golem import ADDRESS
from tools_app.core.visible_text_columns import PlainCharField

WITHDRAW: Final = "withdraw"
"""What a withdrawal's request, and its permit's action and tool, are called. No agent has a tool of this name."""
REGISTER: Final = "withdrawal_address"
"""What the request is called that registers an address or takes one off."""


class WithdrawalAddress(models.Model):
    """One address on one chain that a golem's owners agreed on. It is taken out by a time, and never changed."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="withdrawal_addresses")
    chain_id = models.PositiveBigIntegerField("chain")
    address = models.CharField(max_length=42, validators=[ADDRESS])
    label = PlainCharField(max_length=48, help_text="How pages call it")
    registered_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "withdrawal address"
        verbose_name_plural = "withdrawal addresses"
        constraints = [
            models.UniqueConstraint(
                fields=["golem", "chain_id", "address"],
                condition=Q(removed_at__isnull=True),
                name="withdrawal_address_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.label} {self.address}"


class Withdrawal(models.Model):
    """The one permit that an approved withdrawal may have: two workers at once, or one after a crash, send it once."""

    request = models.OneToOneField(
        "permits_app.ChangeRequest", primary_key=True, on_delete=models.PROTECT, related_name="withdrawal"
    )
    permit = models.OneToOneField("permits_app.ActionPermit", on_delete=models.PROTECT, related_name="withdrawal")
    begun_at = models.DateTimeField()

    class Meta:
        verbose_name = "withdrawal"

    def __str__(self) -> str:
        return f"withdrawal {self.request_id}"


def list_standing(golem_id: UUID) -> QuerySet[WithdrawalAddress]:
    """The addresses that are registered now."""
    return WithdrawalAddress.objects.filter(golem=golem_id, removed_at__isnull=True)


def find_standing(golem_id: UUID, *, chain_id: int, address: str) -> WithdrawalAddress | None:
    """The registered address; None for one that never was, or is not any more."""
    return list_standing(golem_id).filter(chain_id=chain_id, address=address).first()
