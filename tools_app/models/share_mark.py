"""ShareMark: what an account's shares were last believed to stand for, so that no gift to their contract counts."""

from __future__ import annotations

from django.db import models


class ShareMark(models.Model):
    """One per account and token of a chain. `raw` is the index and `held` the shares it was believed of, as decimals;
    `at` is the second of the block they were read in.
    """

    chain_id = models.PositiveBigIntegerField()
    account = models.CharField(max_length=42)
    token = models.CharField(max_length=42)
    raw = models.CharField(max_length=78)
    held = models.CharField(max_length=78)
    at = models.PositiveBigIntegerField()

    class Meta:
        verbose_name = "share mark"
        constraints = [
            models.UniqueConstraint(fields=["account", "chain_id", "token"], name="share_mark_once"),
            models.CheckConstraint(
                condition=models.Q(raw__regex="^[1-9][0-9]*$", held__regex="^[1-9][0-9]*$"),
                name="share_mark_above_zero",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.token} on {self.chain_id}"
