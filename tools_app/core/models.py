"""Rows every app writes: the audit log, the event outbox, and their per-golem counters.

A golem is named by its id alone here, because nothing above this layer may be imported.
"""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models.fields.json import KeyTransform


class TimeStamped(models.Model):
    """Adds `created_at` and `updated_at`, written by the database layer."""

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class AuditHead(models.Model):
    """The last link of one golem's audit chain; its row lock puts concurrent writers in one order."""

    golem_id = models.UUIDField(primary_key=True)
    seq = models.PositiveBigIntegerField(default=0)
    entry_hash = models.CharField(max_length=66)

    class Meta:
        verbose_name = "audit chain head"

    def __str__(self) -> str:
        return f"{self.golem_id} at {self.seq}"


class AuditEntry(models.Model):
    """One append-only, hash-linked line of a golem's history. The database refuses updates, and deletes of what no
    archive has.
    """

    golem_id = models.UUIDField()
    seq = models.PositiveBigIntegerField()
    prev_hash = models.CharField(max_length=66)
    timestamp_ms = models.BigIntegerField(help_text="Milliseconds since 1970-01-01 UTC")
    heartbeat_tick = models.PositiveBigIntegerField(default=0)
    event = models.CharField(max_length=64)
    actor = models.CharField(max_length=128, help_text="Who did it: key:<prefix>, owner:<id> or system:<part>")
    data = models.JSONField(default=dict)
    entry_hash = models.CharField(max_length=66, unique=True)

    class Meta:
        verbose_name = "audit entry"
        verbose_name_plural = "audit entries"
        constraints = [models.UniqueConstraint(fields=["golem_id", "seq"], name="audit_entry_one_per_seq")]
        indexes = [
            models.Index(fields=["golem_id", "event"], name="audit_entry_by_event"),
            models.Index(
                models.F("golem_id"),
                KeyTransform("permit_id", "data"),
                condition=models.Q(data__has_key="permit_id"),
                name="audit_entry_of_permit",
            ),
            models.Index(
                models.F("golem_id"),
                KeyTransform("request_id", "data"),
                condition=models.Q(data__has_key="request_id"),
                name="audit_entry_of_request",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} #{self.seq}"


class AuditCheckpoint(models.Model):
    """A signature over the head of one golem's chain: what was written before it cannot be rewritten unseen."""

    golem_id = models.UUIDField()
    seq = models.PositiveBigIntegerField()
    entry_hash = models.CharField(max_length=66)
    signed_at_ms = models.BigIntegerField(help_text="Milliseconds since 1970-01-01 UTC")
    public_key = models.CharField(max_length=64, help_text="Ed25519, raw, hex")
    signature = models.CharField(max_length=128, help_text="Ed25519, hex")

    class Meta:
        verbose_name = "audit checkpoint"
        constraints = [models.UniqueConstraint(fields=["golem_id", "seq"], name="audit_checkpoint_once_per_seq")]

    def __str__(self) -> str:
        return f"{self.golem_id} at {self.seq}"


class AuditArchive(models.Model):
    """Entries that were laid away together, up to one that a checkpoint signed. The database refuses to change one, and
    to take one that does not begin where the one before ended.
    """

    golem_id = models.UUIDField()
    number = models.PositiveIntegerField(help_text="From 1, of its golem")
    first_seq = models.PositiveBigIntegerField()
    last_seq = models.PositiveBigIntegerField(help_text="The checkpoint of this entry covers all of them")
    first_at_ms = models.BigIntegerField(help_text="Milliseconds since 1970-01-01 UTC")
    last_at_ms = models.BigIntegerField(help_text="Milliseconds since 1970-01-01 UTC")
    last_hash = models.CharField(max_length=66, help_text="Of its last entry, as the checkpoint has it")
    sha256 = models.CharField(max_length=64, help_text="Of the lines, unpacked")
    content = models.BinaryField(help_text="A line of JSON each entry, packed by zlib")
    laid_away_at = models.DateTimeField()

    class Meta:
        verbose_name = "archive of the audit log"
        verbose_name_plural = "archives of the audit log"
        constraints = [
            models.UniqueConstraint(fields=["golem_id", "number"], name="audit_archive_numbered"),
            models.UniqueConstraint(fields=["golem_id", "last_seq"], name="audit_archive_once_per_end"),
            models.CheckConstraint(
                condition=models.Q(first_seq__gte=1, first_seq__lte=models.F("last_seq")),
                name="audit_archive_in_order",
            ),
        ]

    def __str__(self) -> str:
        return f"archive {self.number}: entries {self.first_seq} to {self.last_seq}"


class EventSequence(models.Model):
    """The last event number of one golem; its row lock keeps the sequence free of gaps.

    `heartbeat_tick` is the newest tick that events told of: what happens between two ticks belongs to it.
    """

    golem_id = models.UUIDField(primary_key=True)
    sequence = models.PositiveBigIntegerField(default=0)
    heartbeat_tick = models.PositiveBigIntegerField(default=0, db_default=0)

    class Meta:
        verbose_name = "event sequence"

    def __str__(self) -> str:
        return f"{self.golem_id} at {self.sequence}"


class EventHead(models.Model):
    """How many events were published. Its row lock gives each event its place in the one log all subscribers read.

    `log_id` names this log, so that a place in another database's log is never taken for one in this.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    log_id = models.UUIDField(default=uuid.uuid4)
    position = models.PositiveBigIntegerField(default=0)
    forgotten = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Events up to here are no longer kept"
    )

    class Meta:
        verbose_name = "event log head"
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="event_head_is_one_row")]

    def __str__(self) -> str:
        return f"{self.log_id} at {self.position}"


class OutboxEvent(models.Model):
    """One event, written in the transaction that caused it and placed in the log once that commits.

    `position` counts through the whole log without gaps, and never goes against the `sequence` of a golem.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem_id = models.UUIDField()
    sequence = models.PositiveBigIntegerField()
    type = models.CharField(max_length=48)
    version = models.PositiveSmallIntegerField(default=1)
    heartbeat_tick = models.PositiveBigIntegerField(default=0)
    occurred_at = models.DateTimeField()
    payload = models.JSONField(default=dict)
    published_at = models.DateTimeField(null=True, blank=True)
    position = models.PositiveBigIntegerField(null=True, blank=True, unique=True)

    class Meta:
        verbose_name = "event"
        constraints = [models.UniqueConstraint(fields=["golem_id", "sequence"], name="outbox_event_one_per_sequence")]
        indexes = [
            models.Index(
                fields=["golem_id", "sequence"],
                condition=models.Q(position__isnull=True),
                name="outbox_event_unplaced",
            ),
            models.Index(fields=["golem_id", "position"], name="outbox_event_by_golem"),
        ]

    def __str__(self) -> str:
        return f"{self.type} #{self.sequence}"


class RepeatedTransaction(models.Model):
    """How often transactions were given up by PostgreSQL and done again as a whole, by the code it said."""

    state = models.CharField(max_length=5, primary_key=True, help_text="SQLSTATE")
    count = models.PositiveBigIntegerField(default=0)
    last_place = models.CharField(max_length=200, help_text="The action that was repeated last")
    last_at = models.DateTimeField()

    class Meta:
        verbose_name = "repeated transaction"

    def __str__(self) -> str:
        return f"{self.state}: {self.count}"
