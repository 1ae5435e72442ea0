"""Alerts about the health of debts."""

import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0022_chains_of_a_golem"),
        ("permits_app", "0056_rights_received_are_followed"),
    ]

    operations = [
        migrations.CreateModel(
            name="HealthAlert",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("protocol", models.CharField(max_length=64)),
                ("chain_id", models.PositiveBigIntegerField()),
                (
                    "min_health_bps",
                    models.PositiveIntegerField(help_text="Basis points of a health factor; at 10,000 is liquidation"),
                ),
                (
                    "notify_on_breach",
                    models.BooleanField(default=True, help_text="Tell the owner once the health is below"),
                ),
                (
                    "auto_action",
                    models.CharField(
                        choices=[
                            ("NONE", "Only tell"),
                            ("DELEVERAGE", "Lower the debt"),
                            ("CLOSE", "Leave the position"),
                        ],
                        default="NONE",
                        help_text="What the heartbeat does below, where it acts at all",
                        max_length=10,
                    ),
                ),
                (
                    "last_triggered_at",
                    models.DateTimeField(blank=True, help_text="When a tick last found a debt below", null=True),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="health_alerts",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "health alert",
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "protocol", "chain_id"), name="health_alert_once"),
                    models.CheckConstraint(
                        condition=models.Q(("min_health_bps__gt", 10000), ("min_health_bps__lte", 1000000)),
                        name="health_alert_above_liquidation",
                    ),
                ],
            },
        ),
    ]
