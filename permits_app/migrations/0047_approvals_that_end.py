"""An approval ends with its owner's role or account; who asked approves only where nobody else decides now."""

from django.db import migrations, models

FORWARD = """
DROP TRIGGER owner_decision_append_only ON permits_app_ownerapproval;
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
CREATE OR REPLACE FUNCTION check_owner_decision() RETURNS trigger LANGUAGE plpgsql AS $$
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
"""

BACKWARD = """
CREATE OR REPLACE FUNCTION check_owner_decision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE asked permits_app_changerequest%ROWTYPE;
BEGIN
    SELECT * INTO asked FROM permits_app_changerequest WHERE id = NEW.request_id;
    IF NEW.verdict = 'APPROVE' AND asked.barred_owner_id = NEW.owner_id AND NOT asked.is_single_owner THEN
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
DROP TRIGGER owner_decision_stays ON permits_app_ownerapproval;
DROP TRIGGER owner_decision_append_only ON permits_app_ownerapproval;
CREATE TRIGGER owner_decision_append_only BEFORE UPDATE OR DELETE ON permits_app_ownerapproval
    FOR EACH ROW EXECUTE FUNCTION refuse_decision_change();
"""


class Migration(migrations.Migration):
    dependencies = [("permits_app", "0046_least_range")]

    operations = [
        migrations.RemoveConstraint(model_name="ownerapproval", name="owner_decides_once"),
        migrations.AddField(
            model_name="ownerapproval",
            name="ended_at",
            field=models.DateTimeField(blank=True, help_text="When its owner's role or account ended", null=True),
        ),
        migrations.AddConstraint(
            model_name="ownerapproval",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at__isnull", True)), fields=("request", "owner"), name="owner_decides_once"
            ),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
