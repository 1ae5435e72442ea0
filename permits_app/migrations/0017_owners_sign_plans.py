"""Owners of a Safe sign plans too; each nonce of a Safe is asked for once; relays that a reorganisation took out."""

from __future__ import annotations

from django.db import migrations, models

# Two that were asked for under one nonce: the later one could never have been executed beside the earlier.
FORWARD = """
UPDATE permits_app_ownertransaction AS later SET state = 'DEAD'
 WHERE later.state = 'SIGNING' AND EXISTS (
       SELECT 1 FROM permits_app_ownertransaction AS first
        WHERE (first.chain_id, first.safe, first.safe_nonce) = (later.chain_id, later.safe, later.safe_nonce)
          AND first.state IN ('SIGNING', 'RELEASED', 'SENT', 'EXECUTED') AND first.id < later.id);
DROP TRIGGER owner_transaction_stays ON permits_app_ownertransaction;
"""
TRIGGER = """
CREATE TRIGGER owner_transaction_stays BEFORE UPDATE ON permits_app_ownertransaction
    FOR EACH ROW WHEN (
        (OLD.request_id, OLD.chain_id, OLD.safe, OLD.safe_nonce, OLD."to", OLD.value_wei, OLD.data, OLD.safe_tx_hash{0})
        IS DISTINCT FROM
        (NEW.request_id, NEW.chain_id, NEW.safe, NEW.safe_nonce, NEW."to", NEW.value_wei, NEW.data, NEW.safe_tx_hash{1})
    ) EXECUTE FUNCTION refuse_change_rewrite();
"""
BEFORE = TRIGGER.format("", "")
AFTER = TRIGGER.format(", OLD.operation, OLD.own_key", ", NEW.operation, NEW.own_key")
DROP = "DROP TRIGGER owner_transaction_stays ON permits_app_ownertransaction;"


class Migration(migrations.Migration):
    dependencies = [("permits_app", "0016_preview_indexes")]

    operations = [
        migrations.RunSQL(FORWARD, BEFORE),
        migrations.RemoveConstraint(model_name="relayedtransaction", name="relayer_one_mined_per_nonce"),
        migrations.AddField(
            model_name="actionpermit",
            name="owner_signatures",
            field=models.TextField(
                blank=True,
                default="",
                help_text="What the Safe's owners signed, 0x-hex; it goes into the call that is sent",
            ),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="wallet",
            name="kind",
            field=models.CharField(
                choices=[
                    ("LOCAL_KEYSTORE", "Local keystore file (development; not enforced on chain)"),
                    ("PRIVY", "Privy server wallet (limits enforced by this server only)"),
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
        migrations.AddField(
            model_name="ownertransaction",
            name="operation",
            field=models.PositiveSmallIntegerField(default=0, help_text="0 a call; 1 MultiSendCallOnly"),
        ),
        migrations.AddField(
            model_name="ownertransaction",
            name="own_key",
            field=models.CharField(
                blank=True,
                default="",
                help_text="The golem's key, when it owns the Safe too and consents by sending",
                max_length=42,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="ownertransaction",
            name="threshold",
            field=models.PositiveSmallIntegerField(
                default=1, help_text="How many owners the Safe asked for when it was read"
            ),
        ),
        migrations.AddField(
            model_name="relayedtransaction",
            name="block_hash",
            field=models.CharField(blank=True, default="", max_length=66),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="relayedtransaction",
            name="state",
            field=models.CharField(
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
        migrations.AddConstraint(
            model_name="ownertransaction",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["SIGNING", "RELEASED", "SENT", "EXECUTED"])),
                fields=("chain_id", "safe", "safe_nonce"),
                name="owner_transaction_one_per_nonce",
            ),
        ),
        migrations.AddConstraint(
            model_name="relayedtransaction",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["MINED", "REVERTED", "FINAL"])),
                fields=("chain_id", "sender", "nonce"),
                name="relayer_one_mined_per_nonce",
            ),
        ),
        migrations.RunSQL(AFTER, DROP),
    ]
