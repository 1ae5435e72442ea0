import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0002_read_only_and_versions"),
        ("permits_app", "0004_halt_records"),
    ]

    operations = [
        migrations.CreateModel(
            name="KnownContract",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.PositiveBigIntegerField()),
                (
                    "address",
                    models.CharField(
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                ("code_hash", models.CharField(max_length=66)),
                ("first_seen_at", models.DateTimeField()),
            ],
            options={"verbose_name": "known contract"},
        ),
        migrations.AddConstraint(
            model_name="knowncontract",
            constraint=models.UniqueConstraint(fields=["chain_id", "address"], name="known_contract_once"),
        ),
        migrations.CreateModel(
            name="HighWaterMark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("value_micro_usd", models.BigIntegerField()),
                ("reached_at", models.DateTimeField()),
                (
                    "violated_at",
                    models.DateTimeField(blank=True, help_text="Set by a fall beyond the cage's limit", null=True),
                ),
                (
                    "violated_bps",
                    models.PositiveIntegerField(default=0, help_text="How far it had fallen then, basis points"),
                ),
                (
                    "paused_until",
                    models.DateTimeField(blank=True, help_text="No position is opened or grown before this", null=True),
                ),
                ("acknowledged_at", models.DateTimeField(blank=True, null=True)),
                ("acknowledged_by", models.CharField(blank=True, max_length=128)),
                ("acknowledged_reason", models.TextField(blank=True)),
                (
                    "golem",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="high_water_mark",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={"verbose_name": "high-water mark"},
        ),
        migrations.AddConstraint(
            model_name="highwatermark",
            constraint=models.CheckConstraint(
                condition=models.Q(("value_micro_usd__gte", 0)), name="high_water_mark_not_negative"
            ),
        ),
        migrations.AddField(
            model_name="policycage",
            name="is_action_gate_on",
            field=models.BooleanField(
                default=False,
                help_text="Few or wrong predictions keep new positions few and small",
                verbose_name="action gate",
            ),
        ),
    ]
