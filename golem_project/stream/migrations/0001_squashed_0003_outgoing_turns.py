"""The tables of stream as version 0.2.0 has them, for a new database. One that is older goes its own way through
the migrations that this one replaces.
"""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("stream", "0001_webhooks"), ("stream", "0002_replaced_secrets"), ("stream", "0003_outgoing_turns")]

    initial = True

    dependencies = [
        ("archetypes_app", "0001_squashed_0024_rules_stand_in"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="OutgoingTurn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("WEBHOOK", "deliveries of webhooks"),
                            ("ALERT", "messages of alert channels"),
                            ("NOTICE", "notices to other agents"),
                        ],
                        max_length=10,
                    ),
                ),
                ("receiver", models.UUIDField(help_text="The webhook, the channel or the notification address")),
                ("person_id", models.BigIntegerField(help_text="Whose it is: places are shared out between people")),
                (
                    "turn_id",
                    models.UUIDField(
                        help_text="Who sends now; a task with another id is late and does nothing", null=True
                    ),
                ),
                (
                    "until",
                    models.DateTimeField(
                        help_text="When the turn ends, if whoever has it is heard of no more", null=True
                    ),
                ),
                ("given_at", models.DateTimeField()),
                (
                    "failures",
                    models.PositiveSmallIntegerField(default=0, help_text="Turns in a row that ended with a failure"),
                ),
                ("not_before", models.DateTimeField(null=True)),
                ("was_slow", models.BooleanField(default=False)),
            ],
            options={
                "verbose_name": "turn to be sent to",
                "verbose_name_plural": "turns to be sent to",
                "indexes": [
                    models.Index(
                        condition=models.Q(("until__isnull", False)),
                        fields=["kind", "until"],
                        name="outgoing_turn_busy",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "receiver"), name="outgoing_one_turn_per_receiver"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("turn_id__isnull", True), ("until__isnull", True)),
                            models.Q(("turn_id__isnull", False), ("until__isnull", False)),
                            _connector="OR",
                        ),
                        name="outgoing_turn_has_an_end",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookEndpoint",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("label", models.CharField(max_length=60)),
                ("url", models.CharField(help_text="https; its host must have public addresses only", max_length=500)),
                ("types", models.JSONField(blank=True, default=list, help_text="Wire names or families; empty: all")),
                ("sealed_secret", models.BinaryField()),
                ("log_id", models.UUIDField(help_text="The event log `position` counts in")),
                (
                    "position",
                    models.PositiveBigIntegerField(default=0, help_text="Everything up to here was handed over"),
                ),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                ("disabled_at", models.DateTimeField(blank=True, null=True)),
                ("disabled_reason", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        blank=True,
                        help_text="Only this golem's events; empty: those of all golems you own",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhook_endpoints",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhook_endpoints",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("disabled_at__isnull", True),
                            models.Q(("disabled_reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="webhook_disabled_for_a_reason",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("event_id", models.UUIDField()),
                ("event_type", models.CharField(max_length=48)),
                ("position", models.PositiveBigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("WAITING", "waiting"), ("DELIVERED", "delivered"), ("DEAD", "given up")],
                        default="WAITING",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("first_tried_at", models.DateTimeField(blank=True, null=True)),
                ("next_attempt_at", models.DateTimeField(blank=True, null=True)),
                ("delivered_at", models.DateTimeField(blank=True, null=True)),
                ("last_status", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("last_error", models.CharField(blank=True, max_length=200)),
                ("last_duration_ms", models.PositiveIntegerField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="stream.webhookendpoint",
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook delivery",
                "verbose_name_plural": "webhook deliveries",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "WAITING")),
                        fields=["next_attempt_at"],
                        name="webhook_delivery_due",
                    ),
                    models.Index(fields=["endpoint", "-position"], name="webhook_delivery_newest"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("endpoint", "event_id"), name="webhook_delivery_once_per_event"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "WAITING"), ("next_attempt_at__isnull", False)),
                            models.Q(models.Q(("state", "WAITING"), _negated=True), ("next_attempt_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="webhook_delivery_waits_for_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OldSecret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sealed_secret", models.BinaryField()),
                ("until", models.DateTimeField()),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="old_secrets",
                        to="stream.webhookendpoint",
                    ),
                ),
            ],
            options={
                "verbose_name": "replaced secret of a webhook",
                "verbose_name_plural": "replaced secrets of webhooks",
            },
        ),
    ]
