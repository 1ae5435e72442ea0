"""The tables of alerts as version 0.2.0 has them, for a new database. One that is older goes its own way through
the migrations that this one replaces.
"""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("alerts", "0001_initial"),
        ("alerts", "0002_rank_of_alerts"),
        ("alerts", "0003_mailboxes_are_confirmed"),
    ]

    initial = True

    dependencies = [
        ("archetypes_app", "0001_squashed_0024_rules_stand_in"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="AlertChannel",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("label", models.CharField(max_length=60)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("EMAIL", "E-mail"),
                            ("WEBHOOK", "Chat that takes Slack's webhooks"),
                            ("TELEGRAM", "Telegram bot"),
                        ],
                        max_length=10,
                    ),
                ),
                ("sealed_target", models.BinaryField()),
                ("topics", models.JSONField(default=list, help_text="Names of topics; empty: all")),
                (
                    "digest_minutes",
                    models.PositiveSmallIntegerField(default=0, help_text="0: at once; else one message in so long"),
                ),
                ("time_zone", models.CharField(default="UTC", max_length=48)),
                (
                    "quiet_from",
                    models.PositiveSmallIntegerField(blank=True, help_text="Minute of the day there", null=True),
                ),
                ("quiet_until", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("log_id", models.UUIDField()),
                ("position", models.PositiveBigIntegerField()),
                ("next_try_at", models.DateTimeField(blank=True, null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("last_error", models.CharField(blank=True, max_length=200)),
                ("last_sent_at", models.DateTimeField(blank=True, null=True)),
                ("disabled_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        blank=True,
                        help_text="Only this golem; empty: every golem this person sees",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alert_channels",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alert_channels",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("code_digest", models.CharField(blank=True, db_default="", default="", editable=False, max_length=64)),
                ("code_ends_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("code_tries", models.PositiveSmallIntegerField(db_default=0, default=0, editable=False)),
                (
                    "confirmed_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When the addressee agreed; nothing is sent before. A chat's own key agrees",
                        null=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "alert channel",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("quiet_from__isnull", True), ("quiet_until__isnull", True)),
                            models.Q(("quiet_from__lt", 1440), ("quiet_until__lt", 1440)),
                            _connector="OR",
                        ),
                        name="alert_channel_quiet_hours_are_both_or_none",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("digest_minutes__lte", 1440)), name="alert_channel_digest_a_day"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ConfirmationMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(db_index=True)),
                ("address_digest", models.CharField(max_length=64)),
                ("number_of_address", models.PositiveSmallIntegerField(help_text="Counted from 0 within the day")),
                ("number_of_person", models.PositiveSmallIntegerField(help_text="Counted from 0 within the day")),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("day", "address_digest", "number_of_address"), name="confirmation_mail_of_an_address"
                    ),
                    models.UniqueConstraint(
                        fields=("day", "person", "number_of_person"), name="confirmation_mail_of_a_person"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("number_of_address__lt", 3), ("number_of_person__lt", 10)),
                        name="confirmation_mails_a_day",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("event_id", models.UUIDField()),
                ("text", models.CharField(max_length=300)),
                ("is_urgent", models.BooleanField(default=False)),
                ("happened_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="alerts", to="alerts.alertchannel"
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="archetypes_app.golem"
                    ),
                ),
                (
                    "rank",
                    models.PositiveSmallIntegerField(
                        db_default=0, default=0, help_text="The lower, the less is put before it"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("sent_at__isnull", True)), fields=["channel"], name="alert_waits")
                ],
                "constraints": [models.UniqueConstraint(fields=("channel", "event_id"), name="alert_once_per_event")],
            },
        ),
    ]
