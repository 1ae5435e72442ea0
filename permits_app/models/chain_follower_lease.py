"""ChainWatch: who follows a chain for all permits, and how the chain was when it was last looked at."""

from __future__ import annotations

from django.db import models

from tools_app.core.models import TimeStamped


class ChainWatch(TimeStamped):
    """One row per chain. Its lease elects the follower: a dead one's runs out and another process takes over."""

    chain_id = models.PositiveBigIntegerField(primary_key=True)
    owner = models.CharField(max_length=64, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    looked_at = models.DateTimeField(null=True, blank=True, help_text="When the follower last looked, seen or not")
    head = models.PositiveBigIntegerField(null=True, blank=True, help_text="The newest block it saw")
    failing_since = models.DateTimeField(
        null=True, blank=True, help_text="Since when the node has answered none of the follower's questions"
    )
    error_code = models.CharField(max_length=64, blank=True)

    class Meta:
        verbose_name = "chain watch"
        verbose_name_plural = "chain watches"

    def __str__(self) -> str:
        return f"chain {self.chain_id}"
