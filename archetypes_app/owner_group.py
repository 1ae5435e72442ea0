"""The groups Owners and Members: what either may do at all. With which rows is decided by `admin/owner_scope.py`.

Members came by an invitation: they have a role in somebody's golem and make none of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import Group, Permission

OWNER_GROUP = "Owners"
MEMBER_GROUP = "Members"

# App and model: verbs. Rows of the apps above are named as data, since nothing here may import them.
OWNER_PERMISSIONS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("archetypes_app", "golem"): ("view", "add", "change"),
    ("archetypes_app", "archetype"): ("view", "add", "change", "delete"),
    ("archetypes_app", "toolprofile"): ("view", "add", "change", "delete"),
    ("archetypes_app", "tooloverride"): ("view", "add", "change", "delete"),
    ("archetypes_app", "codingworkspace"): ("view", "add", "change"),
    ("archetypes_app", "apikey"): ("view", "add"),
    ("archetypes_app", "definitionapproval"): ("view", "change"),
    ("archetypes_app", "phasetransition"): ("view",),
    ("archetypes_app", "modelspendday"): ("view",),
    ("archetypes_app", "vitalityrecord"): ("view",),
    ("archetypes_app", "heartbeat"): ("view", "add", "change"),
    ("archetypes_app", "heartbeattick"): ("view",),
    ("archetypes_app", "decisioncyclerecord"): ("view",),
    ("archetypes_app", "alertbatch"): ("view",),
    ("archetypes_app", "artifact"): ("view",),
    ("permits_app", "actionpermit"): ("view", "change"),
    ("permits_app", "actionrecord"): ("view",),
    ("permits_app", "allowlistentry"): ("view", "add", "change", "delete"),
    ("permits_app", "capabilitygrant"): ("view",),
    ("permits_app", "declaredpeg"): ("view", "add", "change", "delete"),
    ("permits_app", "knownaddress"): ("view", "add", "change", "delete"),
    ("permits_app", "changerequest"): ("view", "change"),
    ("permits_app", "haltrecord"): ("view",),
    ("permits_app", "haltsetting"): ("view", "add", "change"),
    ("permits_app", "highwatermark"): ("view",),
    ("permits_app", "idempotencyrecord"): ("view",),
    ("permits_app", "policyversion"): ("view",),
    ("permits_app", "noncereservation"): ("view",),
    ("permits_app", "outboundtransaction"): ("view",),
    ("permits_app", "ownerbudget"): ("view",),
    ("permits_app", "outcomerecord"): ("view",),
    ("permits_app", "policycage"): ("view", "add", "change"),
    ("permits_app", "spendentry"): ("view",),
    ("permits_app", "standingallowance"): ("view",),
    ("permits_app", "pendingrequest"): ("view",),
    ("permits_app", "receivedright"): ("view",),
    ("permits_app", "rightuse"): ("view",),
    ("permits_app", "safeopening"): ("view",),
    ("permits_app", "signedpromise"): ("view",),
    ("permits_app", "spendinglimits"): ("view", "add", "change"),
    ("permits_app", "venuetrust"): ("view", "change"),
    ("permits_app", "standingplan"): ("view", "change"),
    ("permits_app", "cagemirror"): ("view",),
    ("permits_app", "signingkey"): ("view",),
    ("permits_app", "wallet"): ("view", "add"),
    ("memory_app", "episode"): ("view", "change"),
    ("memory_app", "insight"): ("view", "change"),
    ("memory_app", "strategy"): ("view",),
    ("memory_app", "execution"): ("view",),
    ("memory_app", "directive"): ("view", "change"),
    ("memory_app", "dreamjournal"): ("view", "change"),
    ("tools_app", "tooldefinition"): ("view", "add"),
    ("tools_app", "wasmrun"): ("view",),
    ("tools_app", "auditcheckpoint"): ("view",),
    ("stream", "webhookendpoint"): ("view", "add"),
    ("stream", "webhookdelivery"): ("view",),
    ("a2a", "task"): ("view",),
    ("a2a", "openedread"): ("view", "add"),
    ("tools_app", "auditentry"): ("view",),
    ("tools_app", "outboxevent"): ("view",),
}


_OWN_THINGS = (
    ("archetypes_app", "archetype"),
    ("archetypes_app", "toolprofile"),
    ("archetypes_app", "codingworkspace"),
    ("permits_app", "knownaddress"),
    ("permits_app", "wallet"),
    ("tools_app", "tooldefinition"),
)
"""What only owners make or change; members look at it."""

MEMBER_PERMISSIONS: Mapping[tuple[str, str], tuple[str, ...]] = {
    **{
        key: tuple(verb for verb in verbs if verb == "view") if key in _OWN_THINGS else verbs
        for key, verbs in OWNER_PERMISSIONS.items()
    },
    ("archetypes_app", "golem"): ("view", "change"),
}


def ensure_owner_group() -> Group:
    """The group of owners with exactly its permissions; safe to repeat. Needs the permissions `migrate` creates."""
    return _ensure_group(OWNER_GROUP, OWNER_PERMISSIONS)


def ensure_member_group() -> Group:
    """The group of members, likewise."""
    return _ensure_group(MEMBER_GROUP, MEMBER_PERMISSIONS)


def _ensure_group(name: str, permissions: Mapping[tuple[str, str], tuple[str, ...]]) -> Group:
    group, _ = Group.objects.get_or_create(name=name)
    wanted = {(app, f"{verb}_{model}") for (app, model), verbs in permissions.items() for verb in verbs}
    known = Permission.objects.filter(codename__in={codename for _, codename in wanted})
    found = known.values_list("pk", "content_type__app_label", "codename")
    group.permissions.set([pk for pk, *named in found if tuple(named) in wanted])
    return group
