"""The tables of tools_app as version 0.2.0 has them, for a new database. One that is older goes its own way through
the migrations that this one replaces.
"""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


# What of a row is never changed, and what the database itself checks.
_RULES = """
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END;
$$;
CREATE FUNCTION tools_app_place_events(published timestamptz, most integer)
RETURNS TABLE (
    log_id uuid, place bigint, id uuid, golem_id uuid, sequence bigint, type text, version integer, tick bigint,
    occurred_at timestamptz, payload text
) LANGUAGE plpgsql AS $$
DECLARE
    head_log uuid;
    head_position bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM tools_app_outboxevent AS event WHERE event.position IS NULL) THEN
        RETURN;
    END IF;
    INSERT INTO tools_app_eventhead AS head (id, log_id, position) VALUES (1, gen_random_uuid(), 0)
        ON CONFLICT ON CONSTRAINT tools_app_eventhead_pkey DO UPDATE SET position = head.position
        RETURNING head.log_id, head.position INTO head_log, head_position;
    RETURN QUERY
    WITH waiting AS (
        SELECT event.id AS event_id, row_number() OVER (ORDER BY event.golem_id, event.sequence) AS step
          FROM tools_app_outboxevent AS event
         WHERE event.position IS NULL
         ORDER BY event.golem_id, event.sequence LIMIT most
    ), placed AS (
        UPDATE tools_app_outboxevent AS event
           SET position = head_position + waiting.step, published_at = published
          FROM waiting WHERE event.id = waiting.event_id
     RETURNING event.*
    ), moved AS (
        UPDATE tools_app_eventhead AS head SET position = head.position + (SELECT count(*) FROM waiting)
         WHERE EXISTS (SELECT FROM waiting)
    )
    SELECT head_log, placed.position::bigint, placed.id, placed.golem_id, placed.sequence::bigint, placed.type::text,
           placed.version::integer, placed.heartbeat_tick::bigint, placed.occurred_at, placed.payload::text
      FROM placed ORDER BY placed.position;
END
$$;
CREATE FUNCTION refuse_definition_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'modules and definitions are not changed; a new version is a new row';
END;
$$;
CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE ON tools_app_auditentry
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_checkpoint_append_only BEFORE UPDATE OR DELETE ON tools_app_auditcheckpoint FOR EACH ROW
 EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_entry_not_truncated BEFORE TRUNCATE ON tools_app_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_checkpoint_not_truncated BEFORE TRUNCATE ON tools_app_auditcheckpoint
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER wasm_module_stays BEFORE UPDATE ON tools_app_wasmmodule
    FOR EACH ROW EXECUTE FUNCTION refuse_definition_change();
CREATE TRIGGER tool_definition_stays BEFORE UPDATE ON tools_app_tooldefinition
    FOR EACH ROW EXECUTE FUNCTION refuse_definition_change();
"""
_NO_RULES = """
DROP TRIGGER tool_definition_stays ON tools_app_tooldefinition;
DROP TRIGGER wasm_module_stays ON tools_app_wasmmodule;
DROP TRIGGER audit_checkpoint_not_truncated ON tools_app_auditcheckpoint;
DROP TRIGGER audit_entry_not_truncated ON tools_app_auditentry;
DROP TRIGGER audit_checkpoint_append_only ON tools_app_auditcheckpoint;
DROP TRIGGER audit_entry_append_only ON tools_app_auditentry;
DROP FUNCTION refuse_definition_change();
DROP FUNCTION tools_app_place_events(timestamptz, integer);
DROP FUNCTION refuse_audit_change();
"""

# Parts are made by the month as logs come (`tools_app/history/log_table_months.py`); Django has no words for that.
_LOGS = """
CREATE TABLE tools_app_chainlog (
    source_id bigint NOT NULL,
    block_time timestamptz NOT NULL,
    block_number bigint NOT NULL,
    log_index integer NOT NULL,
    block_hash bytea NOT NULL,
    tx_hash bytea NOT NULL,
    topics bytea NOT NULL,
    data bytea NOT NULL,
    price_x192 numeric(100, 0),
    in0 numeric(100, 0),
    in1 numeric(100, 0),
    PRIMARY KEY (source_id, block_time, block_number, log_index)
) PARTITION BY RANGE (block_time)
"""


class Migration(migrations.Migration):
    replaces = [
        ("tools_app", "0001_initial"),
        ("tools_app", "0002_audit_append_only"),
        ("tools_app", "0003_audit_checkpoints"),
        ("tools_app", "0004_event_positions"),
        ("tools_app", "0005_stream_subscriptions"),
        ("tools_app", "0006_tool_checkpoints"),
        ("tools_app", "0007_place_events"),
        ("tools_app", "0008_tool_cooccurrence"),
        ("tools_app", "0009_place_events_of_all"),
        ("tools_app", "0010_eventhead_forgotten"),
        ("tools_app", "0011_audit_not_truncated"),
        ("tools_app", "0012_repeated_transactions"),
        ("tools_app", "0013_known_positions"),
        ("tools_app", "0014_position_searches"),
        ("tools_app", "0015_wasm_modules"),
        ("tools_app", "0016_tools_without_a_module"),
        ("tools_app", "0017_saved_filters"),
        ("tools_app", "0018_frozen_registry"),
        ("tools_app", "0019_share_marks"),
        ("tools_app", "0020_own_positions"),
        ("tools_app", "0021_index_of_logs"),
        ("tools_app", "0022_pools_within_a_manager"),
        ("tools_app", "0023_jars_followed"),
        ("tools_app", "0024_new_pools_followed"),
        ("tools_app", "0025_rates_and_owners_of_a_history"),
        ("tools_app", "0026_pools_of_managers_are_followed_anew"),
        ("tools_app", "0027_rates_that_are_asked"),
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                ("golem_id", models.UUIDField(primary_key=True, serialize=False)),
                ("seq", models.PositiveBigIntegerField(default=0)),
                ("entry_hash", models.CharField(max_length=66)),
            ],
            options={
                "verbose_name": "audit chain head",
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(_LOGS, "DROP TABLE tools_app_chainlog")],
            state_operations=[
                migrations.CreateModel(
                    name="ChainLog",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "source_id",
                                "block_time",
                                "block_number",
                                "log_index",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("source_id", models.BigIntegerField()),
                        ("block_time", models.DateTimeField()),
                        ("block_number", models.BigIntegerField()),
                        ("log_index", models.IntegerField()),
                        ("block_hash", models.BinaryField()),
                        ("tx_hash", models.BinaryField()),
                        ("topics", models.BinaryField()),
                        ("data", models.BinaryField()),
                        ("price_x192", models.DecimalField(decimal_places=0, max_digits=100, null=True)),
                        ("in0", models.DecimalField(decimal_places=0, max_digits=100, null=True)),
                        ("in1", models.DecimalField(decimal_places=0, max_digits=100, null=True)),
                    ],
                    options={
                        "verbose_name": "log of a chain",
                    },
                )
            ],
        ),
        migrations.CreateModel(
            name="EventSequence",
            fields=[
                ("golem_id", models.UUIDField(primary_key=True, serialize=False)),
                ("sequence", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "verbose_name": "event sequence",
            },
        ),
        migrations.CreateModel(
            name="FollowedChain",
            fields=[
                ("chain_id", models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ("next_block", models.PositiveBigIntegerField(help_text="The first block that is not read yet")),
                ("head_hash", models.CharField(help_text="Hash of the block before it", max_length=66)),
                ("head_time", models.DateTimeField(help_text="Time of the block before it")),
                ("followed_at", models.DateTimeField(help_text="When the chain was last followed without a fault")),
                ("failures", models.PositiveIntegerField(default=0)),
                ("last_error", models.CharField(blank=True, max_length=200)),
                (
                    "lies",
                    models.PositiveIntegerField(
                        default=0, help_text="Answers of nodes that contradicted themselves or others"
                    ),
                ),
                ("last_lie", models.CharField(blank=True, max_length=200)),
                ("last_lie_at", models.DateTimeField(blank=True, null=True)),
                ("rollbacks", models.PositiveIntegerField(default=0)),
                ("spent", models.PositiveIntegerField(default=0)),
                ("spent_since", models.DateTimeField()),
            ],
            options={
                "verbose_name": "followed chain",
            },
        ),
        migrations.CreateModel(
            name="OwnerHistory",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="kept_history",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "log_days",
                    models.PositiveSmallIntegerField(
                        help_text="Logs go after so many days; bars of hours and days stay"
                    ),
                ),
            ],
            options={
                "verbose_name": "history of an owner",
            },
        ),
        migrations.CreateModel(
            name="RepeatedTransaction",
            fields=[
                ("state", models.CharField(help_text="SQLSTATE", max_length=5, primary_key=True, serialize=False)),
                ("count", models.PositiveBigIntegerField(default=0)),
                ("last_place", models.CharField(help_text="The action that was repeated last", max_length=200)),
                ("last_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "repeated transaction",
            },
        ),
        migrations.CreateModel(
            name="SpeculationRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("archetype", models.CharField(max_length=64, unique=True)),
                ("is_on", models.BooleanField(default=True)),
                ("used", models.PositiveBigIntegerField(default=0)),
                ("wasted", models.PositiveBigIntegerField(default=0)),
                ("round_used", models.PositiveBigIntegerField(default=0)),
                ("round_wasted", models.PositiveBigIntegerField(default=0)),
                (
                    "learned_to",
                    models.PositiveBigIntegerField(default=0, help_text="The position in the event log learned up to"),
                ),
                (
                    "learned_since_off",
                    models.PositiveBigIntegerField(default=0, help_text="Runs learned since it was switched off"),
                ),
            ],
            options={
                "verbose_name": "speculation record",
            },
        ),
        migrations.CreateModel(
            name="AuditCheckpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("golem_id", models.UUIDField()),
                ("seq", models.PositiveBigIntegerField()),
                ("entry_hash", models.CharField(max_length=66)),
                ("signed_at_ms", models.BigIntegerField(help_text="Milliseconds since 1970-01-01 UTC")),
                ("public_key", models.CharField(help_text="Ed25519, raw, hex", max_length=64)),
                ("signature", models.CharField(help_text="Ed25519, hex", max_length=128)),
            ],
            options={
                "verbose_name": "audit checkpoint",
                "constraints": [
                    models.UniqueConstraint(fields=("golem_id", "seq"), name="audit_checkpoint_once_per_seq")
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("golem_id", models.UUIDField()),
                ("seq", models.PositiveBigIntegerField()),
                ("prev_hash", models.CharField(max_length=66)),
                ("timestamp_ms", models.BigIntegerField(help_text="Milliseconds since 1970-01-01 UTC")),
                ("heartbeat_tick", models.PositiveBigIntegerField(default=0)),
                ("event", models.CharField(max_length=64)),
                (
                    "actor",
                    models.CharField(help_text="Who did it: key:<prefix>, owner:<id> or system:<part>", max_length=128),
                ),
                ("data", models.JSONField(default=dict)),
                ("entry_hash", models.CharField(max_length=66, unique=True)),
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit entries",
                "indexes": [models.Index(fields=["golem_id", "event"], name="audit_entry_by_event")],
                "constraints": [models.UniqueConstraint(fields=("golem_id", "seq"), name="audit_entry_one_per_seq")],
            },
        ),
        migrations.CreateModel(
            name="EventHead",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("log_id", models.UUIDField(default=uuid.uuid4)),
                ("position", models.PositiveBigIntegerField(default=0)),
                (
                    "forgotten",
                    models.PositiveBigIntegerField(
                        db_default=0, default=0, help_text="Events up to here are no longer kept"
                    ),
                ),
            ],
            options={
                "verbose_name": "event log head",
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="event_head_is_one_row")],
            },
        ),
        migrations.CreateModel(
            name="FrozenRegistry",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("definitions", models.JSONField()),
                ("frozen_at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "frozen registry",
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="one_frozen_registry")],
            },
        ),
        migrations.CreateModel(
            name="KnownPosition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.PositiveBigIntegerField()),
                ("account", models.CharField(max_length=42)),
                ("ref", models.CharField(max_length=200)),
                ("first_seen", models.DateTimeField()),
                ("last_seen", models.DateTimeField()),
                ("gone_at", models.DateTimeField(blank=True, null=True)),
                ("is_own", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "verbose_name": "known position",
                "indexes": [models.Index(fields=["account", "chain_id"], name="known_position_of_account")],
                "constraints": [
                    models.UniqueConstraint(fields=("account", "ref"), name="known_position_once"),
                    models.CheckConstraint(
                        condition=models.Q(("last_seen__gte", models.F("first_seen"))),
                        name="known_position_seen_in_order",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LogSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.PositiveBigIntegerField()),
                ("address", models.CharField(max_length=66)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("POOL", "pool"),
                            ("VAULT", "vault"),
                            ("FEED", "price feed"),
                            ("GOVERNOR", "governor"),
                            ("RATE", "rate"),
                            ("DEBT_RATE", "borrowing rate"),
                            ("ASKED_RATE", "rate, asked each hour"),
                            ("ASKED_DEBT_RATE", "borrowing rate, asked each hour"),
                        ],
                        max_length=20,
                    ),
                ),
                ("topics", models.JSONField()),
                ("added_at", models.DateTimeField()),
                ("kept_from", models.DateTimeField(help_text="Nothing older is looked for")),
                ("logs", models.PositiveBigIntegerField(default=0, help_text="How many logs of it are kept")),
                ("manager", models.CharField(blank=True, max_length=42)),
                ("asked_at", models.DateTimeField(blank=True, null=True)),
                ("protocol", models.CharField(blank=True, max_length=40)),
                ("token", models.CharField(blank=True, max_length=42)),
            ],
            options={
                "verbose_name": "followed contract",
                "constraints": [
                    models.UniqueConstraint(fields=("chain_id", "address", "manager", "kind"), name="log_source_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="OutboxEvent",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("golem_id", models.UUIDField()),
                ("sequence", models.PositiveBigIntegerField()),
                ("type", models.CharField(max_length=48)),
                ("version", models.PositiveSmallIntegerField(default=1)),
                ("heartbeat_tick", models.PositiveBigIntegerField(default=0)),
                ("occurred_at", models.DateTimeField()),
                ("payload", models.JSONField(default=dict)),
                ("published_at", models.DateTimeField(blank=True, null=True)),
                ("position", models.PositiveBigIntegerField(blank=True, null=True, unique=True)),
            ],
            options={
                "verbose_name": "event",
                "indexes": [
                    models.Index(
                        condition=models.Q(("position__isnull", True)),
                        fields=["golem_id", "sequence"],
                        name="outbox_event_unplaced",
                    ),
                    models.Index(fields=["golem_id", "position"], name="outbox_event_by_golem"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("golem_id", "sequence"), name="outbox_event_one_per_sequence")
                ],
            },
        ),
        migrations.CreateModel(
            name="PositionSearch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.PositiveBigIntegerField()),
                ("account", models.CharField(max_length=42)),
                ("lowest", models.PositiveBigIntegerField(null=True)),
                ("highest", models.PositiveBigIntegerField(null=True)),
                ("looks", models.PositiveIntegerField(default=0)),
                ("found", models.PositiveIntegerField(default=0)),
                ("ended", models.CharField(blank=True, max_length=40)),
                ("next_look_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "search for positions",
                "verbose_name_plural": "searches for positions",
                "indexes": [models.Index(fields=["next_look_at"], name="position_search_due")],
                "constraints": [
                    models.UniqueConstraint(fields=("chain_id", "account"), name="position_search_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("highest__isnull", True), ("lowest__isnull", True)),
                            ("lowest__lte", models.F("highest")),
                            _connector="OR",
                        ),
                        name="position_search_in_order",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeenBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.PositiveBigIntegerField()),
                ("number", models.PositiveBigIntegerField()),
                ("hash", models.CharField(max_length=66)),
                ("time", models.DateTimeField()),
            ],
            options={
                "verbose_name": "seen block",
                "constraints": [models.UniqueConstraint(fields=("chain_id", "number"), name="seen_block_once")],
            },
        ),
        migrations.CreateModel(
            name="ShareMark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.PositiveBigIntegerField()),
                ("account", models.CharField(max_length=42)),
                ("token", models.CharField(max_length=42)),
                ("raw", models.CharField(max_length=78)),
                ("held", models.CharField(max_length=78)),
                ("at", models.PositiveBigIntegerField()),
            ],
            options={
                "verbose_name": "share mark",
                "constraints": [
                    models.UniqueConstraint(fields=("account", "chain_id", "token"), name="share_mark_once"),
                    models.CheckConstraint(
                        condition=models.Q(("held__regex", "^[1-9][0-9]*$"), ("raw__regex", "^[1-9][0-9]*$")),
                        name="share_mark_above_zero",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="StreamSubscription",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "subscription_id",
                    models.UUIDField(help_text="One id for the rows of all chains of one subscription"),
                ),
                ("golem_id", models.UUIDField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("POOL_EVENTS", "events of a pool"),
                            ("POOL_STATE", "state of a pool"),
                            ("POSITION_ALERTS", "alerts of a position"),
                            ("PRICE_FEED", "price of a pair"),
                            ("TRADES", "trades of a wallet"),
                            ("JAR", "contents and releases of a jar"),
                            ("NEW_POOLS", "pools that are made"),
                        ],
                        max_length=20,
                    ),
                ),
                ("chain_id", models.PositiveBigIntegerField()),
                ("params", models.JSONField(default=dict)),
                ("params_hash", models.CharField(max_length=66)),
                ("interval_ms", models.PositiveIntegerField()),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("end_reason", models.CharField(blank=True, max_length=100)),
                ("next_poll_at", models.DateTimeField()),
                ("version", models.PositiveBigIntegerField(default=0)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("trail", models.JSONField(default=list)),
                ("told", models.JSONField(default=list)),
                ("state", models.JSONField(default=dict)),
            ],
            options={
                "verbose_name": "stream subscription",
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=["next_poll_at"],
                        name="stream_subscription_due",
                    ),
                    models.Index(fields=["golem_id", "subscription_id"], name="stream_subscription_of_golem"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=("golem_id", "kind", "chain_id", "params_hash"),
                        name="stream_subscription_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("ended_at__isnull", True), models.Q(("end_reason", ""), _negated=True), _connector="OR"
                        ),
                        name="stream_subscription_ends_for_a_reason",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ToolCheckpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("golem_id", models.UUIDField()),
                ("tool_name", models.CharField(max_length=96)),
                ("params_hash", models.CharField(max_length=66)),
                ("data", models.JSONField(default=dict)),
                ("kept_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "tool checkpoint",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("golem_id", "tool_name", "params_hash"), name="tool_checkpoint_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ToolCooccurrence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("archetype", models.CharField(max_length=64)),
                ("first", models.CharField(max_length=96)),
                ("second", models.CharField(max_length=96)),
                ("together", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "verbose_name": "tool co-occurrence",
                "constraints": [
                    models.UniqueConstraint(fields=("archetype", "first", "second"), name="tool_cooccurrence_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="WasmModule",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("sha256", models.CharField(max_length=64)),
                ("content", models.BinaryField()),
                ("size", models.PositiveIntegerField()),
                ("imports", models.JSONField(default=list, help_text="Functions of the host it was seen to import")),
                ("uploaded_at", models.DateTimeField()),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="wasm_modules",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "module",
                "constraints": [models.UniqueConstraint(fields=("owner", "sha256"), name="wasm_module_once_per_owner")],
            },
        ),
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("list_name", models.CharField(max_length=100)),
                ("name", models.CharField(max_length=60)),
                ("params", models.JSONField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_filters",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=("person", "list_name", "name"), name="saved_filter_once_per_name")
                ],
            },
        ),
        migrations.CreateModel(
            name="ToolDefinition",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=64)),
                ("version", models.PositiveIntegerField()),
                ("definition_hash", models.CharField(max_length=66)),
                ("body", models.JSONField()),
                ("created_at", models.DateTimeField()),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tool_definitions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "module",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty for a tool that is a text alone",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="definitions",
                        to="tools_app.wasmmodule",
                    ),
                ),
            ],
            options={
                "verbose_name": "tool definition",
                "ordering": ["name", "-version"],
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "name", "version"), name="tool_definition_version_once"),
                    models.UniqueConstraint(fields=("owner", "definition_hash"), name="tool_definition_hash_once"),
                    models.CheckConstraint(
                        condition=models.Q(("version__gte", 1)), name="tool_definition_version_from_one"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LogGap",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("from_block", models.PositiveBigIntegerField()),
                ("to_block", models.PositiveBigIntegerField()),
                ("since_time", models.DateTimeField(blank=True, null=True)),
                ("until_time", models.DateTimeField()),
                ("until_hash", models.CharField(max_length=66)),
                ("because", models.CharField(max_length=100)),
                ("closed_because", models.CharField(blank=True, max_length=100)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="gaps", to="tools_app.logsource"
                    ),
                ),
            ],
            options={
                "verbose_name": "gap in a history",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("to_block__gte", models.F("from_block"))), name="log_gap_in_order"
                    ),
                    models.UniqueConstraint(fields=("source", "to_block"), name="log_gap_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="LogWish",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("wanted_by", models.CharField(max_length=42)),
                ("because", models.CharField(max_length=100)),
                ("renewed_at", models.DateTimeField()),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="wishes", to="tools_app.logsource"
                    ),
                ),
            ],
            options={
                "verbose_name": "wish to follow a contract",
                "indexes": [models.Index(fields=["wanted_by"], name="log_wish_by_whom")],
                "constraints": [models.UniqueConstraint(fields=("source", "wanted_by"), name="log_wish_once")],
            },
        ),
        migrations.CreateModel(
            name="PriceBar",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("span", models.CharField(choices=[("HOUR", "hour"), ("DAY", "day")], max_length=4)),
                ("starts_at", models.DateTimeField()),
                ("open_x192", models.DecimalField(decimal_places=0, max_digits=100, null=True)),
                ("high_x192", models.DecimalField(decimal_places=0, max_digits=100, null=True)),
                ("low_x192", models.DecimalField(decimal_places=0, max_digits=100, null=True)),
                ("close_x192", models.DecimalField(decimal_places=0, max_digits=100, null=True)),
                ("in0", models.DecimalField(decimal_places=0, max_digits=100)),
                ("in1", models.DecimalField(decimal_places=0, max_digits=100)),
                ("trades", models.PositiveIntegerField()),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="bars",
                        to="tools_app.logsource",
                    ),
                ),
            ],
            options={
                "verbose_name": "bar of prices",
                "constraints": [models.UniqueConstraint(fields=("source", "span", "starts_at"), name="price_bar_once")],
            },
        ),
        migrations.CreateModel(
            name="WasmRun",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("golem_id", models.UUIDField()),
                ("params_hash", models.CharField(max_length=66)),
                ("started_at", models.DateTimeField()),
                ("duration_ms", models.PositiveIntegerField()),
                ("fuel_used", models.PositiveBigIntegerField()),
                ("host_calls", models.JSONField(default=dict)),
                ("lines", models.JSONField(default=list, help_text="What it logged; data from outside")),
                ("error_code", models.CharField(blank=True, max_length=64)),
                ("error_detail", models.TextField(blank=True)),
                ("is_dry", models.BooleanField(default=False, help_text="Tried by its owner; its wishes are not kept")),
                (
                    "definition",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="tools_app.tooldefinition"
                    ),
                ),
            ],
            options={
                "verbose_name": "module call",
                "ordering": ["-started_at"],
                "indexes": [models.Index(fields=["golem_id", "started_at"], name="wasm_run_of_golem")],
            },
        ),
        migrations.CreateModel(
            name="ActionWish",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("golem_id", models.UUIDField()),
                ("action_type", models.CharField(max_length=64)),
                ("venue", models.CharField(blank=True, max_length=64)),
                ("params", models.JSONField(default=dict)),
                ("why", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                (
                    "definition",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="wishes",
                        to="tools_app.tooldefinition",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="wishes", to="tools_app.wasmrun"
                    ),
                ),
            ],
            options={
                "verbose_name": "wish of a module",
                "indexes": [models.Index(fields=["golem_id", "created_at"], name="action_wish_of_golem")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("created_at"))), name="action_wish_ends"
                    )
                ],
            },
        ),
        migrations.RunSQL(_RULES, _NO_RULES),
        migrations.RunSQL(
            "INSERT INTO tools_app_eventhead (id, log_id, position) VALUES (1, gen_random_uuid(), 0)",
            migrations.RunSQL.noop,
        ),
    ]
