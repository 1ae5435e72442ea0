"""The database itself refuses to change or delete a line of the audit log."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END;
$$;
CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE ON tools_app_auditentry
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
"""

BACKWARD = """
DROP TRIGGER audit_entry_append_only ON tools_app_auditentry;
DROP FUNCTION refuse_audit_change();
"""


class Migration(migrations.Migration):
    dependencies = [("tools_app", "0001_initial")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
