"""FormerAccount: an account a golem acted with before, and what it held when the golem left it."""

from __future__ import annotations

from django.db import models


class FormerAccount(models.Model):
    """One per account that was left. Nobody moves its money but who holds its keys; pages say what lies there."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="former_accounts")
    chain_id = models.PositiveBigIntegerField()
    address = models.CharField(max_length=42)
    kind = models.CharField(max_length=20)
    held_micro_usd = models.BigIntegerField(null=True, help_text="Worth when it was left; empty: it was not measured")
    left_at = models.DateTimeField()

    class Meta:
        verbose_name = "former account"
        constraints = [
            models.UniqueConstraint(fields=["golem", "chain_id", "address"], name="former_account_once"),
        ]

    def __str__(self) -> str:
        return f"{self.address}, left by {self.golem}"
