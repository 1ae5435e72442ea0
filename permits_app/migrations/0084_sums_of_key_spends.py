"""What an API key spent long ago is a sum, so that no preview adds up all that the key ever spent."""

import django.db.models.deletion
from django.db import migrations, models

# What is counted by a sum is final, and is never taken out of it again.
KEPT = """
CREATE TRIGGER spend_entry_stays_in_sum BEFORE UPDATE ON permits_app_spendentry
    FOR EACH ROW WHEN (
        OLD.is_in_key_sum AND NOT NEW.is_in_key_sum
        OR NEW.is_in_key_sum AND NEW.state NOT IN ('SETTLED', 'REVERSED')
    ) EXECUTE FUNCTION refuse_ledger_rewrite();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0031_newest_alert_of_a_source"),
        ("permits_app", "0083_archives_of_ticks"),
    ]

    operations = [
        migrations.AddField(
            model_name="spendentry",
            name="is_in_key_sum",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Counted by the sum of its API key's spends",
            ),
        ),
        migrations.CreateModel(
            name="KeySpend",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "micro_usd",
                    models.BigIntegerField(help_text="Below zero where more was taken back than is summed"),
                ),
                (
                    "api_key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spend_sums",
                        to="archetypes_app.apikey",
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "sum of an API key's spends",
                "verbose_name_plural": "sums of API keys' spends",
                "constraints": [models.UniqueConstraint(fields=("api_key", "golem"), name="key_spend_one_sum")],
            },
        ),
        migrations.RunSQL(KEPT, "DROP TRIGGER spend_entry_stays_in_sum ON permits_app_spendentry;"),
    ]
