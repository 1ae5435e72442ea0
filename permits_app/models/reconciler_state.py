"""ChainMark: what the reconciler last saw of one chain, and what stops it."""

from __future__ import annotations

from django.db import models

from tools_app.core.models import TimeStamped


class ChainMark(TimeStamped):
    """One row per chain. The marked block lay deep enough to be final when it was noted: the chain must keep it."""

    chain_id = models.PositiveBigIntegerField(unique=True)
    head_number = models.PositiveBigIntegerField(default=0)
    mark_number = models.PositiveBigIntegerField(default=0)
    mark_hash = models.CharField(max_length=66, blank=True)
    looked_at = models.DateTimeField(null=True, blank=True, help_text="When its head was last read")
    trouble = models.CharField(max_length=64, blank=True, help_text="The code of what keeps it from being read")
    trouble_since = models.DateTimeField(null=True, blank=True)
    rolled_back_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was last seen without a block that had been final"
    )

    class Meta:
        verbose_name = "watched chain"

    def __str__(self) -> str:
        return f"chain {self.chain_id} at {self.head_number}"
