"""FrozenRegistry: which tools this deployment serves, so that no process serves others."""

from __future__ import annotations

from django.db import models


class FrozenRegistry(models.Model):
    """One row, number 1. `definitions` is the hash of each tool's definition by its name."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    definitions = models.JSONField()
    frozen_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "frozen registry"
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_frozen_registry")]

    def __str__(self) -> str:
        return f"{len(self.definitions)} tools since {self.frozen_at.isoformat()}"
