"""IdempotencyRecord: the first answer to a request, kept so that a repeat gets it again."""

from __future__ import annotations

from django.db import models


class IdempotencyRecord(models.Model):
    """One Idempotency-Key of one API key. While the first request runs, `status` is 0; its lock ends by itself."""

    api_key = models.ForeignKey("archetypes_app.ApiKey", on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    request_digest = models.CharField(max_length=66, help_text="SHA-256 of method, path and body")
    claim = models.CharField(max_length=32, help_text="Names the request that holds the lock")
    locked_until = models.DateTimeField()
    status = models.PositiveSmallIntegerField(default=0, help_text="HTTP status of the first answer")
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = "idempotency record"
        constraints = [models.UniqueConstraint(fields=["api_key", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return f"{self.key} ({self.status or 'running'})"
