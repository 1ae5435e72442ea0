"""What owners sign for their Safe, and the bytes that are relayed. Triggers keep both as they were stored."""

from __future__ import annotations

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FORWARD = """
CREATE TRIGGER owner_signature_append_only BEFORE UPDATE OR DELETE ON permits_app_ownersignature
    FOR EACH ROW EXECUTE FUNCTION refuse_decision_change();
CREATE TRIGGER owner_transaction_stays BEFORE UPDATE ON permits_app_ownertransaction
    FOR EACH ROW WHEN (
        (OLD.request_id, OLD.chain_id, OLD.safe, OLD.safe_nonce, OLD."to", OLD.value_wei, OLD.data, OLD.safe_tx_hash)
        IS DISTINCT FROM
        (NEW.request_id, NEW.chain_id, NEW.safe, NEW.safe_nonce, NEW."to", NEW.value_wei, NEW.data, NEW.safe_tx_hash)
    ) EXECUTE FUNCTION refuse_change_rewrite();
CREATE TRIGGER relayed_transaction_stays BEFORE UPDATE ON permits_app_relayedtransaction
    FOR EACH ROW WHEN (
        (OLD.owner_transaction_id, OLD.purpose, OLD.chain_id, OLD.sender, OLD.nonce, OLD."to", OLD.data, OLD.raw,
         OLD.tx_hash)
        IS DISTINCT FROM
        (NEW.owner_transaction_id, NEW.purpose, NEW.chain_id, NEW.sender, NEW.nonce, NEW."to", NEW.data, NEW.raw,
         NEW.tx_hash)
    ) EXECUTE FUNCTION refuse_change_rewrite();

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
CREATE TRIGGER owner_decision_signed BEFORE INSERT ON permits_app_ownerapproval
    FOR EACH ROW EXECUTE FUNCTION check_owner_signed();
"""

BACKWARD = """
DROP TRIGGER owner_decision_signed ON permits_app_ownerapproval;
DROP FUNCTION check_owner_signed();
DROP TRIGGER relayed_transaction_stays ON permits_app_relayedtransaction;
DROP TRIGGER owner_transaction_stays ON permits_app_ownertransaction;
DROP TRIGGER owner_signature_append_only ON permits_app_ownersignature;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0007_golem_simulation_engine"),
        ("permits_app", "0011_cage_mirror"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
            ],
            options={
                "verbose_name": "owner's signature",
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
            ],
            options={
                "verbose_name": "owners' transaction",
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
            ],
            options={
                "verbose_name": "relayed transaction",
            },
        ),
        migrations.AddField(
            model_name="ownersignature",
            name="given_by",
            field=models.ForeignKey(
                help_text="The account that handed it in",
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="ownertransaction",
            name="request",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="owner_transaction",
                to="permits_app.changerequest",
            ),
        ),
        migrations.AddField(
            model_name="ownersignature",
            name="transaction",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="signatures",
                to="permits_app.ownertransaction",
            ),
        ),
        migrations.AddField(
            model_name="relayedtransaction",
            name="mirror",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="relays",
                to="permits_app.cagemirror",
            ),
        ),
        migrations.AddField(
            model_name="relayedtransaction",
            name="owner_transaction",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="relays",
                to="permits_app.ownertransaction",
            ),
        ),
        migrations.AddIndex(
            model_name="ownertransaction",
            index=models.Index(
                condition=models.Q(("state__in", ["SIGNING", "RELEASED", "SENT"])),
                fields=["state", "updated_at"],
                name="owner_transaction_live",
            ),
        ),
        migrations.AddConstraint(
            model_name="ownertransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "EXECUTED"), _negated=True), ("executed_at__isnull", False), _connector="OR"
                ),
                name="owner_transaction_executed_when",
            ),
        ),
        migrations.AddConstraint(
            model_name="ownersignature",
            constraint=models.UniqueConstraint(fields=("transaction", "signer"), name="owner_key_signs_once"),
        ),
        migrations.AddIndex(
            model_name="relayedtransaction",
            index=models.Index(fields=["sender", "created_at"], name="relayed_by_sender"),
        ),
        migrations.AddConstraint(
            model_name="relayedtransaction",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["SIGNED", "SENT"])),
                fields=("chain_id", "sender"),
                name="relayer_one_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="relayedtransaction",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["MINED", "REVERTED"])),
                fields=("chain_id", "sender", "nonce"),
                name="relayer_one_mined_per_nonce",
            ),
        ),
        migrations.AddConstraint(
            model_name="relayedtransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("owner_transaction__isnull", True), ("purpose", "APPLY")),
                    models.Q(("owner_transaction__isnull", False), ("purpose", "EXECUTE")),
                    _connector="OR",
                ),
                name="relayed_for_something",
            ),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
