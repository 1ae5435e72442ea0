"""What was settled and judged is never rewritten: a rollback of the chain is corrected by rows of their own."""

import django.db.models.deletion
from django.db import migrations, models


# Until now a rollback emptied the outcome of its permit in place; what it says then is what was taken back.
TAKEN_BACK = """
UPDATE permits_app_outcomerecord AS outcome
   SET taken_back_at = outcome.updated_at, episode_id = COALESCE(outcome.episode_id, outcome.corrects_episode_id)
  FROM permits_app_actionpermit AS permit
 WHERE permit.id = outcome.permit_id AND permit.status = 'UNKNOWN';
"""
FORWARD = """
CREATE FUNCTION refuse_ledger_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a row of % says is never rewritten', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END;
$$;
CREATE TRIGGER spend_entry_stays BEFORE UPDATE ON permits_app_spendentry
    FOR EACH ROW WHEN (
        OLD.state <> 'RESERVED' AND
        (OLD.golem_id, OLD.permit_id, OLD.life, OLD.reverses_id, OLD.state, OLD.reserved_micro_usd,
         OLD.settled_micro_usd, OLD.counts_per_day, OLD.heartbeat_tick, OLD.counted_at, OLD.breakdown)
        IS DISTINCT FROM
        (NEW.golem_id, NEW.permit_id, NEW.life, NEW.reverses_id, NEW.state, NEW.reserved_micro_usd,
         NEW.settled_micro_usd, NEW.counts_per_day, NEW.heartbeat_tick, NEW.counted_at, NEW.breakdown)
    ) EXECUTE FUNCTION refuse_ledger_rewrite();
CREATE TRIGGER outcome_stays BEFORE UPDATE ON permits_app_outcomerecord
    FOR EACH ROW WHEN (
        (OLD.permit_id, OLD.is_verified, OLD.is_cancelled, OLD.expected, OLD.actual, OLD.divergence_bps,
         OLD.gas_expected, OLD.gas_used, OLD.fee_wei, OLD.pnl_micro_usd, OLD.ground_truth_source, OLD.findings)
        IS DISTINCT FROM
        (NEW.permit_id, NEW.is_verified, NEW.is_cancelled, NEW.expected, NEW.actual, NEW.divergence_bps,
         NEW.gas_expected, NEW.gas_used, NEW.fee_wei, NEW.pnl_micro_usd, NEW.ground_truth_source, NEW.findings)
        OR OLD.taken_back_at IS NOT NULL AND NEW.taken_back_at IS DISTINCT FROM OLD.taken_back_at
        OR OLD.episode_id IS NOT NULL AND NEW.episode_id IS DISTINCT FROM OLD.episode_id
    ) EXECUTE FUNCTION refuse_ledger_rewrite();

-- A reversal is the mirror of what it reverses, and a next life begins once the one before it was reversed.
CREATE FUNCTION check_spend_correction() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.reverses_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM permits_app_spendentry AS taken
         WHERE taken.id = NEW.reverses_id AND taken.state = 'SETTLED'
           AND taken.settled_micro_usd = -NEW.settled_micro_usd
           AND (taken.golem_id, taken.permit_id, taken.life, taken.api_key_id, taken.counts_per_day,
                taken.heartbeat_tick, taken.counted_at)
               IS NOT DISTINCT FROM
               (NEW.golem_id, NEW.permit_id, NEW.life, NEW.api_key_id, NEW.counts_per_day,
                NEW.heartbeat_tick, NEW.counted_at)
    ) THEN
        RAISE EXCEPTION 'a reversal is of one settled entry, and its mirror'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'spend_reversal_mirrors';
    END IF;
    IF NEW.reverses_id IS NULL AND NOT EXISTS (
        SELECT 1 FROM permits_app_spendentry AS reversal
         WHERE reversal.permit_id = NEW.permit_id AND reversal.life = NEW.life - 1 AND reversal.state = 'REVERSED'
    ) THEN
        RAISE EXCEPTION 'the life before this one was not reversed'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'spend_next_life_after_reversal';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER spend_correction_checked BEFORE INSERT ON permits_app_spendentry
    FOR EACH ROW WHEN (NEW.life > 1 OR NEW.reverses_id IS NOT NULL) EXECUTE FUNCTION check_spend_correction();
"""
BACKWARD = """
DROP TRIGGER spend_correction_checked ON permits_app_spendentry;
DROP TRIGGER outcome_stays ON permits_app_outcomerecord;
DROP TRIGGER spend_entry_stays ON permits_app_spendentry;
DROP FUNCTION check_spend_correction();
DROP FUNCTION refuse_ledger_rewrite();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0011_api_key_sessions"),
        ("permits_app", "0026_health_floor"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="spendentry",
            name="spend_settled_not_negative",
        ),
        migrations.AddField(
            model_name="outcomerecord",
            name="taken_back_at",
            field=models.DateTimeField(
                blank=True, help_text="When a rollback of the chain took back what it says", null=True
            ),
        ),
        migrations.RunSQL(TAKEN_BACK, migrations.RunSQL.noop),
        migrations.RemoveField(
            model_name="outcomerecord",
            name="corrects_episode_id",
        ),
        migrations.AddField(
            model_name="spendentry",
            name="life",
            field=models.PositiveSmallIntegerField(
                default=1, help_text="How often the permit's bytes were to be mined"
            ),
        ),
        migrations.AddField(
            model_name="spendentry",
            name="reverses",
            field=models.OneToOneField(
                blank=True,
                help_text="The settled entry that this one takes off the limits",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="reversal",
                to="permits_app.spendentry",
            ),
        ),
        migrations.AlterField(
            model_name="outcomerecord",
            name="permit",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="outcomes", to="permits_app.actionpermit"
            ),
        ),
        migrations.AlterField(
            model_name="spendentry",
            name="permit",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="spend_entries", to="permits_app.actionpermit"
            ),
        ),
        migrations.AlterField(
            model_name="spendentry",
            name="settled_micro_usd",
            field=models.BigIntegerField(blank=True, help_text="Below zero where it reverses another", null=True),
        ),
        migrations.AlterField(
            model_name="spendentry",
            name="state",
            field=models.CharField(
                choices=[
                    ("RESERVED", "Reserved"),
                    ("SETTLED", "Settled"),
                    ("RELEASED", "Released"),
                    ("REVERSED", "Reversal"),
                ],
                default="RESERVED",
                max_length=8,
            ),
        ),
        migrations.AddIndex(
            model_name="spendentry",
            index=models.Index(condition=models.Q(("state", "RESERVED")), fields=["golem"], name="spend_entry_held"),
        ),
        migrations.AddIndex(
            model_name="spendentry",
            index=models.Index(
                condition=models.Q(("state", "REVERSED")), fields=["golem"], name="spend_entry_reversing"
            ),
        ),
        migrations.AddConstraint(
            model_name="outcomerecord",
            constraint=models.UniqueConstraint(
                condition=models.Q(("taken_back_at__isnull", True)),
                fields=("permit",),
                name="outcome_one_live_per_permit",
            ),
        ),
        migrations.AddConstraint(
            model_name="spendentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("settled_micro_usd__isnull", True),
                    ("settled_micro_usd__gte", 0),
                    ("state", "REVERSED"),
                    _connector="OR",
                ),
                name="spend_settled_not_negative",
            ),
        ),
        migrations.AddConstraint(
            model_name="spendentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("reverses__isnull", False), ("settled_micro_usd__lte", 0), ("state", "REVERSED")),
                    models.Q(models.Q(("state", "REVERSED"), _negated=True), ("reverses__isnull", True)),
                    _connector="OR",
                ),
                name="spend_reversal_names_what_it_reverses",
            ),
        ),
        migrations.AddConstraint(
            model_name="spendentry",
            constraint=models.UniqueConstraint(
                condition=models.Q(("reverses__isnull", True)),
                fields=("permit", "life"),
                name="spend_one_claim_per_life",
            ),
        ),
        migrations.AddConstraint(
            model_name="spendentry",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "RESERVED")), fields=("permit",), name="spend_one_reservation_per_permit"
            ),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
