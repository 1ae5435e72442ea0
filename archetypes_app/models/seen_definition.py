"""SeenDefinition: a built-in tool as it read when some owner saw it, under the hash that pins it."""

from __future__ import annotations

from django.db import models


class SeenDefinition(models.Model):
    """Written once and never changed; golems name it by its hash in `seen_definitions`."""

    definition_hash = models.CharField(max_length=66, primary_key=True)
    body = models.JSONField(help_text="What a model was told of it and what it could do")

    class Meta:
        verbose_name = "definition an owner saw"

    def __str__(self) -> str:
        return f"{self.body.get('name')} {self.definition_hash[:10]}"
