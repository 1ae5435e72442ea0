"""RecordArchive, TickArchive: what ended permits were judged on and what old ticks saw, laid away together.
RecordKeeping: how long it stays at hand.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from tools_app.core.models import TimeStamped

LEAST_DAYS = 90
"""Longer than any limit, trial of a policy or reorganisation looks back."""


class RecordKeeping(TimeStamped):
    """One row a person who chose; without it GOLEM_RECORDS_KEPT_DAYS counts."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="record_keeping"
    )
    days = models.PositiveIntegerField(help_text="Until what a permit was judged on is laid away")

    class Meta:
        verbose_name = "keeping of records"
        constraints = [models.CheckConstraint(condition=Q(days__gte=LEAST_DAYS), name="records_kept_long_enough")]

    def __str__(self) -> str:
        return f"{self.days} days"


class RecordArchive(TimeStamped):
    """Written and brought back by `permits_app.execution.record_archives` alone; the audit log has its fingerprint."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="record_archives")
    number = models.PositiveIntegerField(help_text="From 1, of its golem")
    first_created_at = models.DateTimeField(help_text="Of its oldest permit")
    last_created_at = models.DateTimeField(help_text="Of its newest one; the next archive begins after it")
    last_permit_id = models.UUIDField()
    permits = models.PositiveIntegerField()
    transactions = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64, help_text="Of the lines, unpacked")
    content = models.BinaryField(help_text="A line of JSON each permit and transaction, packed by zlib")
    audit_seq = models.PositiveBigIntegerField(null=True, blank=True, help_text="The audit entry with its fingerprint")
    brought_back_at = models.DateTimeField(null=True, blank=True, help_text="When its rows were made whole again")

    class Meta:
        verbose_name = "archive of records"
        constraints = [
            models.UniqueConstraint(fields=["golem", "number"], name="record_archive_numbered"),
            models.CheckConstraint(
                condition=Q(first_created_at__lte=models.F("last_created_at")), name="record_archive_in_order"
            ),
        ]

    def __str__(self) -> str:
        return f"archive {self.number}: {self.permits} permits"


class TickArchive(TimeStamped):
    """Written and brought back by `permits_app.execution.tick_archives` alone; the audit log has its fingerprint."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="tick_archives")
    number = models.PositiveIntegerField(help_text="From 1, of its golem")
    first_tick = models.PositiveBigIntegerField()
    last_tick = models.PositiveBigIntegerField(help_text="The next archive begins after it")
    first_decided_at = models.DateTimeField()
    last_decided_at = models.DateTimeField()
    decisions = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64, help_text="Of the lines, unpacked")
    content = models.BinaryField(help_text="A line of JSON each decision, packed by zlib")
    audit_seq = models.PositiveBigIntegerField(null=True, blank=True, help_text="The audit entry with its fingerprint")
    brought_back_at = models.DateTimeField(null=True, blank=True, help_text="When its rows were made whole again")

    class Meta:
        verbose_name = "archive of ticks"
        verbose_name_plural = "archives of ticks"
        constraints = [
            models.UniqueConstraint(fields=["golem", "number"], name="tick_archive_numbered"),
            models.CheckConstraint(condition=Q(first_tick__lte=models.F("last_tick")), name="tick_archive_in_order"),
        ]

    def __str__(self) -> str:
        return f"archive {self.number}: {self.decisions} ticks"
