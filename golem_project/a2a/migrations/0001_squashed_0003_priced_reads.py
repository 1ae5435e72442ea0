"""The tables of a2a as version 0.2.0 has them, for a new database. One that is older goes its own way through
the migrations that this one replaces.
"""

import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("a2a", "0001_tasks"), ("a2a", "0002_done_by"), ("a2a", "0003_priced_reads")]

    initial = True

    dependencies = [
        ("archetypes_app", "0001_squashed_0024_rules_stand_in"),
        ("permits_app", "0001_squashed_0070_one_sale_a_transaction"),
    ]

    operations = [
        migrations.CreateModel(
            name="Challenge",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("address", models.CharField(max_length=42)),
                ("nonce", models.CharField(max_length=64, unique=True)),
                ("domain", models.CharField(help_text="Whose page the signature is for", max_length=255)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="archetypes_app.golem"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["golem", "-created_at"], name="a2a_challenge_newest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("created_at"))), name="a2a_challenge_ends_later"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OpenedRead",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("query", models.CharField(help_text="As query_state takes it, such as quote", max_length=64)),
                (
                    "venue",
                    models.CharField(help_text="Whose; `golem` for what the golem tells of itself", max_length=64),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="opened_reads",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "price_micro_usdc",
                    models.PositiveBigIntegerField(
                        blank=True, help_text="Millionths of a USDC for each answer; nothing: it is free", null=True
                    ),
                ),
            ],
            options={
                "verbose_name": "read opened to strangers",
                "verbose_name_plural": "reads opened to strangers",
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "query", "venue"), name="a2a_read_opened_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("price_micro_usdc__isnull", True),
                            ("price_micro_usdc__range", (1, 1000000000)),
                            _connector="OR",
                        ),
                        name="a2a_read_price_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Task",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "visitor",
                    models.CharField(
                        blank=True, help_text="The wallet of a stranger, where no key asked", max_length=42
                    ),
                ),
                ("context_id", models.CharField(max_length=64)),
                (
                    "message_id",
                    models.CharField(
                        help_text="The asker's own; the same message makes no second task", max_length=128
                    ),
                ),
                ("asked_digest", models.CharField(help_text="Of skill and parameters", max_length=66)),
                ("skill", models.CharField(max_length=32)),
                ("params", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("SUBMITTED", "submitted"),
                            ("WORKING", "working"),
                            ("INPUT_REQUIRED", "waits for owners"),
                            ("COMPLETED", "completed"),
                            ("FAILED", "failed"),
                            ("CANCELED", "cancelled"),
                            ("REJECTED", "refused"),
                        ],
                        default="SUBMITTED",
                        max_length=16,
                    ),
                ),
                ("note", models.TextField(blank=True, help_text="Why it is in this state")),
                ("answer", models.JSONField(default=dict, help_text="What the tool answered")),
                ("problem", models.JSONField(default=dict, help_text="The refusal")),
                ("version", models.PositiveIntegerField(default=1, help_text="Rises with every change")),
                (
                    "lease_until",
                    models.DateTimeField(blank=True, help_text="A server process carries it out until then", null=True),
                ),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "api_key",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="a2a_tasks",
                        to="archetypes_app.apikey",
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="a2a_tasks", to="archetypes_app.golem"
                    ),
                ),
                (
                    "permit",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="a2a_tasks",
                        to="permits_app.actionpermit",
                    ),
                ),
                (
                    "done_by",
                    models.JSONField(
                        default=dict,
                        help_text="The ERC-8004 agent that the golem was when the task completed: what feedback names",
                    ),
                ),
                (
                    "payment",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="x402 of a stranger's task: its status, what was asked for, what was paid",
                    ),
                ),
            ],
            options={
                "verbose_name": "task of another agent",
                "verbose_name_plural": "tasks of other agents",
                "ordering": ("-created_at", "-id"),
                "indexes": [
                    models.Index(fields=["api_key", "-created_at"], name="a2a_task_of_key"),
                    models.Index(fields=["golem", "visitor", "-created_at"], name="a2a_task_of_visitor"),
                    models.Index(
                        condition=models.Q(("state__in", ["SUBMITTED", "WORKING", "INPUT_REQUIRED"])),
                        fields=["updated_at"],
                        name="a2a_task_open",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("api_key__isnull", False), ("visitor", "")),
                            models.Q(("api_key__isnull", True), models.Q(("visitor", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="a2a_task_has_one_asker",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("api_key__isnull", False)),
                        fields=("api_key", "message_id"),
                        name="a2a_task_once_per_message_of_a_key",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("api_key__isnull", True)),
                        fields=("golem", "visitor", "message_id"),
                        name="a2a_task_once_per_message_of_a_visitor",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("state__in", ["SUBMITTED", "WORKING", "INPUT_REQUIRED"]), ("finished_at__isnull", True)
                            ),
                            models.Q(
                                models.Q(("state__in", ["SUBMITTED", "WORKING", "INPUT_REQUIRED"]), _negated=True),
                                ("finished_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="a2a_task_is_open_or_finished",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PushConfig",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(help_text="The asker's own id of it", max_length=64)),
                ("url", models.CharField(max_length=500)),
                ("scheme", models.CharField(blank=True, max_length=32)),
                ("sealed_credentials", models.BinaryField(null=True)),
                ("sealed_token", models.BinaryField(null=True)),
                ("is_legacy", models.BooleanField(default=False, help_text="Told in the words of protocol 0.3")),
                ("created_at", models.DateTimeField()),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="push_configs", to="a2a.task"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("task", "name"), name="a2a_push_once_per_name")],
            },
        ),
        migrations.CreateModel(
            name="Visit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.CharField(max_length=42)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
                (
                    "challenge",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="visit", to="a2a.challenge"
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="archetypes_app.golem"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PushNotification",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("version", models.PositiveIntegerField()),
                ("body", models.JSONField()),
                (
                    "state",
                    models.CharField(
                        choices=[("WAITING", "waiting"), ("DELIVERED", "delivered"), ("DEAD", "given up")],
                        default="WAITING",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField(null=True)),
                ("last_error", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField()),
                (
                    "config",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notifications", to="a2a.pushconfig"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "WAITING")), fields=["next_attempt_at"], name="a2a_push_due"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("config", "version"), name="a2a_push_once_per_change"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "WAITING"), ("next_attempt_at__isnull", False)),
                            models.Q(models.Q(("state", "WAITING"), _negated=True), ("next_attempt_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="a2a_push_waits_for_a_time",
                    ),
                ],
            },
        ),
    ]
