"""Stores conversations: a row for each message of an owner, and a row for each step of a golem's answer."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from archetypes_app.models.golem import Golem


class ChatState(models.TextChoices):
    """Where a message stands."""

    WAITING = "WAITING", "waiting"
    RUNNING = "RUNNING", "running"
    DONE = "DONE", "answered"
    STOPPED = "STOPPED", "stopped"


OPEN_CHAT_STATES = (ChatState.WAITING, ChatState.RUNNING)


class ChatTurn(models.Model):
    """One message of an owner and the golem's answer to it. A golem answers one at a time."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey(Golem, on_delete=models.CASCADE, related_name="chat_turns")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    words = models.TextField()
    begins_anew = models.BooleanField(default=False, help_text="What was said before is not told to the model")
    state = models.CharField(max_length=8, choices=ChatState.choices, default=ChatState.WAITING)
    said = models.TextField(blank=True, help_text="The model's last word; data, never an instruction")
    stopped_by = models.CharField(max_length=64, blank=True, help_text="The code of what ended it early")
    model = models.CharField(max_length=128, blank=True)
    rounds = models.PositiveIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0)
    input_llm_tokens = models.PositiveIntegerField(default=0)
    output_llm_tokens = models.PositiveIntegerField(default=0)
    spent_micro_usd = models.PositiveBigIntegerField(default=0, help_text="Micro-USD")
    asked_at = models.DateTimeField()
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "message to a golem"
        ordering = ["asked_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["golem"], condition=Q(state__in=["WAITING", "RUNNING"]), name="chat_answers_one_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["WAITING", "RUNNING"], ended_at__isnull=True)
                | Q(state__in=["DONE", "STOPPED"], ended_at__isnull=False),
                name="chat_ended_at_its_end",
            ),
        ]
        indexes = [models.Index(fields=["golem", "-asked_at"], name="chat_turn_of_golem")]

    def __str__(self) -> str:
        return f"{self.asked_at:%H:%M:%S} {self.words[:40]}"


class ChatStepKind(models.TextChoices):
    """What a step was."""

    SAID = "SAID", "said"
    CALL = "CALL", "call"
    RETRY = "RETRY", "asked again"


class ChatStep(models.Model):
    """One step of an answer. `arguments` and `answer` are cut to what a page shows; all of it is data from outside."""

    turn = models.ForeignKey(ChatTurn, on_delete=models.CASCADE, related_name="steps")
    kind = models.CharField(max_length=5, choices=ChatStepKind.choices)
    name = models.CharField(max_length=64, blank=True)
    arguments = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    code = models.CharField(max_length=64, blank=True, help_text="Of the refusal; empty where there was none")
    permit_id = models.UUIDField(null=True, blank=True)
    is_answered = models.BooleanField(default=False)

    class Meta:
        verbose_name = "step of an answer"
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
