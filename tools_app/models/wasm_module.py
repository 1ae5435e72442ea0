"""Stores owners' modules and definitions, each call of one, and what it wished for."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class WasmModule(models.Model):
    """The bytes of one module of one owner, named by their hash; never changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="wasm_modules")
    sha256 = models.CharField(max_length=64)
    content = models.BinaryField()
    size = models.PositiveIntegerField()
    imports = models.JSONField(default=list, help_text="Functions of the host it was seen to import")
    uploaded_at = models.DateTimeField()

    class Meta:
        verbose_name = "module"
        constraints = [models.UniqueConstraint(fields=["owner", "sha256"], name="wasm_module_once_per_owner")]

    def __str__(self) -> str:
        return f"{self.sha256[:12]} ({self.size} bytes)"


class ToolDefinition(models.Model):
    """One version of a tool that an owner brings. `body` is all a golem's model is told, and how it is done: the
    module's hash, or what is asked.

    `definition_hash` names exactly that; triggers refuse any change, and who reads it computes the hash again.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="tool_definitions")
    name = models.CharField(max_length=64)
    version = models.PositiveIntegerField()
    definition_hash = models.CharField(max_length=66)
    body = models.JSONField()
    module = models.ForeignKey(
        WasmModule,
        on_delete=models.PROTECT,
        related_name="definitions",
        null=True,
        blank=True,
        help_text="Empty for a tool that is a text alone",
    )
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "tool definition"
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name", "version"], name="tool_definition_version_once"),
            models.UniqueConstraint(fields=["owner", "definition_hash"], name="tool_definition_hash_once"),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="tool_definition_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.name} version {self.version}"


class WasmRun(models.Model):
    """One call of a module: what it used and how it ended. Kept for thirty days."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem_id = models.UUIDField()
    definition = models.ForeignKey(ToolDefinition, on_delete=models.CASCADE, related_name="runs")
    params_hash = models.CharField(max_length=66)
    started_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    fuel_used = models.PositiveBigIntegerField()
    host_calls = models.JSONField(default=dict)
    lines = models.JSONField(default=list, help_text="What it logged; data from outside")
    error_code = models.CharField(max_length=64, blank=True)
    error_detail = models.TextField(blank=True)
    is_dry = models.BooleanField(default=False, help_text="Tried by its owner; its wishes are not kept")

    class Meta:
        verbose_name = "module call"
        ordering = ["-started_at"]
        indexes = [models.Index(fields=["golem_id", "started_at"], name="wasm_run_of_golem")]

    def __str__(self) -> str:
        return f"{self.definition} at {self.started_at:%H:%M:%S}"


class ActionWish(models.Model):
    """An action a module asked for. It has no force: an agent may take it up in a preview, which judges it as any."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem_id = models.UUIDField()
    run = models.ForeignKey(WasmRun, on_delete=models.CASCADE, related_name="wishes")
    definition = models.ForeignKey(ToolDefinition, on_delete=models.CASCADE, related_name="wishes")
    action_type = models.CharField(max_length=64)
    venue = models.CharField(max_length=64, blank=True)
    params = models.JSONField(default=dict)
    why = models.TextField(blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        verbose_name = "wish of a module"
        indexes = [models.Index(fields=["golem_id", "created_at"], name="action_wish_of_golem")]
        constraints = [
            models.CheckConstraint(condition=models.Q(expires_at__gt=models.F("created_at")), name="action_wish_ends")
        ]

    def __str__(self) -> str:
        return f"{self.action_type} wished by {self.definition}"
