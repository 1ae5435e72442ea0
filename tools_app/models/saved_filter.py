"""SavedFilter: how one person looks at one list, under a name. It holds questions and never rows."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.http import urlencode

from tools_app.core.visible_text_columns import PlainCharField


class SavedFilter(models.Model):
    """`list_name` is the list's model (`permits_app.actionpermit`); `params` its parameters, each a list of texts."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_filters")
    list_name = models.CharField(max_length=100)
    name = PlainCharField(max_length=60)
    params = models.JSONField()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["person", "list_name", "name"], name="saved_filter_once_per_name")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def query(self) -> str:
        """The part of the list's address behind its question mark."""
        return urlencode(self.params, doseq=True)
