"""StoppedAccount: that what an account had running was stopped, so that it is done, and told, once."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class StoppedAccount(models.Model):
    """One account that was deactivated and stopped. It goes when the account is active again and that was told."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="stopped_account", primary_key=True
    )
    stopped_at = models.DateTimeField()

    class Meta:
        verbose_name = "stopped account"

    def __str__(self) -> str:
        return f"{self.person}, stopped {self.stopped_at:%Y-%m-%d %H:%M:%S}"
