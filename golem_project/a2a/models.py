"""Stores tasks of other agents, addresses for their notifications, reads opened to strangers, and visits."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q


class TaskState(models.TextChoices):
    """Where a task is, in the protocol's words."""

    SUBMITTED = "SUBMITTED", "submitted"
    WORKING = "WORKING", "working"
    INPUT_REQUIRED = "INPUT_REQUIRED", "waits for owners"
    COMPLETED = "COMPLETED", "completed"
    FAILED = "FAILED", "failed"
    CANCELED = "CANCELED", "cancelled"
    REJECTED = "REJECTED", "refused"


OPEN_STATES = (TaskState.SUBMITTED, TaskState.WORKING, TaskState.INPUT_REQUIRED)
LARGEST_PRICE_MICRO_USDC = 1_000 * 10**6
"""Of one answer: a thousand USDC."""
_IS_OPEN = Q(state__in=[str(state) for state in OPEN_STATES])


class Task(models.Model):
    """One call of a golem's tool that another agent asked for. Its state changes only in `task_states`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="a2a_tasks")
    api_key = models.ForeignKey(
        "archetypes_app.ApiKey", null=True, blank=True, on_delete=models.CASCADE, related_name="a2a_tasks"
    )
    visitor = models.CharField(max_length=42, blank=True, help_text="The wallet of a stranger, where no key asked")
    context_id = models.CharField(max_length=64)
    message_id = models.CharField(max_length=128, help_text="The asker's own; the same message makes no second task")
    asked_digest = models.CharField(max_length=66, help_text="Of skill and parameters")
    skill = models.CharField(max_length=32)
    params = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=TaskState.choices, default=TaskState.SUBMITTED)
    note = models.TextField(blank=True, help_text="Why it is in this state")
    answer = models.JSONField(default=dict, help_text="What the tool answered")
    problem = models.JSONField(default=dict, help_text="The refusal")
    done_by = models.JSONField(
        default=dict, help_text="The ERC-8004 agent that the golem was when the task completed: what feedback names"
    )
    payment = models.JSONField(
        default=dict, blank=True, help_text="x402 of a stranger's task: its status, what was asked for, what was paid"
    )
    permit = models.ForeignKey(
        "permits_app.ActionPermit", null=True, blank=True, on_delete=models.RESTRICT, related_name="a2a_tasks"
    )
    version = models.PositiveIntegerField(default=1, help_text="Rises with every change")
    lease_until = models.DateTimeField(null=True, blank=True, help_text="A server process carries it out until then")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "task of another agent"
        verbose_name_plural = "tasks of other agents"
        ordering = ("-created_at", "-id")
        constraints = [
            models.CheckConstraint(
                condition=(Q(api_key__isnull=False) & Q(visitor="")) | (Q(api_key__isnull=True) & ~Q(visitor="")),
                name="a2a_task_has_one_asker",
            ),
            models.UniqueConstraint(
                fields=["api_key", "message_id"],
                condition=Q(api_key__isnull=False),
                name="a2a_task_once_per_message_of_a_key",
            ),
            models.UniqueConstraint(
                fields=["golem", "visitor", "message_id"],
                condition=Q(api_key__isnull=True),
                name="a2a_task_once_per_message_of_a_visitor",
            ),
            models.CheckConstraint(
                condition=(_IS_OPEN & Q(finished_at__isnull=True)) | (~_IS_OPEN & Q(finished_at__isnull=False)),
                name="a2a_task_is_open_or_finished",
            ),
        ]
        indexes = [
            models.Index(fields=["api_key", "-created_at"], name="a2a_task_of_key"),
            models.Index(fields=["golem", "visitor", "-created_at"], name="a2a_task_of_visitor"),
            models.Index(fields=["updated_at"], condition=_IS_OPEN, name="a2a_task_open"),
        ]

    def __str__(self) -> str:
        return f"{self.skill} ({self.get_state_display()})"


class OpenedRead(models.Model):
    """A read that the owner opened to agents without a key of this golem."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="opened_reads")
    query = models.CharField(max_length=64, help_text="As query_state takes it, such as quote")
    venue = models.CharField(max_length=64, help_text="Whose; `golem` for what the golem tells of itself")
    price_micro_usdc = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Millionths of a USDC for each answer; nothing: it is free"
    )
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "read opened to strangers"
        verbose_name_plural = "reads opened to strangers"
        constraints = [
            models.UniqueConstraint(fields=["golem", "query", "venue"], name="a2a_read_opened_once"),
            models.CheckConstraint(
                condition=Q(price_micro_usdc__isnull=True) | Q(price_micro_usdc__range=(1, LARGEST_PRICE_MICRO_USDC)),
                name="a2a_read_price_in_range",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.query}@{self.venue}"


class Challenge(models.Model):
    """A nonce that a wallet signs once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="+")
    address = models.CharField(max_length=42)
    nonce = models.CharField(max_length=64, unique=True)
    domain = models.CharField(max_length=255, help_text="Whose page the signature is for")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(expires_at__gt=models.F("created_at")), name="a2a_challenge_ends_later")
        ]
        indexes = [models.Index(fields=["golem", "-created_at"], name="a2a_challenge_newest")]

    def __str__(self) -> str:
        return f"challenge for {self.address}"


class Visit(models.Model):
    """A stranger who proved a wallet; the token's digest only. One challenge opens one visit."""

    challenge = models.OneToOneField(Challenge, on_delete=models.CASCADE, related_name="visit")
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="+")
    address = models.CharField(max_length=42)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"visit of {self.address}"


class PushState(models.TextChoices):
    """Where a notification is."""

    WAITING = "WAITING", "waiting"
    DELIVERED = "DELIVERED", "delivered"
    DEAD = "DEAD", "given up"


class PushConfig(models.Model):
    """Where the asker of a task wants to be told of its changes. What it authenticates with is sealed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="push_configs")
    name = models.CharField(max_length=64, help_text="The asker's own id of it")
    url = models.CharField(max_length=500)
    scheme = models.CharField(max_length=32, blank=True)
    sealed_credentials = models.BinaryField(null=True)
    sealed_token = models.BinaryField(null=True)
    is_legacy = models.BooleanField(default=False, help_text="Told in the words of protocol 0.3")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "name"], name="a2a_push_once_per_name")]

    def __str__(self) -> str:
        return f"notifications of {self.task_id}"


class PushNotification(models.Model):
    """One change of a task on its way to one address."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    config = models.ForeignKey(PushConfig, on_delete=models.CASCADE, related_name="notifications")
    version = models.PositiveIntegerField()
    body = models.JSONField()
    state = models.CharField(max_length=10, choices=PushState.choices, default=PushState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["config", "version"], name="a2a_push_once_per_change"),
            models.CheckConstraint(
                condition=(Q(state="WAITING") & Q(next_attempt_at__isnull=False))
                | (~Q(state="WAITING") & Q(next_attempt_at__isnull=True)),
                name="a2a_push_waits_for_a_time",
            ),
        ]
        indexes = [models.Index(fields=["next_attempt_at"], condition=Q(state="WAITING"), name="a2a_push_due")]

    def __str__(self) -> str:
        return f"change {self.version}"
