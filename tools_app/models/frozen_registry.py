"""FrozenRegistry: which tools this deployment serves, so that no process serves others."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models import Value


class FrozenRegistry(models.Model):
    """One row, number 1. `definitions` is the hash of each tool's definition by its name.

    `previous` is that of the version before, whose processes may start again for ROLL_LASTS after `frozen_at`.
    """

    ONLY = 1
    ROLL_LASTS = timedelta(hours=24)

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    definitions = models.JSONField()
    previous = models.JSONField(default=dict, db_default=Value({}, models.JSONField()))
    frozen_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "frozen registry"
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_frozen_registry")]

    def __str__(self) -> str:
        return f"{len(self.definitions)} tools since {self.frozen_at.isoformat()}"
