"""Change requests, decisions that the database never changes, the Warden, and versions of a policy."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

FORWARD = """
CREATE FUNCTION refuse_decision_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of % is never changed', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END;
$$;
CREATE TRIGGER owner_decision_append_only BEFORE UPDATE OR DELETE ON permits_app_ownerapproval
    FOR EACH ROW EXECUTE FUNCTION refuse_decision_change();
CREATE TRIGGER change_execution_append_only BEFORE UPDATE OR DELETE ON permits_app_changeexecution
    FOR EACH ROW EXECUTE FUNCTION refuse_decision_change();
CREATE TRIGGER policy_version_append_only BEFORE UPDATE ON permits_app_policyversion
    FOR EACH ROW EXECUTE FUNCTION refuse_decision_change();

CREATE FUNCTION check_owner_decision() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER owner_decision_checked BEFORE INSERT ON permits_app_ownerapproval
    FOR EACH ROW EXECUTE FUNCTION check_owner_decision();

CREATE FUNCTION refuse_change_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was asked for is never rewritten' USING ERRCODE = 'check_violation';
END;
$$;
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
"""

BACKWARD = """
DROP TRIGGER change_request_stays ON permits_app_changerequest;
DROP FUNCTION refuse_change_rewrite();
DROP TRIGGER owner_decision_checked ON permits_app_ownerapproval;
DROP FUNCTION check_owner_decision();
DROP TRIGGER policy_version_append_only ON permits_app_policyversion;
DROP TRIGGER change_execution_append_only ON permits_app_changeexecution;
DROP TRIGGER owner_decision_append_only ON permits_app_ownerapproval;
DROP FUNCTION refuse_decision_change();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0005_heartbeat"),
        ("permits_app", "0006_action_records"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
            ],
            options={
                "verbose_name": "owner's decision",
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
        migrations.AddIndex(
            model_name="changerequest",
            index=models.Index(fields=["golem", "-risk_rank", "created_at"], name="change_inbox"),
        ),
        migrations.AddIndex(
            model_name="changerequest",
            index=models.Index(
                condition=models.Q(("state__in", ["OPEN", "APPROVED"])),
                fields=["state", "executes_at"],
                name="change_live",
            ),
        ),
        migrations.AddConstraint(
            model_name="changerequest",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["OPEN", "APPROVED"])),
                fields=("golem", "fold_hash"),
                name="change_equal_wish_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="changerequest",
            constraint=models.CheckConstraint(
                condition=models.Q(("required_approvals__gte", 1)), name="change_needs_somebody"
            ),
        ),
        migrations.AddConstraint(
            model_name="changerequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "APPROVED"), _negated=True), ("executes_at__isnull", False), _connector="OR"
                ),
                name="change_approved_due",
            ),
        ),
        migrations.AddConstraint(
            model_name="changerequest",
            constraint=models.CheckConstraint(
                condition=models.Q(("value_micro_usd__gte", 0)), name="change_value_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="changerequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "permit"), ("permit__isnull", False)),
                    models.Q(models.Q(("kind", "permit"), _negated=True), ("permit__isnull", True)),
                    _connector="OR",
                ),
                name="change_permit_has_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="ownerapproval",
            constraint=models.UniqueConstraint(fields=("request", "owner"), name="owner_decides_once"),
        ),
        migrations.AddConstraint(
            model_name="ownerapproval",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("verdict", "REJECT"), _negated=True),
                    models.Q(("reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="rejection_has_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="policyversion",
            constraint=models.UniqueConstraint(fields=("golem", "number"), name="policy_version_once"),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
