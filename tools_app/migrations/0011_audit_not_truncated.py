"""The database itself refuses to empty the audit log, and its checkpoints, at once."""

from django.db import migrations

FORWARD = """
CREATE TRIGGER audit_entry_not_truncated BEFORE TRUNCATE ON tools_app_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_checkpoint_not_truncated BEFORE TRUNCATE ON tools_app_auditcheckpoint
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
"""

BACKWARD = """
DROP TRIGGER audit_checkpoint_not_truncated ON tools_app_auditcheckpoint;
DROP TRIGGER audit_entry_not_truncated ON tools_app_auditentry;
"""


class Migration(migrations.Migration):
    dependencies = [("tools_app", "0010_eventhead_forgotten")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
