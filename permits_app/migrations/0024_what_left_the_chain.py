"""What a chain lost: the mark it must keep, the newest final payloads, and the episode a new one corrects."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("permits_app", "0023_chain_watches"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChainMark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField(unique=True)),
                ("head_number", models.PositiveBigIntegerField(default=0)),
                ("mark_number", models.PositiveBigIntegerField(default=0)),
                ("mark_hash", models.CharField(blank=True, max_length=66)),
                ("looked_at", models.DateTimeField(blank=True, help_text="When its head was last read", null=True)),
                (
                    "trouble",
                    models.CharField(blank=True, help_text="The code of what keeps it from being read", max_length=64),
                ),
                ("trouble_since", models.DateTimeField(blank=True, null=True)),
                (
                    "rolled_back_at",
                    models.DateTimeField(
                        blank=True, help_text="When it was last seen without a block that had been final", null=True
                    ),
                ),
            ],
            options={
                "verbose_name": "watched chain",
            },
        ),
        migrations.AddField(
            model_name="outcomerecord",
            name="corrects_episode_id",
            field=models.UUIDField(
                blank=True, help_text="The episode of an earlier judgement, which a rollback took back", null=True
            ),
        ),
        migrations.AddIndex(
            model_name="outboundtransaction",
            index=models.Index(
                condition=models.Q(("state", "FINAL")), fields=["chain_id", "-block_number"], name="outbound_final"
            ),
        ),
    ]
