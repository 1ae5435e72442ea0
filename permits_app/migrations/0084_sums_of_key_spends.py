"""What an API key spent long ago is a sum, and what an open permit spends is read without its plan: no preview adds up
all that a key ever spent, and none unpacks the plans of all open permits.
"""

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

# Written by the database, so that it is what `bounds` says also where an older version writes beside this one.
SHORT = """
CREATE FUNCTION shorten_permit_spends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.bounds ? 'changes' THEN
        NEW.spends_in_short := '{"changes": true}';
    ELSIF jsonb_typeof(NEW.bounds->'spends') = 'array' THEN
        NEW.spends_in_short := COALESCE((
            SELECT jsonb_agg(jsonb_build_object(
                       'token', jsonb_build_object('address', flow->'token'->'address'), 'expected', flow->'expected'
                   ))
              FROM jsonb_array_elements(NEW.bounds->'spends') AS flow
        ), '[]');
    ELSE
        NEW.spends_in_short := '[]';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER permit_spends_in_short BEFORE INSERT OR UPDATE OF bounds, spends_in_short ON permits_app_actionpermit
    FOR EACH ROW EXECUTE FUNCTION shorten_permit_spends();
"""
SHORT_BACK = """
DROP TRIGGER permit_spends_in_short ON permits_app_actionpermit;
DROP FUNCTION shorten_permit_spends();
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
        migrations.AddField(
            model_name="actionpermit",
            name="spends_in_short",
            field=models.JSONField(
                blank=True,
                editable=False,
                help_text=(
                    "Of `bounds`, by a trigger: tokens and amounts spent, or that positions change; empty in old rows"
                ),
                null=True,
            ),
        ),
        migrations.RunSQL(SHORT, SHORT_BACK),
    ]
