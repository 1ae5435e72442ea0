"""DeniedCall: a plan that a hook refused, kept so that a draft of the policy can be tried on it."""

from __future__ import annotations

from django.db import models


class DeniedCall(models.Model):
    """What hooks 1 to 4 saw of a call they refused: plan, value and rule. Nothing is ever executed from it."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="denied_calls")
    api_key = models.ForeignKey(
        "archetypes_app.ApiKey", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    denied_at = models.DateTimeField()
    tool_name = models.CharField(max_length=96)
    action_type = models.CharField(max_length=64)
    venue = models.CharField(max_length=64)
    chain_id = models.PositiveBigIntegerField()
    action_class = models.CharField(max_length=24)
    signer = models.CharField(max_length=42, blank=True)
    calls = models.JSONField(default=list)
    bounds = models.JSONField(default=dict)
    value_micro_usd = models.BigIntegerField(default=0, help_text="The most it could spend, gas not included")
    counts_per_day = models.BooleanField(default=True)
    code = models.CharField(max_length=64)
    rule = models.CharField(max_length=96, blank=True)
    detail = models.TextField(blank=True)
    facts = models.JSONField(default=dict, help_text="What hooks 1 to 4 looked at; empty in rows before that was kept")

    class Meta:
        verbose_name = "denied call"
        indexes = [models.Index(fields=["golem", "-denied_at"], name="denied_call_by_golem")]

    @property
    def plan_calls(self) -> list[dict[str, object]]:
        """What the account would have done."""
        calls: list[dict[str, object]] = self.calls
        return calls

    def __str__(self) -> str:
        return f"{self.action_type} at {self.venue}, {self.rule or self.code}"
