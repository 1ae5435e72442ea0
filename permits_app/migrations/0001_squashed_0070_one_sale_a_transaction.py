"""The tables of permits_app as version 0.2.0 has them, for a new database. One that is older goes its own way through
the migrations that this one replaces.
"""

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import permits_app.models.spending
import uuid
from django.conf import settings
from django.db import migrations, models


# What of a row is never changed, and what the database itself checks.
_RULES = """
CREATE FUNCTION check_outbound_payload() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM permits_app_outboundtransaction AS other
         WHERE other.chain_id = NEW.chain_id AND other.sender = NEW.sender AND other.nonce = NEW.nonce
           AND NOT (
                NEW.purpose = 'FILL'
                OR (other.purpose = 'CALL' AND other.permit_id = NEW.permit_id
                    AND other.action_digest = NEW.action_digest AND NEW.action_digest <> '')
           )
    ) THEN
        RAISE EXCEPTION 'nonce % of % already carries another action', NEW.nonce, NEW.sender
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'outbound_one_action_per_nonce';
    END IF;
    RETURN NEW;
END;
$$;
CREATE FUNCTION refuse_outbound_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'signed bytes are never changed' USING ERRCODE = 'check_violation';
END;
$$;
CREATE FUNCTION refuse_decision_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of % is never changed', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END;
$$;
CREATE FUNCTION refuse_change_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was asked for is never rewritten' USING ERRCODE = 'check_violation';
END;
$$;
CREATE FUNCTION check_owner_signed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.verdict = 'APPROVE'
        AND EXISTS (SELECT 1 FROM permits_app_ownertransaction WHERE request_id = NEW.request_id)
        AND NOT EXISTS (
            SELECT 1 FROM permits_app_ownersignature AS given
              JOIN permits_app_ownertransaction AS asked ON asked.id = given.transaction_id
             WHERE asked.request_id = NEW.request_id AND given.given_by_id = NEW.owner_id)
    THEN
        RAISE EXCEPTION 'a change on chain is approved with the owner''s own signature'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'owner_approves_with_signature';
    END IF;
    RETURN NEW;
END;
$$;
CREATE FUNCTION refuse_ledger_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a row of % says is never rewritten', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END;
$$;
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
CREATE FUNCTION check_owner_decision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE asked permits_app_changerequest%ROWTYPE;
BEGIN
    SELECT * INTO asked FROM permits_app_changerequest WHERE id = NEW.request_id;
    IF NEW.verdict = 'APPROVE' AND NEW.owner_id IN (
        asked.barred_owner_id, CASE WHEN asked.needs_second_factor THEN asked.asked_by_id END
    ) AND EXISTS (
        SELECT FROM auth_user AS person
         WHERE person.is_active AND person.id <> NEW.owner_id AND (
            EXISTS (SELECT FROM archetypes_app_golem WHERE id = asked.golem_id AND owner_id = person.id)
            OR EXISTS (SELECT FROM archetypes_app_golem_co_owners
                        WHERE golem_id = asked.golem_id AND user_id = person.id)
            OR EXISTS (SELECT FROM archetypes_app_golemmember
                        WHERE golem_id = asked.golem_id AND person_id = person.id
                          AND role IN ('APPROVER', 'ADMINISTRATOR')))
    ) THEN
        RAISE EXCEPTION 'who asked for a change does not approve it'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'owner_never_approves_own';
    END IF;
    IF NEW.verdict = 'APPROVE' AND asked.needs_second_factor AND NOT NEW.has_second_factor THEN
        RAISE EXCEPTION 'this change is approved with a second factor only'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'owner_approves_with_second_factor';
    END IF;
    IF NEW.digest <> asked.digest THEN
        RAISE EXCEPTION 'the decision is about something else'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'owner_decides_what_was_shown';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER outbound_one_action_per_nonce BEFORE INSERT ON permits_app_outboundtransaction
    FOR EACH ROW EXECUTE FUNCTION check_outbound_payload();
CREATE TRIGGER change_execution_append_only BEFORE UPDATE OR DELETE ON permits_app_changeexecution
    FOR EACH ROW EXECUTE FUNCTION refuse_decision_change();
CREATE TRIGGER policy_version_append_only BEFORE UPDATE ON permits_app_policyversion
    FOR EACH ROW EXECUTE FUNCTION refuse_decision_change();
CREATE TRIGGER owner_decision_checked BEFORE INSERT ON permits_app_ownerapproval
    FOR EACH ROW EXECUTE FUNCTION check_owner_decision();
CREATE TRIGGER change_request_stays BEFORE UPDATE ON permits_app_changerequest
    FOR EACH ROW WHEN (
        (OLD.golem_id, OLD.kind, OLD.risk_tier, OLD.permit_id, OLD.asked_by_id, OLD.barred_owner_id,
         OLD.is_single_owner, OLD.change, OLD.shown, OLD.plan_hash, OLD.policy_hash, OLD.digest,
         OLD.required_approvals, OLD.needs_second_factor, OLD.cooling_seconds)
        IS DISTINCT FROM
        (NEW.golem_id, NEW.kind, NEW.risk_tier, NEW.permit_id, NEW.asked_by_id, NEW.barred_owner_id,
         NEW.is_single_owner, NEW.change, NEW.shown, NEW.plan_hash, NEW.policy_hash, NEW.digest,
         NEW.required_approvals, NEW.needs_second_factor, NEW.cooling_seconds)
    ) EXECUTE FUNCTION refuse_change_rewrite();
CREATE TRIGGER owner_signature_append_only BEFORE UPDATE OR DELETE ON permits_app_ownersignature
    FOR EACH ROW EXECUTE FUNCTION refuse_decision_change();
CREATE TRIGGER relayed_transaction_stays BEFORE UPDATE ON permits_app_relayedtransaction
    FOR EACH ROW WHEN (
        (OLD.owner_transaction_id, OLD.purpose, OLD.chain_id, OLD.sender, OLD.nonce, OLD."to", OLD.data, OLD.raw,
         OLD.tx_hash)
        IS DISTINCT FROM
        (NEW.owner_transaction_id, NEW.purpose, NEW.chain_id, NEW.sender, NEW.nonce, NEW."to", NEW.data, NEW.raw,
         NEW.tx_hash)
    ) EXECUTE FUNCTION refuse_change_rewrite();
CREATE TRIGGER owner_decision_signed BEFORE INSERT ON permits_app_ownerapproval
    FOR EACH ROW EXECUTE FUNCTION check_owner_signed();
CREATE TRIGGER owner_transaction_stays BEFORE UPDATE ON permits_app_ownertransaction
    FOR EACH ROW WHEN (
        (OLD.request_id, OLD.chain_id, OLD.safe, OLD.safe_nonce, OLD."to", OLD.value_wei, OLD.data,
         OLD.safe_tx_hash, OLD.operation, OLD.own_key)
        IS DISTINCT FROM
        (NEW.request_id, NEW.chain_id, NEW.safe, NEW.safe_nonce, NEW."to", NEW.value_wei, NEW.data,
         NEW.safe_tx_hash, NEW.operation, NEW.own_key)
    ) EXECUTE FUNCTION refuse_change_rewrite();
CREATE TRIGGER outbound_bytes_stay BEFORE UPDATE ON permits_app_outboundtransaction
    FOR EACH ROW WHEN (
        (OLD.chain_id, OLD.sender, OLD.nonce, OLD."to", OLD.value_wei, OLD.raw, OLD.tx_hash, OLD.purpose,
         OLD.action_digest, OLD.gas_limit, OLD.max_fee_per_gas, OLD.max_priority_fee_per_gas,
          OLD.entry_point, OLD.signed_at_block, OLD.permit_id, OLD.call_index)
        IS DISTINCT FROM
        (NEW.chain_id, NEW.sender, NEW.nonce, NEW."to", NEW.value_wei, NEW.raw, NEW.tx_hash, NEW.purpose,
         NEW.action_digest, NEW.gas_limit, NEW.max_fee_per_gas, NEW.max_priority_fee_per_gas,
          NEW.entry_point, NEW.signed_at_block, NEW.permit_id, NEW.call_index)
    ) EXECUTE FUNCTION refuse_outbound_change();
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
CREATE TRIGGER spend_correction_checked BEFORE INSERT ON permits_app_spendentry
    FOR EACH ROW WHEN (NEW.life > 1 OR NEW.reverses_id IS NOT NULL) EXECUTE FUNCTION check_spend_correction();
CREATE TRIGGER owner_decision_append_only BEFORE DELETE ON permits_app_ownerapproval
    FOR EACH ROW EXECUTE FUNCTION refuse_decision_change();
CREATE TRIGGER owner_decision_stays BEFORE UPDATE ON permits_app_ownerapproval
    FOR EACH ROW WHEN (
        OLD.ended_at IS NOT NULL
        OR (OLD.id, OLD.request_id, OLD.owner_id, OLD.verdict, OLD.reason, OLD.digest, OLD.has_second_factor,
            OLD.decided_at)
        IS DISTINCT FROM
           (NEW.id, NEW.request_id, NEW.owner_id, NEW.verdict, NEW.reason, NEW.digest, NEW.has_second_factor,
            NEW.decided_at)
    ) EXECUTE FUNCTION refuse_decision_change();
"""
_NO_RULES = """
DROP TRIGGER owner_decision_stays ON permits_app_ownerapproval;
DROP TRIGGER owner_decision_append_only ON permits_app_ownerapproval;
DROP TRIGGER spend_correction_checked ON permits_app_spendentry;
DROP TRIGGER outcome_stays ON permits_app_outcomerecord;
DROP TRIGGER spend_entry_stays ON permits_app_spendentry;
DROP TRIGGER outbound_bytes_stay ON permits_app_outboundtransaction;
DROP TRIGGER owner_transaction_stays ON permits_app_ownertransaction;
DROP TRIGGER owner_decision_signed ON permits_app_ownerapproval;
DROP TRIGGER relayed_transaction_stays ON permits_app_relayedtransaction;
DROP TRIGGER owner_signature_append_only ON permits_app_ownersignature;
DROP TRIGGER change_request_stays ON permits_app_changerequest;
DROP TRIGGER owner_decision_checked ON permits_app_ownerapproval;
DROP TRIGGER policy_version_append_only ON permits_app_policyversion;
DROP TRIGGER change_execution_append_only ON permits_app_changeexecution;
DROP TRIGGER outbound_one_action_per_nonce ON permits_app_outboundtransaction;
DROP FUNCTION check_owner_decision();
DROP FUNCTION check_spend_correction();
DROP FUNCTION refuse_ledger_rewrite();
DROP FUNCTION check_owner_signed();
DROP FUNCTION refuse_change_rewrite();
DROP FUNCTION refuse_decision_change();
DROP FUNCTION refuse_outbound_change();
DROP FUNCTION check_outbound_payload();
"""


class Migration(migrations.Migration):
    replaces = [
        ("permits_app", "0001_initial"),
        ("permits_app", "0002_transaction_lives"),
        ("permits_app", "0003_payload_rules"),
        ("permits_app", "0004_halt_records"),
        ("permits_app", "0005_code_marks_and_gate"),
        ("permits_app", "0006_action_records"),
        ("permits_app", "0007_change_requests"),
        ("permits_app", "0008_halt_setting"),
        ("permits_app", "0009_venue_trust"),
        ("permits_app", "0010_denied_calls"),
        ("permits_app", "0011_cage_mirror"),
        ("permits_app", "0012_owner_transactions"),
        ("permits_app", "0013_signers_and_safes"),
        ("permits_app", "0014_waiting_actions"),
        ("permits_app", "0015_signing_key_asked_at"),
        ("permits_app", "0016_preview_indexes"),
        ("permits_app", "0017_owners_sign_plans"),
        ("permits_app", "0018_judged_facts"),
        ("permits_app", "0019_user_operations"),
        ("permits_app", "0020_policy_trials"),
        ("permits_app", "0021_an_operation_stays_one"),
        ("permits_app", "0022_standing_allowances"),
        ("permits_app", "0023_chain_watches"),
        ("permits_app", "0024_what_left_the_chain"),
        ("permits_app", "0025_outcomes_that_balances_show"),
        ("permits_app", "0026_health_floor"),
        ("permits_app", "0027_corrected_by_new_rows"),
        ("permits_app", "0028_pending_requests"),
        ("permits_app", "0029_net_asset_values"),
        ("permits_app", "0030_told_holdings"),
        ("permits_app", "0031_sell_on_halt"),
        ("permits_app", "0032_bound_code"),
        ("permits_app", "0033_signed_promises"),
        ("permits_app", "0034_permits_of_wishes"),
        ("permits_app", "0035_marks_that_follow"),
        ("permits_app", "0036_grants_know_policy_and_tick"),
        ("permits_app", "0037_deaths"),
        ("permits_app", "0038_address_book"),
        ("permits_app", "0039_passkeys"),
        ("permits_app", "0040_contract_before"),
        ("permits_app", "0041_safe_watch"),
        ("permits_app", "0042_outcomes_by_time"),
        ("permits_app", "0043_refused_and_passed_payloads"),
        ("permits_app", "0044_what_is_beside_a_permit"),
        ("permits_app", "0045_safe_of_a_wallet"),
        ("permits_app", "0046_least_range"),
        ("permits_app", "0047_approvals_that_end"),
        ("permits_app", "0048_outcomes_of_approved_actions"),
        ("permits_app", "0049_marks_know_their_account"),
        ("permits_app", "0050_safe_opening"),
        ("permits_app", "0051_received_rights"),
        ("permits_app", "0052_standing_orders"),
        ("permits_app", "0053_requests_name_two_chains"),
        ("permits_app", "0054_promises_handed_in"),
        ("permits_app", "0055_allowed_hooks"),
        ("permits_app", "0056_rights_received_are_followed"),
        ("permits_app", "0057_health_alerts"),
        ("permits_app", "0058_owner_budget"),
        ("permits_app", "0059_delegated_keys"),
        ("permits_app", "0060_nonces_without_bytes"),
        ("permits_app", "0061_caps_by_issuer_bridge_and_oracle"),
        ("permits_app", "0062_withdrawals"),
        ("permits_app", "0063_reads_of_a_long_life"),
        ("permits_app", "0064_slashes_of_a_look"),
        ("permits_app", "0065_declared_pegs"),
        ("permits_app", "0066_what_others_took"),
        ("permits_app", "0067_filled_promises_of_a_month"),
        ("permits_app", "0068_what_is_signed_once"),
        ("permits_app", "0069_sold_answers"),
        ("permits_app", "0070_one_sale_a_transaction"),
    ]

    initial = True

    dependencies = [
        ("archetypes_app", "0001_squashed_0024_rules_stand_in"),
        ("auth", "0012_alter_user_first_name_max_length"),
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
        migrations.CreateModel(
            name="ChainWatch",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ("owner", models.CharField(blank=True, max_length=64)),
                ("lease_expires_at", models.DateTimeField(blank=True, null=True)),
                (
                    "looked_at",
                    models.DateTimeField(blank=True, help_text="When the follower last looked, seen or not", null=True),
                ),
                ("head", models.PositiveBigIntegerField(blank=True, help_text="The newest block it saw", null=True)),
                (
                    "failing_since",
                    models.DateTimeField(
                        blank=True,
                        help_text="Since when the node has answered none of the follower's questions",
                        null=True,
                    ),
                ),
                ("error_code", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "verbose_name": "chain watch",
                "verbose_name_plural": "chain watches",
            },
        ),
        migrations.CreateModel(
            name="ActionPermit",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("CREATED", "Created"),
                            ("COMMITTING", "Committing"),
                            ("COMMITTED", "Committed"),
                            ("REVERTED", "Reverted"),
                            ("UNKNOWN", "Unknown"),
                            ("EXPIRED", "Expired"),
                            ("CANCELLED", "Cancelled"),
                            ("BLOCKED", "Blocked"),
                            ("AWAITING_APPROVAL", "Awaiting approval"),
                            ("ANNOUNCED", "Announced"),
                        ],
                        default="CREATED",
                        max_length=20,
                    ),
                ),
                ("status_reason", models.TextField(blank=True)),
                ("tool_name", models.CharField(max_length=96)),
                ("schema_version", models.PositiveIntegerField(default=1)),
                ("action_type", models.CharField(max_length=64)),
                ("venue", models.CharField(max_length=64)),
                ("chain_id", models.PositiveBigIntegerField()),
                ("params", models.JSONField(default=dict, help_text="Validated parameters of the tool")),
                (
                    "action_hash",
                    models.CharField(help_text="Golem, tool and parameters: finds an equal action", max_length=66),
                ),
                (
                    "action_class",
                    models.CharField(
                        choices=[
                            ("NEW_POSITION", "NEW_POSITION"),
                            ("INCREASE_POSITION", "INCREASE_POSITION"),
                            ("REBALANCE", "REBALANCE"),
                            ("DECREASE_POSITION", "DECREASE_POSITION"),
                            ("CLOSE_POSITION", "CLOSE_POSITION"),
                            ("READ_ONLY", "READ_ONLY"),
                        ],
                        max_length=24,
                    ),
                ),
                (
                    "risk_tier",
                    models.CharField(
                        choices=[
                            ("ROUTINE", "ROUTINE"),
                            ("STANDARD", "STANDARD"),
                            ("ELEVATED", "ELEVATED"),
                            ("HIGH", "HIGH"),
                            ("CRITICAL", "CRITICAL"),
                        ],
                        max_length=16,
                    ),
                ),
                ("is_local", models.BooleanField(default=False, help_text="A write without a transaction")),
                ("signer", models.CharField(blank=True, max_length=42)),
                (
                    "calls",
                    models.JSONField(
                        default=list, help_text="to, data, value, gas_limit, label of each call, as they will be signed"
                    ),
                ),
                ("max_fee_per_gas", models.CharField(default="0", help_text="Wei per gas", max_length=78)),
                ("max_priority_fee_per_gas", models.CharField(default="0", help_text="Wei per gas", max_length=78)),
                (
                    "bounds",
                    models.JSONField(
                        default=dict, help_text="Most spent, least received, allowances left, contracts touched"
                    ),
                ),
                ("expected_outcome", models.JSONField(default=dict)),
                ("value_micro_usd", models.BigIntegerField(default=0)),
                ("prices", models.JSONField(default=list, help_text="Feed, round, answer and age of every price used")),
                ("simulation", models.JSONField(default=dict)),
                ("block_number", models.PositiveBigIntegerField(default=0)),
                ("block_hash", models.CharField(blank=True, max_length=66)),
                ("plan_hash", models.CharField(max_length=66)),
                ("simulation_hash", models.CharField(blank=True, max_length=66)),
                ("policy_hash", models.CharField(max_length=66)),
                ("hook_decisions", models.JSONField(default=list)),
                ("review", models.JSONField(default=dict)),
                (
                    "soft_params",
                    models.JSONField(default=dict, help_text="What memory changed, and the episodes behind it"),
                ),
                ("expires_at", models.DateTimeField()),
                ("expires_at_tick", models.PositiveBigIntegerField(default=0)),
                ("committing_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("lease_owner", models.CharField(blank=True, max_length=64)),
                ("lease_expires_at", models.DateTimeField(blank=True, null=True)),
                ("result", models.JSONField(default=dict)),
                ("problem", models.JSONField(default=dict)),
                ("owner_note", models.TextField(blank=True)),
                (
                    "api_key",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="permits",
                        to="archetypes_app.apikey",
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="permits", to="archetypes_app.golem"
                    ),
                ),
                (
                    "halt_epoch",
                    models.PositiveBigIntegerField(
                        blank=True,
                        help_text="Set on the runtime's own revocation under the halt of this epoch",
                        null=True,
                    ),
                ),
                (
                    "acts_for",
                    models.CharField(
                        blank=True,
                        help_text="The account whose funds move, when it is not the signer's own",
                        max_length=42,
                    ),
                ),
                (
                    "batch",
                    models.JSONField(
                        default=list,
                        help_text="The plan's calls from the account, when `calls` is the one that carries them",
                    ),
                ),
                (
                    "owner_signatures",
                    models.TextField(
                        blank=True,
                        help_text="What the Safe's owners signed, 0x-hex; it goes into the call that is sent",
                    ),
                ),
                (
                    "facts",
                    models.JSONField(
                        default=dict, help_text="What hooks 1 to 4 looked at; empty in rows before that was kept"
                    ),
                ),
                (
                    "doubted_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Since when its receipts and the balances of their blocks contradict each other",
                        null=True,
                    ),
                ),
                (
                    "code",
                    models.JSONField(
                        default=dict,
                        help_text="Hashes of the code behind every contract it touches; a commit refuses other code",
                    ),
                ),
                (
                    "wished_by",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="The wish of an owner's module that this carries out; empty for an agent's own",
                    ),
                ),
                (
                    "cancel_asked_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When it was given up although it was signed: no node had taken it by then",
                        null=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "action permit",
                "indexes": [
                    models.Index(fields=["golem", "-created_at"], name="permit_by_golem"),
                    models.Index(
                        condition=models.Q(("status__in", ["COMMITTING", "UNKNOWN"])),
                        fields=["status", "lease_expires_at"],
                        name="permit_unfinished",
                    ),
                    models.Index(
                        condition=models.Q(("status", "CREATED")), fields=["expires_at"], name="permit_lapsing"
                    ),
                    models.Index(
                        condition=models.Q(("status__in", ["COMMITTING", "UNKNOWN", "AWAITING_APPROVAL"])),
                        fields=["golem", "action_hash"],
                        name="permit_equal_open",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("status__in", ["CREATED", "COMMITTING", "COMMITTED", "REVERTED", "UNKNOWN"])
                        ),
                        fields=["golem", "created_at"],
                        name="permit_writes",
                    ),
                    models.Index(
                        condition=models.Q(("is_local", False), ("status__in", ["COMMITTED", "REVERTED"])),
                        fields=["golem", "venue", "chain_id", "finished_at"],
                        name="permit_outcomes_of_venue",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("status__in", ["CREATED", "AWAITING_APPROVAL", "ANNOUNCED", "COMMITTING", "UNKNOWN"])
                        ),
                        fields=["golem"],
                        name="permit_beside",
                    ),
                    models.Index(
                        condition=models.Q(("status__in", ["COMMITTED", "REVERTED"])),
                        fields=["golem", "finished_at"],
                        name="permit_ended",
                    ),
                    models.Index(
                        condition=models.Q(("status__in", ["COMMITTED", "REVERTED"])),
                        fields=["golem", "expires_at_tick"],
                        name="permit_ended_by_tick",
                    ),
                    models.Index(fields=["-created_at", "-id"], name="permit_newest"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("value_micro_usd__gte", 0)), name="permit_value_not_negative"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ["COMMITTING", "UNKNOWN"])),
                        fields=("golem", "action_hash"),
                        name="permit_equal_action_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AllowlistEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("TOKEN", "Token"),
                            ("CONTRACT", "Contract it may call"),
                            ("SPENDER", "Spender it may approve"),
                            ("RECIPIENT", "Address it may pay"),
                            ("HOOK", "Hook of pools it may use"),
                        ],
                        max_length=16,
                    ),
                ),
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
                ("label", models.CharField(blank=True, max_length=64)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="allowlist", to="archetypes_app.golem"
                    ),
                ),
            ],
            options={
                "verbose_name": "allowlist entry",
                "verbose_name_plural": "allowlist entries",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("golem", "chain_id", "kind", "address"), name="allowlist_entry_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Death",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("ANNOUNCED", "Announced"),
                            ("UNDER_WAY", "Under way"),
                            ("RETIRED", "Retired"),
                            ("STOPPED", "Stopped by an owner"),
                        ],
                        default="ANNOUNCED",
                        max_length=9,
                    ),
                ),
                ("reason", models.TextField()),
                ("actor", models.CharField(max_length=128)),
                ("announced_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(help_text="Until then nothing happens, and an owner may stop it")),
                ("halt_epoch", models.PositiveBigIntegerField(blank=True, null=True)),
                (
                    "left",
                    models.JSONField(
                        default=list, help_text="Positions that only an owner gets out, as they were last told"
                    ),
                ),
                (
                    "export_file",
                    models.CharField(blank=True, help_text="The last export of its memory", max_length=255),
                ),
                ("export_sha256", models.CharField(blank=True, max_length=64)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("ended_by", models.CharField(blank=True, max_length=128)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="deaths", to="archetypes_app.golem"
                    ),
                ),
            ],
            options={
                "verbose_name": "death",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("ANNOUNCED", "UNDER_WAY"))),
                        fields=("golem",),
                        name="death_one_open_per_golem",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("due_at__gte", models.F("announced_at"))), name="death_due_when_announced"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("state__in", ("ANNOUNCED", "UNDER_WAY"))),
                            models.Q(
                                ("ended_at__isnull", False),
                                models.Q(("state__in", ("ANNOUNCED", "UNDER_WAY")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="death_ended_has_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DeclaredPeg",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField(verbose_name="chain")),
                (
                    "token",
                    models.CharField(
                        help_text="The token's address",
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                ("name", models.CharField(help_text="How alerts call it", max_length=32)),
                ("stands_for", models.CharField(choices=[("USD", "A US dollar"), ("ETH", "An ether")], max_length=3)),
                (
                    "most_apart_bps",
                    models.PositiveIntegerField(
                        default=200,
                        help_text="Basis points from what it stands for; further away it has left its peg",
                        validators=[
                            django.core.validators.MinValueValidator(10),
                            django.core.validators.MaxValueValidator(5000),
                        ],
                        verbose_name="furthest away",
                    ),
                ),
                ("source", models.CharField(help_text="Who says that it stands for that, and where", max_length=200)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="declared_pegs",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "declared peg",
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "chain_id", "token"), name="declared_peg_once"),
                    models.CheckConstraint(
                        condition=models.Q(("most_apart_bps__gte", 10), ("most_apart_bps__lte", 5000)),
                        name="declared_peg_within_half",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DeniedCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("denied_at", models.DateTimeField()),
                ("tool_name", models.CharField(max_length=96)),
                ("action_type", models.CharField(max_length=64)),
                ("venue", models.CharField(max_length=64)),
                ("chain_id", models.PositiveBigIntegerField()),
                ("action_class", models.CharField(max_length=24)),
                ("signer", models.CharField(blank=True, max_length=42)),
                ("calls", models.JSONField(default=list)),
                ("bounds", models.JSONField(default=dict)),
                (
                    "value_micro_usd",
                    models.BigIntegerField(default=0, help_text="The most it could spend, gas not included"),
                ),
                ("counts_per_day", models.BooleanField(default=True)),
                ("code", models.CharField(max_length=64)),
                ("rule", models.CharField(blank=True, max_length=96)),
                ("detail", models.TextField(blank=True)),
                (
                    "api_key",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="archetypes_app.apikey",
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="denied_calls",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "facts",
                    models.JSONField(
                        default=dict, help_text="What hooks 1 to 4 looked at; empty in rows before that was kept"
                    ),
                ),
            ],
            options={
                "verbose_name": "denied call",
                "indexes": [models.Index(fields=["golem", "-denied_at"], name="denied_call_by_golem")],
            },
        ),
        migrations.CreateModel(
            name="FormerAccount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.PositiveBigIntegerField()),
                ("address", models.CharField(max_length=42)),
                ("kind", models.CharField(max_length=20)),
                (
                    "held_micro_usd",
                    models.BigIntegerField(help_text="Worth when it was left; empty: it was not measured", null=True),
                ),
                ("left_at", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="former_accounts",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "former account",
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "chain_id", "address"), name="former_account_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="HaltRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.PositiveBigIntegerField()),
                ("reason", models.TextField()),
                ("actor", models.CharField(max_length=128)),
                ("started_at", models.DateTimeField()),
                (
                    "completed_at",
                    models.DateTimeField(blank=True, help_text="When the steps on the chain were done", null=True),
                ),
                ("steps", models.JSONField(default=list)),
                ("dropped_scopes", models.JSONField(default=dict, help_text="API key id to the scopes it lost")),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="halts", to="archetypes_app.golem"
                    ),
                ),
            ],
            options={
                "verbose_name": "halt",
                "constraints": [models.UniqueConstraint(fields=("golem", "epoch"), name="halt_once_per_epoch")],
            },
        ),
        migrations.CreateModel(
            name="HaltSetting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "unwind_on_halt",
                    models.BooleanField(
                        default=False,
                        help_text="A halt takes what the golem has at protocols back into its wallet",
                        verbose_name="unwind positions",
                    ),
                ),
                (
                    "golem",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="halt_setting",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "sell_on_halt",
                    models.BooleanField(
                        default=False,
                        help_text="Where a debt's token is missing, a halt that unwinds sells what is held, or the loan's collateral",
                        verbose_name="sell to pay debts",
                    ),
                ),
            ],
            options={
                "verbose_name": "halt setting",
            },
        ),
        migrations.CreateModel(
            name="HealthAlert",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("protocol", models.CharField(max_length=64)),
                ("chain_id", models.PositiveBigIntegerField()),
                (
                    "min_health_bps",
                    models.PositiveIntegerField(help_text="Basis points of a health factor; at 10,000 is liquidation"),
                ),
                (
                    "notify_on_breach",
                    models.BooleanField(default=True, help_text="Tell the owner once the health is below"),
                ),
                (
                    "auto_action",
                    models.CharField(
                        choices=[
                            ("NONE", "Only tell"),
                            ("DELEVERAGE", "Lower the debt"),
                            ("CLOSE", "Leave the position"),
                        ],
                        default="NONE",
                        help_text="What the heartbeat does below, where it acts at all",
                        max_length=10,
                    ),
                ),
                (
                    "last_triggered_at",
                    models.DateTimeField(blank=True, help_text="When a tick last found a debt below", null=True),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="health_alerts",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "health alert",
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "protocol", "chain_id"), name="health_alert_once"),
                    models.CheckConstraint(
                        condition=models.Q(("min_health_bps__gt", 10000), ("min_health_bps__lte", 1000000)),
                        name="health_alert_above_liquidation",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HighWaterMark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("value_micro_usd", models.BigIntegerField()),
                ("reached_at", models.DateTimeField(help_text="When the holdings were last worth so much")),
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
                ("later", models.JSONField(blank=True, default=list)),
                (
                    "account",
                    models.CharField(
                        blank=True,
                        help_text="Whose holdings it is of; another account of the golem has another mark",
                        max_length=42,
                    ),
                ),
            ],
            options={
                "verbose_name": "high-water mark",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("value_micro_usd__gte", 0)), name="high_water_mark_not_negative"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="IdempotencyRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=200)),
                ("request_digest", models.CharField(help_text="SHA-256 of method, path and body", max_length=66)),
                ("claim", models.CharField(help_text="Names the request that holds the lock", max_length=32)),
                ("locked_until", models.DateTimeField()),
                ("status", models.PositiveSmallIntegerField(default=0, help_text="HTTP status of the first answer")),
                ("headers", models.JSONField(default=dict)),
                ("body", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(db_index=True)),
                (
                    "api_key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="archetypes_app.apikey"
                    ),
                ),
            ],
            options={
                "verbose_name": "idempotency record",
                "constraints": [models.UniqueConstraint(fields=("api_key", "key"), name="idempotency_key_once")],
            },
        ),
        migrations.CreateModel(
            name="KnownAddress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "chain_id",
                    models.PositiveBigIntegerField(
                        blank=True, help_text="Empty: the same account on every chain", null=True, verbose_name="chain"
                    ),
                ),
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
                ("name", models.CharField(help_text="How pages call it", max_length=48)),
                ("note", models.CharField(blank=True, help_text="Who it is, and how you know", max_length=300)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="address_book",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "named address",
                "verbose_name_plural": "address book",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner", "chain_id", "address"), name="known_address_once", nulls_distinct=False
                    ),
                    models.UniqueConstraint(
                        models.F("owner"),
                        models.F("chain_id"),
                        django.db.models.functions.text.Lower("name"),
                        name="known_address_one_per_name",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
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
            options={
                "verbose_name": "known contract",
                "constraints": [models.UniqueConstraint(fields=("chain_id", "address"), name="known_contract_once")],
            },
        ),
        migrations.CreateModel(
            name="NavSnapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(help_text="When it was measured")),
                ("chain_id", models.PositiveBigIntegerField()),
                ("block_number", models.PositiveBigIntegerField()),
                (
                    "value_micro_usd",
                    models.BigIntegerField(help_text="Tokens and positions at the feeds, what is owed subtracted"),
                ),
                ("debt_micro_usd", models.BigIntegerField(default=0)),
                ("parts", models.JSONField(default=dict)),
                ("state", models.JSONField(default=dict)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="nav_snapshots",
                        to="archetypes_app.golem",
                    ),
                ),
                ("holdings", models.JSONField(default=dict)),
                ("slashes", models.JSONField(default=list)),
            ],
            options={
                "verbose_name": "net asset value",
                "verbose_name_plural": "net asset values",
                "indexes": [models.Index(fields=["golem", "-at"], name="nav_snapshot_newest")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("golem", "chain_id", "block_number"), name="nav_snapshot_once_a_block"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("debt_micro_usd__gte", 0)), name="nav_snapshot_debt_not_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NonceCursor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField()),
                ("address", models.CharField(max_length=42)),
                ("next_nonce", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "verbose_name": "nonce cursor",
                "constraints": [models.UniqueConstraint(fields=("chain_id", "address"), name="nonce_cursor_once")],
            },
        ),
        migrations.CreateModel(
            name="OwnerBudget",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="golem_budget",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("per_day_micro_usd", models.BigIntegerField(help_text="Rolling 24 h, over all golems of the person")),
            ],
            options={
                "verbose_name": "budget of an owner",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("per_day_micro_usd__gte", 0)), name="owner_budget_not_negative"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Passkey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="The human-readable name of this device.", max_length=64)),
                ("confirmed", models.BooleanField(default=True, help_text="Is this device ready for use?")),
                (
                    "throttling_failure_timestamp",
                    models.DateTimeField(
                        blank=True,
                        default=None,
                        help_text="A timestamp of the last failed verification attempt. Null if last attempt succeeded.",
                        null=True,
                    ),
                ),
                (
                    "throttling_failure_count",
                    models.PositiveIntegerField(default=0, help_text="Number of successive failed attempts."),
                ),
                ("credential_id", models.BinaryField(max_length=1023)),
                ("public_key", models.BinaryField(help_text="COSE")),
                (
                    "sign_count",
                    models.PositiveBigIntegerField(help_text="Of the last answer; 0 where it does not count"),
                ),
                ("added_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "suspected_at",
                    models.DateTimeField(blank=True, help_text="Its counter went back: it may be a copy", null=True),
                ),
                (
                    "user",
                    models.ForeignKey(
                        help_text="The user that this device belongs to.",
                        on_delete=django.db.models.deletion.CASCADE,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["added_at", "pk"],
                "constraints": [models.UniqueConstraint(fields=("credential_id",), name="passkey_credential_once")],
            },
        ),
        migrations.CreateModel(
            name="PasskeyChallenge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("challenge", models.BinaryField(max_length=64)),
                ("session_hash", models.CharField(help_text="SHA-256 of the session's key, hex", max_length=64)),
                ("action", models.CharField(max_length=160)),
                ("expires_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["expires_at"], name="passkey_challenge_ends")],
                "constraints": [models.UniqueConstraint(fields=("challenge",), name="passkey_challenge_once")],
            },
        ),
        migrations.CreateModel(
            name="PolicyCage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("max_assets", models.PositiveIntegerField(default=10, help_text="Approved assets at most")),
                (
                    "max_position_bps",
                    models.PositiveIntegerField(
                        default=2500,
                        help_text="One venue position, basis points of the portfolio",
                        validators=[django.core.validators.MaxValueValidator(10000)],
                    ),
                ),
                (
                    "max_concentration_bps",
                    models.PositiveIntegerField(
                        default=3000,
                        help_text="One asset other than the base asset, basis points of the portfolio",
                        validators=[
                            django.core.validators.MinValueValidator(500),
                            django.core.validators.MaxValueValidator(10000),
                        ],
                    ),
                ),
                (
                    "max_drawdown_bps",
                    models.PositiveIntegerField(
                        default=1300,
                        help_text="From the high-water mark within 24 h, basis points",
                        validators=[
                            django.core.validators.MinValueValidator(100),
                            django.core.validators.MaxValueValidator(5000),
                        ],
                    ),
                ),
                ("min_rebalance_interval_seconds", models.PositiveIntegerField(default=3600)),
                ("max_rebalances_per_day", models.PositiveIntegerField(default=24)),
                (
                    "min_collateral_ratio_bps",
                    models.PositiveIntegerField(
                        default=12500, validators=[django.core.validators.MinValueValidator(10500)]
                    ),
                ),
                ("allows_arbitrary_calldata", models.BooleanField(default=False)),
                (
                    "golem",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="policy_cage",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "is_action_gate_on",
                    models.BooleanField(
                        default=False,
                        help_text="Few or wrong predictions keep new positions few and small",
                        verbose_name="action gate",
                    ),
                ),
                (
                    "min_health_bps",
                    models.PositiveIntegerField(
                        default=15000,
                        help_text="Cover over debt at liquidation value that a plan may not go under, basis points",
                        validators=[django.core.validators.MinValueValidator(11500)],
                        verbose_name="health floor",
                    ),
                ),
                (
                    "min_range_ticks",
                    models.PositiveIntegerField(
                        default=500,
                        help_text="Ticks from one end of a pool's range to the other, 500 are 5.1%. What lies in a narrower one is lost to whoever trades when the price leaves it",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1774544),
                        ],
                        verbose_name="least range",
                    ),
                ),
                (
                    "max_bridge_bps",
                    models.PositiveIntegerField(
                        default=10000,
                        help_text="All that came or comes over one bridge, basis points of the portfolio",
                        validators=[django.core.validators.MaxValueValidator(10000)],
                        verbose_name="one bridge",
                    ),
                ),
                (
                    "max_issuer_bps",
                    models.PositiveIntegerField(
                        default=10000,
                        help_text="All that one issuer stands behind, the base asset by itself left out, basis points of the portfolio",
                        validators=[django.core.validators.MaxValueValidator(10000)],
                        verbose_name="one issuer",
                    ),
                ),
                (
                    "max_oracle_bps",
                    models.PositiveIntegerField(
                        default=10000,
                        help_text="All positions whose protocols believe one oracle, basis points of the portfolio",
                        validators=[django.core.validators.MaxValueValidator(10000)],
                        verbose_name="one oracle",
                    ),
                ),
            ],
            options={
                "verbose_name": "policy cage",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("max_issuer_bps__lte", 10000),
                            ("max_bridge_bps__lte", 10000),
                            ("max_oracle_bps__lte", 10000),
                        ),
                        name="cage_shares_of_what_can_fail",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PolicyTrial",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("asked_by", models.CharField(max_length=128)),
                (
                    "policy",
                    models.JSONField(
                        help_text="Limits, cage and allowlist of the draft; none while it is sought", null=True
                    ),
                ),
                ("last", models.PositiveIntegerField(help_text="How many decisions it is tried on at most")),
                (
                    "days",
                    models.PositiveIntegerField(help_text="The period of which the least policy is sought", null=True),
                ),
                (
                    "with_refused",
                    models.BooleanField(default=False, help_text="The least policy allows what was refused as well"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("RUNNING", "Running"), ("DONE", "Done"), ("FAILED", "Failed")],
                        default="RUNNING",
                        max_length=8,
                    ),
                ),
                ("done", models.PositiveIntegerField(default=0)),
                ("total", models.PositiveIntegerField(default=0)),
                ("result", models.JSONField(default=dict)),
                ("problem", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("moved_at", models.DateTimeField(help_text="When it last made progress")),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="policy_trials",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "policy trial",
                "indexes": [models.Index(fields=["golem", "-created_at"], name="policy_trial_by_golem")],
            },
        ),
        migrations.CreateModel(
            name="PolicyVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("policy", models.JSONField()),
                ("policy_hash", models.CharField(help_text="Of limits, cage and allowlist alone", max_length=66)),
                ("actor", models.CharField(max_length=128)),
                ("reason", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="policy_versions",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "policy version",
                "ordering": ["-number"],
                "constraints": [models.UniqueConstraint(fields=("golem", "number"), name="policy_version_once")],
            },
        ),
        migrations.CreateModel(
            name="ReceivedRight",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("chain_id", models.PositiveBigIntegerField()),
                ("protocol", models.CharField(max_length=64)),
                (
                    "reference",
                    models.CharField(
                        help_text="What the protocol calls it, such as a delegation's hash", max_length=128
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("DELEGATION", "DELEGATION"), ("MANAGED_VAULT", "MANAGED_VAULT"), ("ROLE", "ROLE")],
                        max_length=16,
                    ),
                ),
                (
                    "principal",
                    models.CharField(
                        help_text="Whose money it is",
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                (
                    "holder",
                    models.CharField(
                        help_text="The account that may use it",
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                ("token", models.CharField(max_length=42)),
                ("most", models.DecimalField(decimal_places=0, help_text="Base units in one period", max_digits=78)),
                ("period_seconds", models.PositiveBigIntegerField(help_text="0: once, over its whole life")),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                (
                    "terms",
                    models.JSONField(default=dict, help_text="What the protocol needs to use it; shown to nobody"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("STANDING", "Stands"),
                            ("WITHDRAWN", "Withdrawn by its principal"),
                            ("DROPPED", "Dropped here: not used any more"),
                            ("ENDED", "Its time is over"),
                        ],
                        default="STANDING",
                        max_length=9,
                    ),
                ),
                ("state_reason", models.CharField(blank=True, max_length=255)),
                (
                    "state_at",
                    models.DateTimeField(blank=True, help_text="Since when it does not stand any more", null=True),
                ),
                ("given_by", models.CharField(blank=True, help_text="Who brought it in here", max_length=150)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="received_rights",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "available",
                    models.DecimalField(
                        blank=True,
                        decimal_places=0,
                        help_text="Base units that its contract had left for it",
                        max_digits=78,
                        null=True,
                    ),
                ),
                ("last_error", models.CharField(blank=True, max_length=255)),
                (
                    "looked_at",
                    models.DateTimeField(blank=True, help_text="When its contract was asked last", null=True),
                ),
                (
                    "next_look_at",
                    models.DateTimeField(blank=True, help_text="Nothing: it is looked at no more", null=True),
                ),
            ],
            options={
                "verbose_name": "received right",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "STANDING")),
                        fields=["golem", "ends_at"],
                        name="received_right_open",
                    ),
                    models.Index(
                        condition=models.Q(("next_look_at__isnull", False)),
                        fields=["next_look_at"],
                        name="received_right_due",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("golem", "chain_id", "protocol", "reference", "token"), name="received_right_once"
                    ),
                    models.CheckConstraint(condition=models.Q(("most__gt", 0)), name="received_right_of_something"),
                    models.CheckConstraint(
                        condition=models.Q(("ends_at__gt", models.F("starts_at"))),
                        name="received_right_ends_after_begin",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("principal", models.F("holder")), _negated=True),
                        name="received_right_of_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "STANDING"), ("state_at__isnull", True)),
                            models.Q(models.Q(("state", "STANDING"), _negated=True), ("state_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="received_right_gone_has_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["STANDING", "WITHDRAWN", "DROPPED", "ENDED"])),
                        name="received_right_known_state",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SafeOpening",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField()),
                (
                    "account",
                    models.CharField(
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                (
                    "handler",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The fallback handler that believes strangers, if it does",
                        max_length=42,
                    ),
                ),
                (
                    "modules",
                    models.JSONField(blank=True, default=list, help_text="Modules of code that believes strangers"),
                ),
                (
                    "is_open",
                    models.BooleanField(help_text="Anybody acts for the Safe now; off: only after one more step"),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="safe_openings",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "safe that stands open",
                "verbose_name_plural": "safes that stand open",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("golem", "chain_id", "account"), name="safe_opening_once_per_account"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SigningKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "address",
                    models.CharField(
                        max_length=42,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                (
                    "holder",
                    models.CharField(
                        choices=[("LOCAL_KEYSTORE", "Keystore file of this server"), ("PRIVY", "Privy server wallet")],
                        default="LOCAL_KEYSTORE",
                        max_length=24,
                    ),
                ),
                (
                    "external_id",
                    models.CharField(
                        blank=True, help_text="What the holder calls it, such as a wallet id", max_length=64
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("STAGED", "Staged: made, and not appointed yet"),
                            ("ACTIVE", "Active: the golem acts with it"),
                            ("DROPPED", "Dropped: another one replaced it, or its owner took its rights away"),
                        ],
                        default="STAGED",
                        max_length=8,
                    ),
                ),
                ("activated_at", models.DateTimeField(blank=True, null=True)),
                ("dropped_at", models.DateTimeField(blank=True, null=True)),
                (
                    "granted",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="What its owner gave it: expires_at, operations, budget_micro_usd",
                    ),
                ),
                ("reason", models.CharField(blank=True, help_text="Why it was made", max_length=200)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="signing_keys",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "asked_at",
                    models.DateTimeField(
                        blank=True, help_text="When its owners were last asked to appoint it", null=True
                    ),
                ),
                (
                    "account",
                    models.CharField(
                        blank=True, help_text="The smart account it owns and signs user operations for", max_length=42
                    ),
                ),
                (
                    "delegated",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="The contract whose code its own account runs (EIP-7702), by chain",
                    ),
                ),
            ],
            options={
                "verbose_name": "signing key",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "ACTIVE")),
                        fields=("golem",),
                        name="signing_key_one_active_per_golem",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "STAGED")),
                        fields=("golem",),
                        name="signing_key_one_staged_per_golem",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("account", ""), _negated=True),
                        fields=("account",),
                        name="signing_key_one_per_account",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SoldAnswer",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("query", models.CharField(max_length=64)),
                ("venue", models.CharField(max_length=64)),
                ("asked_digest", models.CharField(help_text="Of query, venue and parameters", max_length=66)),
                ("answer", models.JSONField(default=dict, help_text="Empty once nobody asks for it again")),
                ("chain_id", models.PositiveBigIntegerField()),
                (
                    "token",
                    models.CharField(
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                ("method", models.CharField(help_text="Whose signature moves the token", max_length=16)),
                (
                    "payer",
                    models.CharField(
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                (
                    "payee",
                    models.CharField(
                        help_text="The golem's account",
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                ("raw", models.DecimalField(decimal_places=0, help_text="Base units of the token", max_digits=78)),
                ("units", models.CharField(help_text="The same in words, such as 0.05 USDC", max_length=64)),
                (
                    "nonce",
                    models.CharField(help_text="0x-hex; of payer and method no other payment has it", max_length=66),
                ),
                (
                    "since_block",
                    models.PositiveBigIntegerField(help_text="The chain stood there when it was handed in"),
                ),
                ("ends_at", models.DateTimeField(help_text="The payment can be carried out until then")),
                (
                    "state",
                    models.CharField(
                        choices=[("TAKEN", "Being answered and carried out"), ("SOLD", "Paid")],
                        default="TAKEN",
                        max_length=5,
                    ),
                ),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                (
                    "transaction",
                    models.CharField(blank=True, help_text="What moved the money, whoever sent it", max_length=66),
                ),
                ("sold_at", models.DateTimeField(blank=True, null=True)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sold_answers",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "sold answer",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "SOLD")), fields=["golem", "-sold_at"], name="sold_answer_of_golem"
                    ),
                    models.Index(
                        condition=models.Q(("state", "TAKEN")), fields=["lease_until"], name="sold_answer_in_work"
                    ),
                    models.Index(
                        condition=models.Q(("state", "SOLD"), models.Q(("answer", {}), _negated=True)),
                        fields=["sold_at"],
                        name="sold_answer_kept",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("chain_id", "token", "method", "payer", "nonce"), name="sold_answer_once_per_payment"
                    ),
                    models.CheckConstraint(condition=models.Q(("raw__gt", 0)), name="sold_answer_for_something"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lease_until__isnull", False), ("sold_at__isnull", True), ("state", "TAKEN")),
                            models.Q(("lease_until__isnull", True), ("sold_at__isnull", False), ("state", "SOLD")),
                            _connector="OR",
                        ),
                        name="sold_answer_taken_or_sold",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("transaction", ""), _negated=True),
                        fields=("chain_id", "transaction"),
                        name="sold_answer_once_per_transaction",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SpendingLimits",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "per_transaction_micro_usd",
                    models.BigIntegerField(default=permits_app.models.spending.default_per_transaction),
                ),
                ("per_tick_micro_usd", models.BigIntegerField(default=permits_app.models.spending.default_per_tick)),
                (
                    "per_session_micro_usd",
                    models.BigIntegerField(default=permits_app.models.spending.default_per_session),
                ),
                (
                    "per_day_micro_usd",
                    models.BigIntegerField(
                        default=permits_app.models.spending.default_per_day, help_text="Rolling 24 h"
                    ),
                ),
                (
                    "hot_lane_micro_usd",
                    models.BigIntegerField(
                        default=permits_app.models.spending.default_hot_lane,
                        help_text="Above this the safety-guardian must approve",
                    ),
                ),
                (
                    "writes_per_hour",
                    models.PositiveIntegerField(default=permits_app.models.spending.default_writes_per_hour),
                ),
                (
                    "max_slippage_bps",
                    models.PositiveIntegerField(default=permits_app.models.spending.default_slippage_bps),
                ),
                (
                    "max_price_impact_bps",
                    models.PositiveIntegerField(default=permits_app.models.spending.default_price_impact_bps),
                ),
                (
                    "allowlist_mode",
                    models.CharField(
                        choices=[
                            ("STRICT", "Strict: refuse what is not listed"),
                            ("WARN", "Warn: note it in the permit"),
                            ("OFF", "Off"),
                        ],
                        default="STRICT",
                        max_length=8,
                    ),
                ),
                (
                    "golem",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spending_limits",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "spending limits",
                "verbose_name_plural": "spending limits",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("per_transaction_micro_usd__gte", 0),
                            ("per_tick_micro_usd__gte", 0),
                            ("per_session_micro_usd__gte", 0),
                            ("per_day_micro_usd__gte", 0),
                            ("hot_lane_micro_usd__gte", 0),
                        ),
                        name="spending_limits_not_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Wallet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "address",
                    models.CharField(
                        max_length=42,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("LOCAL_KEYSTORE", "Local keystore file (development; not enforced on chain)"),
                            ("PRIVY", "Privy server wallet (limits enforced by this server only)"),
                            ("ZERODEV", "Smart account at ZeroDev (limits enforced by this server only)"),
                            (
                                "GNOSIS_SAFE",
                                "Safe of the golem's key, alone or with others (limits enforced by this server only)",
                            ),
                            ("POLICY_CAGE", "Safe behind a PolicyCage (enforced on chain)"),
                        ],
                        default="LOCAL_KEYSTORE",
                        max_length=24,
                    ),
                ),
                ("backed_up_at", models.DateTimeField(blank=True, null=True)),
                (
                    "golem",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="wallet", to="archetypes_app.golem"
                    ),
                ),
                (
                    "safe",
                    models.JSONField(
                        blank=True, default=dict, help_text="The Safe as last seen: owners, modules, guards"
                    ),
                ),
                (
                    "safe_nonce",
                    models.PositiveBigIntegerField(
                        blank=True, help_text="The Safe's own nonce as last seen", null=True
                    ),
                ),
                (
                    "safe_noted",
                    models.JSONField(blank=True, default=dict, help_text="The Safe as its owners took note of it"),
                ),
            ],
            options={
                "verbose_name": "wallet",
            },
        ),
        migrations.CreateModel(
            name="Warden",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "is_on",
                    models.BooleanField(default=False, help_text="Announce each action and wait before it is executed"),
                ),
                (
                    "golem",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="warden", to="archetypes_app.golem"
                    ),
                ),
            ],
            options={
                "verbose_name": "warden",
            },
        ),
        migrations.CreateModel(
            name="WithdrawalAddress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.PositiveBigIntegerField(verbose_name="chain")),
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
                ("label", models.CharField(help_text="How pages call it", max_length=48)),
                ("registered_at", models.DateTimeField()),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="withdrawal_addresses",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "withdrawal address",
                "verbose_name_plural": "withdrawal addresses",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("removed_at__isnull", True)),
                        fields=("golem", "chain_id", "address"),
                        name="withdrawal_address_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CageMirror",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField()),
                (
                    "contract",
                    models.CharField(
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                (
                    "account",
                    models.CharField(
                        help_text="The Safe, or a plain account",
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                (
                    "base_asset",
                    models.CharField(
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                ("deployed_block", models.PositiveBigIntegerField()),
                (
                    "is_enforced",
                    models.BooleanField(
                        default=False, help_text="Off: not enforced on chain; the account is a plain one"
                    ),
                ),
                ("state", models.JSONField(default=dict, help_text="Rules, pending changes, session and windows")),
                ("rules_hash", models.CharField(blank=True, max_length=80)),
                ("block_number", models.PositiveBigIntegerField()),
                ("block_hash", models.CharField(max_length=66)),
                ("block_at", models.DateTimeField()),
                (
                    "synced_at",
                    models.DateTimeField(
                        blank=True, help_text="When it was last known to be the newest block", null=True
                    ),
                ),
                (
                    "problem",
                    models.CharField(blank=True, help_text="Why the last sync did not succeed", max_length=200),
                ),
                (
                    "cage",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="mirror", to="permits_app.policycage"
                    ),
                ),
                (
                    "replaced",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The contract that was followed before, as long as the account still acts through it too",
                        max_length=42,
                    ),
                ),
                (
                    "safe",
                    models.JSONField(
                        blank=True, default=dict, help_text="The Safe as last seen: owners, modules, guards"
                    ),
                ),
                (
                    "safe_noted",
                    models.JSONField(blank=True, default=dict, help_text="The Safe as its owners took note of it"),
                ),
            ],
            options={
                "verbose_name": "cage mirror",
                "constraints": [
                    models.UniqueConstraint(fields=("chain_id", "contract"), name="cage_mirror_once_per_contract")
                ],
            },
        ),
        migrations.CreateModel(
            name="ChangeRequest",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(help_text="permit, or the name of an owner's operation", max_length=32)),
                ("title", models.CharField(max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("OPEN", "Waits for owners"),
                            ("APPROVED", "Approved"),
                            ("EXECUTED", "Executed"),
                            ("REJECTED", "Rejected"),
                            ("STALE", "Stale"),
                            ("EXPIRED", "Timed out"),
                            ("CANCELLED", "Cancelled"),
                            ("FAILED", "Failed"),
                        ],
                        default="OPEN",
                        max_length=12,
                    ),
                ),
                ("state_reason", models.TextField(blank=True)),
                (
                    "risk_tier",
                    models.CharField(
                        choices=[
                            ("ROUTINE", "ROUTINE"),
                            ("STANDARD", "STANDARD"),
                            ("ELEVATED", "ELEVATED"),
                            ("HIGH", "HIGH"),
                            ("CRITICAL", "CRITICAL"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "risk_rank",
                    models.PositiveSmallIntegerField(help_text="0 routine to 4 critical; the inbox is in this order"),
                ),
                ("value_micro_usd", models.BigIntegerField(default=0, help_text="Value at stake")),
                ("asker", models.CharField(help_text="Who asked, as the audit log names them", max_length=128)),
                ("reason", models.TextField(blank=True)),
                (
                    "is_single_owner",
                    models.BooleanField(
                        default=False, help_text="The golem has one owner, who decides with a second factor"
                    ),
                ),
                ("change", models.JSONField(default=dict)),
                ("shown", models.JSONField(default=dict)),
                ("plan_hash", models.CharField(max_length=66)),
                ("policy_hash", models.CharField(max_length=66)),
                (
                    "fold_hash",
                    models.CharField(help_text="Equal wishes of one golem share it and are folded", max_length=66),
                ),
                ("digest", models.CharField(max_length=66)),
                ("repeats", models.PositiveIntegerField(default=1, help_text="How often it was asked for")),
                ("required_approvals", models.PositiveSmallIntegerField(default=1)),
                ("needs_second_factor", models.BooleanField(default=True)),
                (
                    "cooling_seconds",
                    models.PositiveIntegerField(default=0, help_text="Wait between approval and execution"),
                ),
                ("deadline_at", models.DateTimeField(help_text="Not decided by then is rejected")),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("executes_at", models.DateTimeField(blank=True, help_text="Not before", null=True)),
                ("claimed_at", models.DateTimeField(blank=True, help_text="A worker is executing it", null=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("result", models.JSONField(default=dict)),
                ("problem", models.JSONField(default=dict)),
                (
                    "api_key",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="archetypes_app.apikey",
                    ),
                ),
                (
                    "asked_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="The owner who asked",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "barred_owner",
                    models.ForeignKey(
                        blank=True,
                        help_text="The owner who asked, or whose agent did: may reject, never approve",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="change_requests",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "permit",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="change_request",
                        to="permits_app.actionpermit",
                    ),
                ),
            ],
            options={
                "verbose_name": "change request",
                "indexes": [
                    models.Index(fields=["golem", "-risk_rank", "created_at"], name="change_inbox"),
                    models.Index(
                        condition=models.Q(("state__in", ["OPEN", "APPROVED"])),
                        fields=["state", "executes_at"],
                        name="change_live",
                    ),
                    models.Index(
                        condition=models.Q(("permit__isnull", False), ("state__in", ["EXECUTED", "FAILED"])),
                        fields=["closed_at"],
                        name="change_of_permit_closed",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["OPEN", "APPROVED"])),
                        fields=("golem", "fold_hash"),
                        name="change_equal_wish_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("required_approvals__gte", 1)), name="change_needs_somebody"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "APPROVED"), _negated=True),
                            ("executes_at__isnull", False),
                            _connector="OR",
                        ),
                        name="change_approved_due",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("value_micro_usd__gte", 0)), name="change_value_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "permit"), ("permit__isnull", False)),
                            models.Q(models.Q(("kind", "permit"), _negated=True), ("permit__isnull", True)),
                            _connector="OR",
                        ),
                        name="change_permit_has_one",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ActionRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("position", models.PositiveSmallIntegerField(help_text="Its place among the tick's actions")),
                ("action_type", models.CharField(max_length=64)),
                ("venue", models.CharField(blank=True, max_length=64)),
                ("tool_name", models.CharField(blank=True, max_length=96)),
                ("params", models.JSONField(default=dict)),
                ("reason", models.TextField(blank=True, help_text="Why it was wanted")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("PLANNED", "Planned"),
                            ("PREVIEWED", "Previewed: it has a permit"),
                            ("WAITING", "Waits for owners, or for its announced time"),
                            ("COMMITTING", "Being executed, or its outcome is not seen yet"),
                            ("EXECUTED", "Executed"),
                            ("REVERTED", "Reverted"),
                            ("REHEARSED", "Rehearsed: the golem is not live"),
                            ("BLOCKED", "Refused"),
                            ("DEFERRED", "Put off"),
                        ],
                        default="PLANNED",
                        max_length=10,
                    ),
                ),
                ("tx_hashes", models.JSONField(default=list)),
                ("block_reason", models.TextField(blank=True)),
                ("problem", models.JSONField(default=dict)),
                ("gas_micro_usd", models.BigIntegerField(blank=True, help_text="Gas paid, micro-USD", null=True)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="action_records",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "permit",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="action_records",
                        to="permits_app.actionpermit",
                    ),
                ),
                (
                    "tick",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="actions",
                        to="archetypes_app.heartbeattick",
                    ),
                ),
                (
                    "wish_key",
                    models.CharField(
                        blank=True, help_text="What it was wanted for, the same from tick to tick", max_length=160
                    ),
                ),
            ],
            options={
                "verbose_name": "action",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["PLANNED", "PREVIEWED", "WAITING", "COMMITTING"])),
                        fields=["golem"],
                        name="action_record_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tick", "position"), name="action_record_once_per_position"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("state__in", ["PREVIEWED", "WAITING", "COMMITTING", "EXECUTED", "REVERTED"]),
                                _negated=True,
                            ),
                            ("permit__isnull", False),
                            _connector="OR",
                        ),
                        name="action_record_done_has_permit",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Announcement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("WAITING", "Waiting"),
                            ("EXECUTED", "Executed"),
                            ("CANCELLED", "Cancelled"),
                            ("EXPIRED", "Expired"),
                        ],
                        default="WAITING",
                        max_length=10,
                    ),
                ),
                ("announced_at", models.DateTimeField()),
                ("executes_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("announced_by", models.CharField(max_length=128)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "permit",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="announcement",
                        to="permits_app.actionpermit",
                    ),
                ),
            ],
            options={
                "verbose_name": "announcement",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "WAITING")), fields=["executes_at"], name="announcement_waiting"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("executes_at__gte", models.F("announced_at")), ("expires_at__gt", models.F("executes_at"))
                        ),
                        name="announcement_in_order",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CapabilityGrant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tool_name", models.CharField(max_length=96)),
                ("plan_hash", models.CharField(max_length=66)),
                ("value_limit_micro_usd", models.BigIntegerField()),
                ("minted_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("consumed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "permit",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="grant", to="permits_app.actionpermit"
                    ),
                ),
                (
                    "expires_at_tick",
                    models.PositiveBigIntegerField(
                        default=0, help_text="The heartbeat tick from which it is worth nothing"
                    ),
                ),
                (
                    "policy_hash",
                    models.CharField(blank=True, help_text="Empty for a halt's own permits", max_length=66),
                ),
            ],
            options={
                "verbose_name": "capability grant",
            },
        ),
        migrations.CreateModel(
            name="NonceReservation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField()),
                ("address", models.CharField(max_length=42)),
                ("nonce", models.PositiveBigIntegerField()),
                ("call_index", models.PositiveIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("RESERVED", "Reserved"),
                            ("SIGNED", "Signed"),
                            ("ABANDONED", "Abandoned, free to give out again"),
                            ("FILLED", "Used up by a zero transfer to itself"),
                        ],
                        default="RESERVED",
                        max_length=12,
                    ),
                ),
                (
                    "permit",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="nonce_reservations",
                        to="permits_app.actionpermit",
                    ),
                ),
            ],
            options={
                "verbose_name": "nonce reservation",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["RESERVED", "ABANDONED"])),
                        fields=["chain_id", "state"],
                        name="nonce_without_bytes",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("chain_id", "address", "nonce"), name="nonce_reserved_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("permit__isnull", False)),
                        fields=("permit", "call_index"),
                        name="nonce_one_per_call",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OutboundTransaction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("call_index", models.PositiveIntegerField()),
                ("chain_id", models.PositiveBigIntegerField()),
                ("sender", models.CharField(max_length=42)),
                ("nonce", models.PositiveBigIntegerField()),
                ("to", models.CharField(max_length=42)),
                ("value_wei", models.CharField(max_length=78)),
                ("gas_limit", models.PositiveBigIntegerField(help_text="Gas units")),
                ("max_fee_per_gas", models.CharField(help_text="Wei per gas", max_length=78)),
                ("max_priority_fee_per_gas", models.CharField(help_text="Wei per gas", max_length=78)),
                ("raw", models.TextField(help_text="Signed bytes, 0x-hex")),
                ("tx_hash", models.CharField(max_length=66, unique=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("SIGNED", "Signed, not seen sent"),
                            ("BROADCAST", "Broadcast"),
                            ("UNKNOWN", "Sent, outcome not seen yet"),
                            ("MINED", "Mined"),
                            ("REVERTED", "Mined, reverted"),
                            ("FINAL", "Final: under enough blocks"),
                            ("REORGED", "Reorganised out of the chain"),
                            ("DROPPED", "Dropped: its nonce was used by another transaction"),
                        ],
                        default="SIGNED",
                        max_length=12,
                    ),
                ),
                ("broadcast_at", models.DateTimeField(blank=True, null=True)),
                ("broadcast_count", models.PositiveIntegerField(default=0)),
                ("receipt", models.JSONField(default=dict)),
                ("block_number", models.PositiveBigIntegerField(blank=True, null=True)),
                ("gas_used", models.PositiveBigIntegerField(blank=True, help_text="Gas units", null=True)),
                ("fee_wei", models.CharField(blank=True, max_length=78)),
                (
                    "permit",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="transactions",
                        to="permits_app.actionpermit",
                    ),
                ),
                (
                    "action_digest",
                    models.CharField(blank=True, help_text="SHA-256 of to, value and data", max_length=66),
                ),
                (
                    "is_live",
                    models.BooleanField(
                        default=True, help_text="Off once another payload of the same nonce replaced it"
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("CALL", "A call of the permit"),
                            ("FILL", "A zero transfer to itself that uses the nonce up"),
                        ],
                        default="CALL",
                        max_length=4,
                    ),
                ),
                (
                    "replaces",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replacements",
                        to="permits_app.outboundtransaction",
                    ),
                ),
                (
                    "entry_point",
                    models.CharField(
                        blank=True, help_text="The EntryPoint, when this is a user operation of `sender`", max_length=42
                    ),
                ),
                (
                    "signed_at_block",
                    models.PositiveBigIntegerField(
                        blank=True,
                        help_text="The chain's head when an operation was signed: it is looked for from there on",
                        null=True,
                    ),
                ),
                (
                    "passed_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When the chain was first seen to count its nonce as used while no block showed by what",
                        null=True,
                    ),
                ),
                (
                    "refusal",
                    models.CharField(
                        blank=True,
                        help_text="The code by which every node asked refused it last; empty once one took it",
                        max_length=64,
                    ),
                ),
            ],
            options={
                "verbose_name": "outbound transaction",
                "indexes": [
                    models.Index(
                        condition=models.Q(
                            ("state__in", ["SIGNED", "BROADCAST", "UNKNOWN", "MINED", "REVERTED", "REORGED"])
                        ),
                        fields=["state", "updated_at"],
                        name="outbound_unsettled",
                    ),
                    models.Index(
                        condition=models.Q(("state", "FINAL")),
                        fields=["chain_id", "-block_number"],
                        name="outbound_final",
                    ),
                    models.Index(
                        condition=models.Q(("state", "DROPPED")),
                        fields=["chain_id", "updated_at"],
                        name="outbound_dropped",
                    ),
                    models.Index(fields=["chain_id", "sender", "nonce"], name="outbound_of_sender"),
                    models.Index(fields=["chain_id", "sender", "block_number"], name="outbound_of_sender_in_block"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_live", True)),
                        fields=("chain_id", "sender", "nonce"),
                        name="outbound_one_live_payload_per_nonce",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_live", True), ("permit__isnull", False)),
                        fields=("permit", "call_index"),
                        name="outbound_one_live_payload_per_call",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["MINED", "REVERTED", "FINAL"])),
                        fields=("chain_id", "sender", "nonce"),
                        name="outbound_one_mined_per_nonce",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("purpose", "CALL"),
                            models.Q(("to", models.F("sender")), ("value_wei", "0")),
                            _connector="OR",
                        ),
                        name="outbound_fill_moves_nothing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("purpose", "FILL"), ("permit__isnull", False), _connector="OR"),
                        name="outbound_call_has_permit",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OutcomeRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "is_verified",
                    models.BooleanField(
                        help_text="Balances show that it did what the permit promised, and nothing else"
                    ),
                ),
                ("expected", models.JSONField(default=dict)),
                ("actual", models.JSONField(default=dict)),
                (
                    "divergence_bps",
                    models.PositiveIntegerField(default=0, help_text="Largest difference to the prediction"),
                ),
                ("gas_expected", models.PositiveBigIntegerField(default=0)),
                ("gas_used", models.PositiveBigIntegerField(default=0)),
                ("fee_wei", models.CharField(default="0", max_length=78)),
                (
                    "pnl_micro_usd",
                    models.BigIntegerField(
                        blank=True, help_text="What it changed of the net asset value, gas included", null=True
                    ),
                ),
                ("ground_truth_source", models.CharField(max_length=32)),
                ("findings", models.JSONField(default=list, help_text="What did not match, in words")),
                ("episode_id", models.UUIDField(blank=True, null=True)),
                (
                    "permit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="outcomes",
                        to="permits_app.actionpermit",
                    ),
                ),
                (
                    "is_cancelled",
                    models.BooleanField(
                        default=False,
                        help_text="A call never ran because something else took its nonce; it says nothing of the venue",
                    ),
                ),
                (
                    "taken_back_at",
                    models.DateTimeField(
                        blank=True, help_text="When a rollback of the chain took back what it says", null=True
                    ),
                ),
                (
                    "pnl_parts",
                    models.JSONField(
                        blank=True, default=dict, help_text="Micro-USD of gas, slippage, fees and interest"
                    ),
                ),
            ],
            options={
                "verbose_name": "outcome",
                "indexes": [models.Index(fields=["created_at"], name="outcome_by_time")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("taken_back_at__isnull", True)),
                        fields=("permit",),
                        name="outcome_one_live_per_permit",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PendingRequest",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("chain_id", models.PositiveBigIntegerField(help_text="Where it was sent")),
                ("account", models.CharField(max_length=42)),
                ("protocol", models.CharField(max_length=64)),
                ("ref", models.CharField(max_length=255)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("REQUESTED", "Requested"),
                            ("READY", "Ready to be claimed"),
                            ("CLAIMING", "Being claimed"),
                            ("DONE", "Done"),
                            ("STUCK", "Stuck: over its time"),
                            ("LOST", "Lost: gone without a claim of ours"),
                            ("EXECUTED", "Carried out"),
                            ("CANCELLED", "Cancelled"),
                            ("EXPIRED", "Expired"),
                        ],
                        default="REQUESTED",
                        max_length=9,
                    ),
                ),
                (
                    "amounts",
                    models.JSONField(
                        default=list, help_text="Token addresses and base units, as its legs were last seen"
                    ),
                ),
                (
                    "block_number",
                    models.PositiveBigIntegerField(
                        help_text="The block it was asked in; older reads tell nothing of it"
                    ),
                ),
                (
                    "expected_at",
                    models.DateTimeField(blank=True, help_text="When it is expected to be ready; about", null=True),
                ),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
                ("next_check_at", models.DateTimeField()),
                (
                    "missed_at",
                    models.DateTimeField(blank=True, help_text="When a look first did not find it", null=True),
                ),
                ("last_error", models.CharField(blank=True, max_length=255)),
                ("told_state", models.CharField(blank=True, max_length=9)),
                (
                    "claim",
                    models.ForeignKey(
                        blank=True,
                        help_text="Which claims it, or did",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="requests_claimed",
                        to="permits_app.actionpermit",
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pending_requests",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "permit",
                    models.ForeignKey(
                        help_text="Which asked",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="requests_made",
                        to="permits_app.actionpermit",
                    ),
                ),
                (
                    "awaits",
                    models.CharField(
                        blank=True, help_text="What has to happen for it to be carried out", max_length=255
                    ),
                ),
                ("brings", models.JSONField(default=list, help_text="The least that all of what is left brings")),
                (
                    "came",
                    models.JSONField(default=list, help_text="What came back when it ended, as transfers showed it"),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "ends_at",
                    models.DateTimeField(blank=True, help_text="Nobody can carry it out after this", null=True),
                ),
                ("gave", models.JSONField(default=list, help_text="What it held when it was first seen")),
                ("holds_micro_usd", models.BigIntegerField(default=0)),
                (
                    "is_order",
                    models.BooleanField(default=False, help_text="Somebody else carries it out, or nobody does"),
                ),
                (
                    "seen_block",
                    models.PositiveBigIntegerField(
                        blank=True, help_text="The last block in which it was there", null=True
                    ),
                ),
                ("seen_state", models.CharField(blank=True, help_text="An end that one look saw", max_length=9)),
                ("spent_micro_usd", models.BigIntegerField(blank=True, null=True)),
                ("successor", models.CharField(blank=True, help_text="The position that it became", max_length=255)),
                ("expects_chain_id", models.PositiveBigIntegerField(help_text="Where it ends, and is looked at")),
                (
                    "arrived_block",
                    models.PositiveBigIntegerField(
                        blank=True,
                        help_text="On the chain where it ends: the block in which it was first seen there",
                        null=True,
                    ),
                ),
                ("others_block", models.PositiveBigIntegerField(blank=True, null=True)),
                ("others_told", models.JSONField(default=list)),
                ("others_took", models.JSONField(default=list, help_text="What others claimed of it for themselves")),
            ],
            options={
                "verbose_name": "pending request",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["REQUESTED", "READY", "CLAIMING", "STUCK"])),
                        fields=["next_check_at"],
                        name="pending_request_due",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "account", "ref"), name="pending_request_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "REQUESTED",
                                    "READY",
                                    "CLAIMING",
                                    "DONE",
                                    "STUCK",
                                    "LOST",
                                    "EXECUTED",
                                    "CANCELLED",
                                    "EXPIRED",
                                ],
                            )
                        ),
                        name="pending_request_known_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["EXECUTED", "CANCELLED", "EXPIRED"]), _negated=True),
                            models.Q(("ended_at__isnull", False), ("is_order", True)),
                            _connector="OR",
                        ),
                        name="pending_request_orders_end",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "DONE"), _negated=True), ("is_order", False), _connector="OR"
                        ),
                        name="pending_request_orders_are_not_claimed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("is_order", True),
                            models.Q(
                                ("ends_at__isnull", True), ("holds_micro_usd", 0), ("seen_state", ""), ("successor", "")
                            ),
                            _connector="OR",
                        ),
                        name="pending_request_orders_alone",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("holds_micro_usd__gte", 0),
                            models.Q(
                                ("spent_micro_usd__isnull", True),
                                models.Q(("ended_at__isnull", False), ("spent_micro_usd__gte", 0)),
                                _connector="OR",
                            ),
                        ),
                        name="pending_request_spent_when_ended",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RightUse",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "raw",
                    models.DecimalField(
                        decimal_places=0, help_text="Base units of the right's token, at most", max_digits=78
                    ),
                ),
                ("claimed_at", models.DateTimeField()),
                (
                    "permit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="right_uses",
                        to="permits_app.actionpermit",
                    ),
                ),
                (
                    "right",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="uses", to="permits_app.receivedright"
                    ),
                ),
            ],
            options={
                "verbose_name": "use of a received right",
                "indexes": [models.Index(fields=["right", "claimed_at"], name="right_use_by_time")],
                "constraints": [
                    models.UniqueConstraint(fields=("right", "permit"), name="right_use_once_per_permit"),
                    models.CheckConstraint(condition=models.Q(("raw__gt", 0)), name="right_use_of_something"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SignedPromise",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("chain_id", models.PositiveBigIntegerField()),
                ("account", models.CharField(max_length=42)),
                ("protocol", models.CharField(max_length=64)),
                ("contract", models.CharField(max_length=42)),
                ("digest", models.CharField(help_text="EIP-712", max_length=66)),
                ("typed_data", models.JSONField()),
                ("signature", models.TextField(help_text="0x-hex; whoever has it can carry the promise out")),
                ("gives", models.JSONField(default=list, help_text="Token addresses and base units that may go")),
                (
                    "gets",
                    models.JSONField(default=list, help_text="Token addresses and least base units that come for it"),
                ),
                ("ends_at", models.DateTimeField(help_text="Its deadline; its contract takes it no longer")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("OPEN", "Open: may be filled any moment"),
                            ("FILLED", "Filled"),
                            ("CANCELLED", "Cancelled"),
                            ("EXPIRED", "Expired"),
                        ],
                        default="OPEN",
                        max_length=9,
                    ),
                ),
                ("seen_state", models.CharField(blank=True, max_length=9)),
                ("seen_at", models.DateTimeField(blank=True, null=True)),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
                ("next_check_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("last_error", models.CharField(blank=True, max_length=255)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="signed_promises",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "permit",
                    models.OneToOneField(
                        help_text="Which signed it",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="signed_promise",
                        to="permits_app.actionpermit",
                    ),
                ),
                (
                    "hand_in_error",
                    models.CharField(blank=True, help_text="What its desk said when it was asked last", max_length=255),
                ),
                ("handed_in_at", models.DateTimeField(blank=True, help_text="When its desk took it", null=True)),
                (
                    "reference",
                    models.CharField(blank=True, help_text="What its protocol and its desk know it by", max_length=66),
                ),
                (
                    "seen_block",
                    models.PositiveBigIntegerField(
                        blank=True, help_text="The last block in which it was open", null=True
                    ),
                ),
            ],
            options={
                "verbose_name": "signed promise",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "OPEN")), fields=["next_check_at"], name="signed_promise_due"
                    ),
                    models.Index(condition=models.Q(("state", "OPEN")), fields=["golem"], name="signed_promise_open"),
                    models.Index(fields=["golem", "reference"], name="signed_promise_by_reference"),
                    models.Index(
                        condition=models.Q(("state", "FILLED")),
                        fields=["golem", "ended_at"],
                        name="signed_promise_filled",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("chain_id", "account", "digest"), name="signed_promise_once"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["OPEN", "FILLED", "CANCELLED", "EXPIRED"])),
                        name="signed_promise_known_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("state", "OPEN")),
                            models.Q(models.Q(("state", "OPEN"), _negated=True), ("ended_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="signed_promise_ended_has_time",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("state__in", ("OPEN", "FILLED")), models.Q(("reference", ""), _negated=True)
                        ),
                        fields=("chain_id", "account", "protocol", "reference"),
                        name="signed_promise_reference_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SpendEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "state",
                    models.CharField(
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
                ("reserved_micro_usd", models.BigIntegerField()),
                (
                    "settled_micro_usd",
                    models.BigIntegerField(blank=True, help_text="Below zero where it reverses another", null=True),
                ),
                (
                    "counts_per_day",
                    models.BooleanField(
                        default=True, help_text="Off for a decrease or close that returns to the golem"
                    ),
                ),
                ("heartbeat_tick", models.PositiveBigIntegerField(default=0)),
                ("counted_at", models.DateTimeField(help_text="When it counts: reserved at, then its block's time")),
                (
                    "breakdown",
                    models.JSONField(
                        default=list, help_text="Token, amount, price and value of each part, gas included"
                    ),
                ),
                (
                    "api_key",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="archetypes_app.apikey",
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="spend_entries",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "permit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="spend_entries",
                        to="permits_app.actionpermit",
                    ),
                ),
                (
                    "life",
                    models.PositiveSmallIntegerField(
                        default=1, help_text="How often the permit's bytes were to be mined"
                    ),
                ),
                (
                    "reverses",
                    models.OneToOneField(
                        blank=True,
                        help_text="The settled entry that this one takes off the limits",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reversal",
                        to="permits_app.spendentry",
                    ),
                ),
            ],
            options={
                "verbose_name": "spend entry",
                "verbose_name_plural": "spend entries",
                "indexes": [
                    models.Index(
                        condition=models.Q(("heartbeat_tick__gt", 0)),
                        fields=["golem", "heartbeat_tick"],
                        name="spend_entry_tick",
                    ),
                    models.Index(
                        condition=models.Q(("state", "RELEASED"), _negated=True),
                        fields=["golem", "counted_at"],
                        name="spend_entry_counted",
                    ),
                    models.Index(condition=models.Q(("state", "RESERVED")), fields=["golem"], name="spend_entry_held"),
                    models.Index(
                        condition=models.Q(("state", "REVERSED")), fields=["golem"], name="spend_entry_reversing"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reserved_micro_usd__gte", 0)), name="spend_reserved_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "SETTLED"), _negated=True),
                            ("settled_micro_usd__isnull", False),
                            _connector="OR",
                        ),
                        name="spend_settled_has_amount",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("settled_micro_usd__isnull", True),
                            ("settled_micro_usd__gte", 0),
                            ("state", "REVERSED"),
                            _connector="OR",
                        ),
                        name="spend_settled_not_negative",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("reverses__isnull", False), ("settled_micro_usd__lte", 0), ("state", "REVERSED")),
                            models.Q(models.Q(("state", "REVERSED"), _negated=True), ("reverses__isnull", True)),
                            _connector="OR",
                        ),
                        name="spend_reversal_names_what_it_reverses",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("reverses__isnull", True)),
                        fields=("permit", "life"),
                        name="spend_one_claim_per_life",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "RESERVED")),
                        fields=("permit",),
                        name="spend_one_reservation_per_permit",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="StandingAllowance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField()),
                ("account", models.CharField(max_length=42)),
                ("token", models.CharField(max_length=42)),
                ("symbol", models.CharField(blank=True, max_length=64)),
                ("decimals", models.PositiveIntegerField()),
                ("spender", models.CharField(max_length=42)),
                ("left", models.CharField(help_text="Base units", max_length=78)),
                ("worth_micro_usd", models.BigIntegerField(help_text="At the prices of its permit, rounded up")),
                ("counted_at", models.DateTimeField(help_text="The time of the block its permit ended in")),
                ("block_number", models.PositiveBigIntegerField(help_text="The chain said so after this block")),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="standing_allowances",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "permit",
                    models.ForeignKey(
                        help_text="Whose plan approved it last",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="permits_app.actionpermit",
                    ),
                ),
            ],
            options={
                "verbose_name": "standing allowance",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("golem", "chain_id", "account", "token", "spender"), name="standing_allowance_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("worth_micro_usd__gte", 0)), name="standing_worth_not_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VenueTrust",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField()),
                ("venue", models.CharField(max_length=64)),
                (
                    "is_low",
                    models.BooleanField(default=True, help_text="On: calls at this venue are one risk tier higher"),
                ),
                ("lowered_at", models.DateTimeField()),
                (
                    "divergence_bps",
                    models.PositiveIntegerField(help_text="How far that outcome was from its simulation"),
                ),
                (
                    "clean_outcomes",
                    models.PositiveIntegerField(default=0, help_text="Outcomes since then that were as predicted"),
                ),
                ("restored_at", models.DateTimeField(blank=True, null=True)),
                ("restored_by", models.CharField(blank=True, max_length=128)),
                ("restored_reason", models.TextField(blank=True)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="venue_trusts",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "permit",
                    models.ForeignKey(
                        help_text="Whose outcome lowered it",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="permits_app.actionpermit",
                    ),
                ),
            ],
            options={
                "verbose_name": "trust in a venue",
                "verbose_name_plural": "trust in venues",
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "chain_id", "venue"), name="venue_trust_once"),
                    models.CheckConstraint(
                        condition=models.Q(("is_low", True), ("restored_at__isnull", False), _connector="OR"),
                        name="venue_trust_restored_when",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CageCheckpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("block_number", models.PositiveBigIntegerField()),
                ("block_hash", models.CharField(max_length=66)),
                ("block_at", models.DateTimeField()),
                ("state", models.JSONField()),
                (
                    "mirror",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="checkpoints",
                        to="permits_app.cagemirror",
                    ),
                ),
            ],
            options={
                "verbose_name": "cage checkpoint",
                "constraints": [
                    models.UniqueConstraint(fields=("mirror", "block_number"), name="cage_checkpoint_once_per_block")
                ],
            },
        ),
        migrations.CreateModel(
            name="Withdrawal",
            fields=[
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="withdrawal",
                        serialize=False,
                        to="permits_app.changerequest",
                    ),
                ),
                ("begun_at", models.DateTimeField()),
                (
                    "permit",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="withdrawal",
                        to="permits_app.actionpermit",
                    ),
                ),
            ],
            options={
                "verbose_name": "withdrawal",
            },
        ),
        migrations.CreateModel(
            name="ChangeExecution",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("executed_at", models.DateTimeField()),
                ("actor", models.CharField(max_length=128)),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="execution",
                        to="permits_app.changerequest",
                    ),
                ),
            ],
            options={
                "verbose_name": "execution of a change",
            },
        ),
        migrations.CreateModel(
            name="ChangeComment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(max_length=2000)),
                ("written_at", models.DateTimeField()),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comments",
                        to="permits_app.changerequest",
                    ),
                ),
            ],
            options={
                "verbose_name": "comment on a change",
                "ordering": ["written_at"],
            },
        ),
        migrations.CreateModel(
            name="OwnerApproval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("verdict", models.CharField(choices=[("APPROVE", "Approve"), ("REJECT", "Reject")], max_length=8)),
                ("reason", models.TextField(blank=True)),
                ("digest", models.CharField(help_text="Of what this owner saw", max_length=66)),
                ("has_second_factor", models.BooleanField(default=False)),
                ("decided_at", models.DateTimeField()),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="permits_app.changerequest",
                    ),
                ),
                (
                    "ended_at",
                    models.DateTimeField(blank=True, help_text="When its owner's role or account ended", null=True),
                ),
            ],
            options={
                "verbose_name": "owner's decision",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("verdict", "REJECT"), _negated=True),
                            models.Q(("reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="rejection_has_reason",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=("request", "owner"),
                        name="owner_decides_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OwnerTransaction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField()),
                (
                    "safe",
                    models.CharField(
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                ("safe_nonce", models.PositiveBigIntegerField(help_text="The Safe's own nonce")),
                (
                    "to",
                    models.CharField(
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                ("value_wei", models.CharField(default="0", max_length=78)),
                ("data", models.TextField(help_text="Call data, 0x-hex")),
                ("safe_tx_hash", models.CharField(max_length=66)),
                (
                    "asked_block",
                    models.PositiveBigIntegerField(help_text="The block the Safe was read at when it was asked for"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("SIGNING", "Waits for signatures"),
                            ("RELEASED", "Signed; may be sent"),
                            ("SENT", "Sent"),
                            ("EXECUTED", "Executed on chain"),
                            ("FAILED", "Failed on chain"),
                            ("DEAD", "Given up: it can never be executed, or nobody wants it any more"),
                        ],
                        default="SIGNING",
                        max_length=10,
                    ),
                ),
                (
                    "executed_in",
                    models.CharField(blank=True, help_text="Hash of the transaction that executed it", max_length=66),
                ),
                ("executed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="owner_transaction",
                        to="permits_app.changerequest",
                    ),
                ),
                ("operation", models.PositiveSmallIntegerField(default=0, help_text="0 a call; 1 MultiSendCallOnly")),
                (
                    "own_key",
                    models.CharField(
                        blank=True,
                        help_text="The golem's key, when it owns the Safe too and consents by sending",
                        max_length=42,
                    ),
                ),
                (
                    "threshold",
                    models.PositiveSmallIntegerField(
                        default=1, help_text="How many owners the Safe asked for when it was read"
                    ),
                ),
            ],
            options={
                "verbose_name": "owners' transaction",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["SIGNING", "RELEASED", "SENT"])),
                        fields=["state", "updated_at"],
                        name="owner_transaction_live",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "EXECUTED"), _negated=True),
                            ("executed_at__isnull", False),
                            _connector="OR",
                        ),
                        name="owner_transaction_executed_when",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["SIGNING", "RELEASED", "SENT", "EXECUTED"])),
                        fields=("chain_id", "safe", "safe_nonce"),
                        name="owner_transaction_one_per_nonce",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OwnerSignature",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "signer",
                    models.CharField(
                        help_text="Recovered from the signature",
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                ("signature", models.CharField(help_text="65 bytes, 0x-hex", max_length=132)),
                ("given_at", models.DateTimeField()),
                (
                    "given_by",
                    models.ForeignKey(
                        help_text="The account that handed it in",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "transaction",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="signatures",
                        to="permits_app.ownertransaction",
                    ),
                ),
            ],
            options={
                "verbose_name": "owner's signature",
                "constraints": [models.UniqueConstraint(fields=("transaction", "signer"), name="owner_key_signs_once")],
            },
        ),
        migrations.CreateModel(
            name="RelayedTransaction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("EXECUTE", "The Safe executes what its owners signed"),
                            ("APPLY", "A cage's waiting change is applied; anyone may"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "subject",
                    models.CharField(blank=True, help_text="Of an applied change: its kind and key", max_length=80),
                ),
                ("chain_id", models.PositiveBigIntegerField()),
                ("sender", models.CharField(max_length=42)),
                ("nonce", models.PositiveBigIntegerField()),
                ("to", models.CharField(max_length=42)),
                ("data", models.TextField()),
                ("gas_limit", models.PositiveBigIntegerField(help_text="Gas units")),
                ("max_fee_per_gas", models.CharField(help_text="Wei per gas", max_length=78)),
                ("max_priority_fee_per_gas", models.CharField(help_text="Wei per gas", max_length=78)),
                ("raw", models.TextField(help_text="Signed bytes, 0x-hex")),
                ("tx_hash", models.CharField(max_length=66, unique=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("SIGNED", "Signed, not seen sent"),
                            ("SENT", "Sent"),
                            ("MINED", "Mined"),
                            ("REVERTED", "Mined, reverted"),
                            ("REPLACED", "Replaced by the same call at higher fees"),
                            ("REORGED", "Taken out by a reorganisation; sent again"),
                            ("FINAL", "Mined, under enough blocks"),
                        ],
                        default="SIGNED",
                        max_length=10,
                    ),
                ),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                ("block_number", models.PositiveBigIntegerField(blank=True, null=True)),
                (
                    "fee_wei",
                    models.CharField(
                        default="0", help_text="Paid; while it is under way, the most it can cost", max_length=78
                    ),
                ),
                (
                    "mirror",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="relays",
                        to="permits_app.cagemirror",
                    ),
                ),
                (
                    "owner_transaction",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="relays",
                        to="permits_app.ownertransaction",
                    ),
                ),
                ("block_hash", models.CharField(blank=True, max_length=66)),
            ],
            options={
                "verbose_name": "relayed transaction",
                "indexes": [models.Index(fields=["sender", "created_at"], name="relayed_by_sender")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["SIGNED", "SENT"])),
                        fields=("chain_id", "sender"),
                        name="relayer_one_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("owner_transaction__isnull", True), ("purpose", "APPLY")),
                            models.Q(("owner_transaction__isnull", False), ("purpose", "EXECUTE")),
                            _connector="OR",
                        ),
                        name="relayed_for_something",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["MINED", "REVERTED", "FINAL"])),
                        fields=("chain_id", "sender", "nonce"),
                        name="relayer_one_mined_per_nonce",
                    ),
                ],
            },
        ),
        migrations.RunSQL(_RULES, _NO_RULES),
    ]
