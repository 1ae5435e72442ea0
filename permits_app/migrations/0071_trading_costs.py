"""What trades cost in a day has budgets of its own: of a golem, of one pair, at one venue."""

import permits_app.models.spending
from django.db import migrations, models

# Who had set wider limits keeps room for what trades within them cost: half a percent of the day.
ROOM = """
UPDATE permits_app_spendinglimits
   SET trading_costs_per_day_micro_usd = GREATEST(trading_costs_per_day_micro_usd, per_day_micro_usd / 200),
       trading_costs_per_pair_micro_usd = GREATEST(trading_costs_per_pair_micro_usd, per_day_micro_usd / 200),
       trading_costs_per_venue_micro_usd = GREATEST(trading_costs_per_venue_micro_usd, per_day_micro_usd / 200);
"""
# What was settled is never rewritten, its cost as little as its amount.
STAYS = """
DROP TRIGGER spend_entry_stays ON permits_app_spendentry;
CREATE TRIGGER spend_entry_stays BEFORE UPDATE ON permits_app_spendentry
    FOR EACH ROW WHEN (
        OLD.state <> 'RESERVED' AND
        (OLD.golem_id, OLD.permit_id, OLD.life, OLD.reverses_id, OLD.state, OLD.reserved_micro_usd,
         OLD.settled_micro_usd, OLD.counts_per_day, OLD.heartbeat_tick, OLD.counted_at, OLD.breakdown{old})
        IS DISTINCT FROM
        (NEW.golem_id, NEW.permit_id, NEW.life, NEW.reverses_id, NEW.state, NEW.reserved_micro_usd,
         NEW.settled_micro_usd, NEW.counts_per_day, NEW.heartbeat_tick, NEW.counted_at, NEW.breakdown{new})
    ) EXECUTE FUNCTION refuse_ledger_rewrite();
"""
_OLD, _NEW = (f", {row}.cost_micro_usd, {row}.pair, {row}.venue" for row in ("OLD", "NEW"))
# A reversal is the mirror of what it reverses, of its cost too.
MIRRORS = """
CREATE FUNCTION check_cost_correction() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM permits_app_spendentry AS taken
         WHERE taken.id = NEW.reverses_id AND taken.cost_micro_usd = -NEW.cost_micro_usd
           AND (taken.pair, taken.venue) = (NEW.pair, NEW.venue)
    ) THEN
        RAISE EXCEPTION 'a reversal takes off the cost of what it reverses'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'spend_reversal_mirrors';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER spend_cost_corrected BEFORE INSERT ON permits_app_spendentry
    FOR EACH ROW WHEN (NEW.reverses_id IS NOT NULL) EXECUTE FUNCTION check_cost_correction();
"""
MIRRORS_BACK = """
DROP TRIGGER spend_cost_corrected ON permits_app_spendentry;
DROP FUNCTION check_cost_correction();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0024_rules_stand_in"),
        ("permits_app", "0070_one_sale_a_transaction"),
    ]

    operations = [
        migrations.AddField(
            model_name="spendentry",
            name="cost_micro_usd",
            field=models.BigIntegerField(
                default=0,
                help_text="What trading may cost, then what it cost: fees, slippage, price impact. Below zero in a reversal",
            ),
        ),
        migrations.AddField(
            model_name="spendentry",
            name="pair",
            field=models.CharField(blank=True, default="", help_text="Chain and tokens of a trade", max_length=128),
        ),
        migrations.AddField(
            model_name="spendentry",
            name="venue",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
        migrations.AddField(
            model_name="spendinglimits",
            name="trading_costs_per_day_micro_usd",
            field=models.BigIntegerField(
                default=permits_app.models.spending.default_trading_costs,
                help_text="Fees, slippage and price impact of all trades, rolling 24 h",
            ),
        ),
        migrations.AddField(
            model_name="spendinglimits",
            name="trading_costs_per_pair_micro_usd",
            field=models.BigIntegerField(
                default=permits_app.models.spending.default_trading_costs,
                help_text="The same, of the trades between two tokens",
            ),
        ),
        migrations.AddField(
            model_name="spendinglimits",
            name="trading_costs_per_venue_micro_usd",
            field=models.BigIntegerField(
                default=permits_app.models.spending.default_trading_costs,
                help_text="The same, of the trades at one venue",
            ),
        ),
        migrations.AddConstraint(
            model_name="spendentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("cost_micro_usd__lte", 0), ("state", "REVERSED")),
                    models.Q(models.Q(("state", "REVERSED"), _negated=True), ("cost_micro_usd__gte", 0)),
                    _connector="OR",
                ),
                name="spend_cost_not_negative",
            ),
        ),
        migrations.AddConstraint(
            model_name="spendinglimits",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("trading_costs_per_day_micro_usd__gte", 0),
                    ("trading_costs_per_pair_micro_usd__gte", 0),
                    ("trading_costs_per_venue_micro_usd__gte", 0),
                ),
                name="trading_costs_not_negative",
            ),
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
        migrations.RunSQL(STAYS.format(old=_OLD, new=_NEW), STAYS.format(old="", new="")),
        migrations.RunSQL(MIRRORS, MIRRORS_BACK),
    ]
