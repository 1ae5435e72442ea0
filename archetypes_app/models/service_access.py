"""ServiceAccess: that a person lets their golems ask a service outside, with which key, how often, and what came."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q

MOST_QUESTIONS_AN_HOUR = 10_000


class ServiceAccess(models.Model):
    """One service of one person. Its key is sealed and nobody reads it back; empty where the service takes none.

    `hour` is the clock hour that `asked` counts the questions of.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="service_accesses")
    service = models.CharField(max_length=40)
    sealed_key = models.BinaryField(editable=False, default=b"")
    questions_an_hour = models.PositiveIntegerField()
    hour = models.DateTimeField(null=True, blank=True)
    asked = models.PositiveIntegerField(default=0)
    last_answer_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=200, blank=True, default="")
    last_error_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "service access"
        verbose_name_plural = "service accesses"
        constraints = [
            models.UniqueConstraint(fields=["person", "service"], name="service_access_once_per_person"),
            models.CheckConstraint(
                condition=Q(questions_an_hour__range=(1, MOST_QUESTIONS_AN_HOUR)), name="service_access_quota_range"
            ),
            models.CheckConstraint(condition=Q(asked__lte=F("questions_an_hour")), name="service_access_within_quota"),
        ]

    def __str__(self) -> str:
        return self.service


class KeptAnswer(models.Model):
    """What a service answered to one question, for the moment in which it is given again."""

    access = models.ForeignKey(ServiceAccess, on_delete=models.CASCADE, related_name="kept_answers")
    question = models.CharField(max_length=64, help_text="SHA-256 of the question")
    value = models.JSONField()
    answered_at = models.DateTimeField()

    class Meta:
        verbose_name = "kept answer"
        constraints = [models.UniqueConstraint(fields=["access", "question"], name="kept_answer_once_per_question")]
        indexes = [models.Index(fields=["access", "answered_at"], name="kept_answer_by_age")]

    def __str__(self) -> str:
        return self.question
