"""Old entries of the audit log are laid away: the database lets only those go that an archive has, whole."""

from django.db import migrations, models

FORWARD = """
CREATE FUNCTION check_audit_archive() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before tools_app_auditarchive%ROWTYPE;
BEGIN
    SELECT * INTO before FROM tools_app_auditarchive
     WHERE golem_id = NEW.golem_id ORDER BY number DESC LIMIT 1;
    IF NEW.number <> COALESCE(before.number, 0) + 1 OR NEW.first_seq <> COALESCE(before.last_seq, 0) + 1 THEN
        RAISE EXCEPTION 'an archive of the audit log begins where the one before it ended';
    END IF;
    IF NEW.sha256 !~ '^[0-9a-f]{64}$' THEN
        RAISE EXCEPTION 'an archive of the audit log names its fingerprint';
    END IF;
    IF NOT EXISTS (SELECT 1 FROM tools_app_auditcheckpoint
        WHERE golem_id = NEW.golem_id AND seq = NEW.last_seq AND entry_hash = NEW.last_hash) THEN
        RAISE EXCEPTION 'an archive of the audit log ends at a checkpoint';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER audit_archive_checked BEFORE INSERT ON tools_app_auditarchive
    FOR EACH ROW EXECUTE FUNCTION check_audit_archive();
CREATE TRIGGER audit_archive_append_only BEFORE UPDATE OR DELETE ON tools_app_auditarchive
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_archive_not_truncated BEFORE TRUNCATE ON tools_app_auditarchive
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- Lets an entry go while lay_away_audit_entries runs for the archive that has it, and at no other time.
CREATE FUNCTION refuse_audit_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM tools_app_auditarchive AS archive
          JOIN tools_app_auditcheckpoint AS point
            ON point.golem_id = archive.golem_id AND point.seq = archive.last_seq
           AND point.entry_hash = archive.last_hash
         WHERE archive.id = NULLIF(split_part(current_setting('golem.audit_archive', TRUE), ' ', 1), '')::bigint
           AND archive.sha256 = split_part(current_setting('golem.audit_archive', TRUE), ' ', 2)
           AND archive.golem_id = OLD.golem_id AND OLD.seq BETWEEN archive.first_seq AND archive.last_seq
    ) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
END;
$$;
DROP TRIGGER audit_entry_append_only ON tools_app_auditentry;
CREATE TRIGGER audit_entry_append_only BEFORE UPDATE ON tools_app_auditentry
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_entry_only_laid_away BEFORE DELETE ON tools_app_auditentry
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_removal();

-- Deletes the entries of an archive if `lines` has the archive's fingerprint and says each of them as it stands.
CREATE FUNCTION lay_away_audit_entries(archive_id bigint, lines bytea) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    archive tools_app_auditarchive%ROWTYPE;
    counted bigint;
BEGIN
    SELECT * INTO STRICT archive FROM tools_app_auditarchive WHERE id = archive_id;
    IF encode(sha256(lines), 'hex') <> archive.sha256 THEN
        RAISE EXCEPTION 'these lines have another fingerprint than archive % of the audit log', archive.number;
    END IF;
    SELECT count(DISTINCT entry.seq) INTO counted
      FROM string_to_table(rtrim(convert_from(lines, 'UTF8'), E'\\n'), E'\\n') AS line
     CROSS JOIN LATERAL (SELECT line::jsonb -> 'entry' AS told) AS read
      JOIN tools_app_auditentry AS entry
        ON entry.golem_id = archive.golem_id AND entry.seq = (read.told ->> 'seq')::bigint
     WHERE entry.seq BETWEEN archive.first_seq AND archive.last_seq
       AND entry.prev_hash = read.told ->> 'prev_hash' AND entry.entry_hash = read.told ->> 'entry_hash'
       AND entry.timestamp_ms = (read.told ->> 'timestamp_ms')::bigint
       AND entry.heartbeat_tick = (read.told ->> 'heartbeat_tick')::bigint
       AND entry.event = read.told ->> 'event' AND entry.actor = read.told ->> 'actor'
       AND entry.data = read.told -> 'data';
    IF counted <> archive.last_seq - archive.first_seq + 1 THEN
        RAISE EXCEPTION 'archive % of the audit log does not say each of its entries as it stands', archive.number;
    END IF;
    PERFORM set_config('golem.audit_archive', archive.id || ' ' || archive.sha256, TRUE);
    DELETE FROM tools_app_auditentry
     WHERE golem_id = archive.golem_id AND seq BETWEEN archive.first_seq AND archive.last_seq;
    GET DIAGNOSTICS counted = ROW_COUNT;
    PERFORM set_config('golem.audit_archive', '', TRUE);
    RETURN counted;
END;
$$;
"""

BACKWARD = """
DROP FUNCTION lay_away_audit_entries(bigint, bytea);
DROP TRIGGER audit_entry_only_laid_away ON tools_app_auditentry;
DROP TRIGGER audit_entry_append_only ON tools_app_auditentry;
CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE ON tools_app_auditentry
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
DROP FUNCTION refuse_audit_removal();
DROP TRIGGER audit_archive_not_truncated ON tools_app_auditarchive;
DROP TRIGGER audit_archive_append_only ON tools_app_auditarchive;
DROP TRIGGER audit_archive_checked ON tools_app_auditarchive;
DROP FUNCTION check_audit_archive();
"""


class Migration(migrations.Migration):
    dependencies = [("tools_app", "0029_tools_of_the_version_before")]

    operations = [
        migrations.CreateModel(
            name="AuditArchive",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("golem_id", models.UUIDField()),
                ("number", models.PositiveIntegerField(help_text="From 1, of its golem")),
                ("first_seq", models.PositiveBigIntegerField()),
                (
                    "last_seq",
                    models.PositiveBigIntegerField(help_text="The checkpoint of this entry covers all of them"),
                ),
                ("first_at_ms", models.BigIntegerField(help_text="Milliseconds since 1970-01-01 UTC")),
                ("last_at_ms", models.BigIntegerField(help_text="Milliseconds since 1970-01-01 UTC")),
                ("last_hash", models.CharField(help_text="Of its last entry, as the checkpoint has it", max_length=66)),
                ("sha256", models.CharField(help_text="Of the lines, unpacked", max_length=64)),
                ("content", models.BinaryField(help_text="A line of JSON each entry, packed by zlib")),
                ("laid_away_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "archive of the audit log",
                "verbose_name_plural": "archives of the audit log",
                "constraints": [
                    models.UniqueConstraint(fields=("golem_id", "number"), name="audit_archive_numbered"),
                    models.UniqueConstraint(fields=("golem_id", "last_seq"), name="audit_archive_once_per_end"),
                    models.CheckConstraint(
                        condition=models.Q(("first_seq__gte", 1), ("first_seq__lte", models.F("last_seq"))),
                        name="audit_archive_in_order",
                    ),
                ],
            },
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
