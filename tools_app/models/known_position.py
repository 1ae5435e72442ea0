"""KnownPosition: a position an account has or had, so that what no contract can list is found again."""

from __future__ import annotations

from django.db import models


class KnownPosition(models.Model):
    """One per account and position. `ref` is the position's name; `gone_at` is when a look no longer found it.

    `is_own`: an action of the golem opened or changed it. Whoever likes may open the others.
    """

    chain_id = models.PositiveBigIntegerField()
    account = models.CharField(max_length=42)
    ref = models.CharField(max_length=200)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    gone_at = models.DateTimeField(null=True, blank=True)
    is_own = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name = "known position"
        constraints = [
            models.UniqueConstraint(fields=["account", "ref"], name="known_position_once"),
            models.CheckConstraint(
                condition=models.Q(last_seen__gte=models.F("first_seen")), name="known_position_seen_in_order"
            ),
        ]
        indexes = [models.Index(fields=["account", "chain_id"], name="known_position_of_account")]

    def __str__(self) -> str:
        return self.ref
