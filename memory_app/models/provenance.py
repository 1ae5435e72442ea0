"""Source, Trust and the columns that say where a row of memory comes from: tool, permit, block, who."""

from __future__ import annotations

from django.db import models


class Source(models.TextChoices):
    """Who wrote a memory."""

    RUNTIME = "RUNTIME", "Runtime: the outcome of a permit"
    AGENT = "AGENT", "The agent itself"
    OWNER = "OWNER", "The owner"
    IMPORT = "IMPORT", "Imported from another golem"


class Trust(models.TextChoices):
    """How far the content of a memory is believed."""

    VERIFIED = "VERIFIED", "Verified: read from a receipt or the chain"
    REPORTED = "REPORTED", "Reported by the agent or its owner"
    UNTRUSTED = "UNTRUSTED", "Untrusted: text from outside"


class Provenanced(models.Model):
    """Adds who wrote a row, how far it is believed, and the tool, permit and block it came through, where there are."""

    source = models.CharField(max_length=16, choices=Source.choices, default=Source.RUNTIME)
    trust = models.CharField(max_length=16, choices=Trust.choices, default=Trust.REPORTED)
    recorded_by = models.CharField(max_length=128, help_text="key:<prefix>, golem:<id>, owner:<id> or system:<part>")
    recorded_tool = models.CharField(max_length=96, blank=True, help_text="Empty: written by the runtime or a person")
    recorded_permit_id = models.UUIDField(null=True, blank=True, help_text="The permit it was written under")
    recorded_block = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        abstract = True
