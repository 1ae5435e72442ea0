"""Drafts of a policy that were tried on past decisions, with what came of them."""

from __future__ import annotations

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("archetypes_app", "0009_words_of_switches"), ("permits_app", "0019_user_operations")]

    operations = [
        migrations.CreateModel(
            name="PolicyTrial",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("asked_by", models.CharField(max_length=128)),
                (
                    "policy",
                    models.JSONField(
                        help_text="Limits, cage and allowlist of the draft; none while it is sought", null=True
                    ),
                ),
                ("last", models.PositiveIntegerField(help_text="How many decisions it is tried on at most")),
                (
                    "days",
                    models.PositiveIntegerField(help_text="The period of which the least policy is sought", null=True),
                ),
                (
                    "with_refused",
                    models.BooleanField(default=False, help_text="The least policy allows what was refused as well"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("RUNNING", "Running"), ("DONE", "Done"), ("FAILED", "Failed")],
                        default="RUNNING",
                        max_length=8,
                    ),
                ),
                ("done", models.PositiveIntegerField(default=0)),
                ("total", models.PositiveIntegerField(default=0)),
                ("result", models.JSONField(default=dict)),
                ("problem", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("moved_at", models.DateTimeField(help_text="When it last made progress")),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="policy_trials",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "policy trial",
                "indexes": [models.Index(fields=["golem", "-created_at"], name="policy_trial_by_golem")],
            },
        ),
    ]
