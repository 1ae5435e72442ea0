"""PositionSearch: how far the logs of a chain were searched for positions an account had before it came to us."""

from __future__ import annotations

from django.db import models


class PositionSearch(models.Model):
    """One per chain and account. Blocks from `lowest` to `highest` were searched, in `looks` ranges; nothing before the
    first look, when both are null. `ended` is why no older ones are, empty while they still will be.
    """

    chain_id = models.PositiveBigIntegerField()
    account = models.CharField(max_length=42)
    lowest = models.PositiveBigIntegerField(null=True)
    highest = models.PositiveBigIntegerField(null=True)
    looks = models.PositiveIntegerField(default=0)
    found = models.PositiveIntegerField(default=0)
    ended = models.CharField(max_length=40, blank=True)
    next_look_at = models.DateTimeField()

    class Meta:
        verbose_name = "search for positions"
        verbose_name_plural = "searches for positions"
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "account"], name="position_search_once"),
            models.CheckConstraint(
                condition=models.Q(lowest__isnull=True, highest__isnull=True)
                | models.Q(lowest__lte=models.F("highest")),
                name="position_search_in_order",
            ),
        ]
        indexes = [models.Index(fields=["next_look_at"], name="position_search_due")]

    def __str__(self) -> str:
        return f"{self.account} on {self.chain_id}"
