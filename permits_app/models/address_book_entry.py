"""KnownAddress: an address an owner gave a name, for the pages of their golems."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped
from tools_app.core.visible_text_columns import PlainCharField


class KnownAddress(TimeStamped):
    """One name of one owner. It allows nothing and is read by people alone; the address is stored in EIP-55 form."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="address_book")
    chain_id = models.PositiveBigIntegerField(
        "chain", null=True, blank=True, help_text="Empty: the same account on every chain"
    )
    address = models.CharField(max_length=42, validators=[ADDRESS])
    name = PlainCharField(max_length=48, help_text="How pages call it")
    note = PlainCharField(max_length=300, blank=True, help_text="Who it is, and how you know")

    class Meta:
        verbose_name = "named address"
        verbose_name_plural = "address book"
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "chain_id", "address"], nulls_distinct=False, name="known_address_once"
            ),
            models.UniqueConstraint(
                "owner", "chain_id", Lower("name"), nulls_distinct=False, name="known_address_one_per_name"
            ),
        ]

    def __str__(self) -> str:
        return self.name
