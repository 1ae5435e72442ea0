"""The database itself refuses two different actions under one nonce, and any change of signed bytes."""

from hashlib import sha256

from django.db import migrations

FORWARD = """
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
CREATE TRIGGER outbound_one_action_per_nonce BEFORE INSERT ON permits_app_outboundtransaction
    FOR EACH ROW EXECUTE FUNCTION check_outbound_payload();

CREATE FUNCTION refuse_outbound_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'signed bytes are never changed' USING ERRCODE = 'check_violation';
END;
$$;
CREATE TRIGGER outbound_bytes_stay BEFORE UPDATE ON permits_app_outboundtransaction
    FOR EACH ROW WHEN (
        (OLD.chain_id, OLD.sender, OLD.nonce, OLD."to", OLD.value_wei, OLD.raw, OLD.tx_hash, OLD.purpose,
         OLD.action_digest, OLD.gas_limit, OLD.max_fee_per_gas, OLD.max_priority_fee_per_gas)
        IS DISTINCT FROM
        (NEW.chain_id, NEW.sender, NEW.nonce, NEW."to", NEW.value_wei, NEW.raw, NEW.tx_hash, NEW.purpose,
         NEW.action_digest, NEW.gas_limit, NEW.max_fee_per_gas, NEW.max_priority_fee_per_gas)
    ) EXECUTE FUNCTION refuse_outbound_change();
"""

BACKWARD = """
DROP TRIGGER outbound_bytes_stay ON permits_app_outboundtransaction;
DROP FUNCTION refuse_outbound_change();
DROP TRIGGER outbound_one_action_per_nonce ON permits_app_outboundtransaction;
DROP FUNCTION check_outbound_payload();
"""


def fill_digests(apps, schema_editor):
    """Name the action of every payload stored before this column, from the call its permit holds."""
    for row in apps.get_model("permits_app", "OutboundTransaction").objects.filter(
        action_digest="", permit__isnull=False
    ):
        data = row.permit.calls[row.call_index]["data"].lower() if row.call_index < len(row.permit.calls) else "0x"
        row.action_digest = "0x" + sha256(f"{row.to.lower()}|{row.value_wei}|{data}".encode()).hexdigest()
        row.save(update_fields=["action_digest"])


class Migration(migrations.Migration):
    # Rows and triggers in one transaction: PostgreSQL refuses DDL on a table with pending constraint events only.
    dependencies = [("permits_app", "0002_transaction_lives")]

    operations = [migrations.RunPython(fill_digests, migrations.RunPython.noop), migrations.RunSQL(FORWARD, BACKWARD)]
