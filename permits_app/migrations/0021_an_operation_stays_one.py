"""Where signed bytes go is signed with them: a user operation is never made a transaction, nor looked for elsewhere."""

from __future__ import annotations

from django.db import migrations

_DROP = "DROP TRIGGER outbound_bytes_stay ON permits_app_outboundtransaction;"
_CREATE = """
CREATE TRIGGER outbound_bytes_stay BEFORE UPDATE ON permits_app_outboundtransaction
    FOR EACH ROW WHEN (
        (OLD.chain_id, OLD.sender, OLD.nonce, OLD."to", OLD.value_wei, OLD.raw, OLD.tx_hash, OLD.purpose,
         OLD.action_digest, OLD.gas_limit, OLD.max_fee_per_gas, OLD.max_priority_fee_per_gas{0})
        IS DISTINCT FROM
        (NEW.chain_id, NEW.sender, NEW.nonce, NEW."to", NEW.value_wei, NEW.raw, NEW.tx_hash, NEW.purpose,
         NEW.action_digest, NEW.gas_limit, NEW.max_fee_per_gas, NEW.max_priority_fee_per_gas{1})
    ) EXECUTE FUNCTION refuse_outbound_change();
"""
_BEFORE = _CREATE.format("", "")
_AFTER = _CREATE.format(
    ", OLD.entry_point, OLD.signed_at_block, OLD.permit_id, OLD.call_index",
    ", NEW.entry_point, NEW.signed_at_block, NEW.permit_id, NEW.call_index",
)


class Migration(migrations.Migration):
    dependencies = [("permits_app", "0020_policy_trials")]

    operations = [migrations.RunSQL(_DROP + _AFTER, _DROP + _BEFORE)]
