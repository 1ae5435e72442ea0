"""Refused plans are kept for back-tests."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0007_golem_simulation_engine"),
        ("permits_app", "0009_venue_trust"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeniedCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("denied_at", models.DateTimeField()),
                ("tool_name", models.CharField(max_length=96)),
                ("action_type", models.CharField(max_length=64)),
                ("venue", models.CharField(max_length=64)),
                ("chain_id", models.PositiveBigIntegerField()),
                ("action_class", models.CharField(max_length=24)),
                ("signer", models.CharField(blank=True, max_length=42)),
                ("calls", models.JSONField(default=list)),
                ("bounds", models.JSONField(default=dict)),
                (
                    "value_micro_usd",
                    models.BigIntegerField(default=0, help_text="The most it could spend, gas not included"),
                ),
                ("counts_per_day", models.BooleanField(default=True)),
                ("code", models.CharField(max_length=64)),
                ("rule", models.CharField(blank=True, max_length=96)),
                ("detail", models.TextField(blank=True)),
                (
                    "api_key",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="archetypes_app.apikey",
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="denied_calls",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "denied call",
                "indexes": [models.Index(fields=["golem", "-denied_at"], name="denied_call_by_golem")],
            },
        ),
    ]
