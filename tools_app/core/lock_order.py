"""Defines the one order in which transactions lock rows. docs/concurrency.md says why it is this one.

A transaction may leave tables out, and may lock a row again that it holds; it never locks a table after one that stands
behind it here. What no table here names is locked alone, or only together with what a transaction wrote itself.
"""

from __future__ import annotations

# From what whole groups of actions wait for, over what one action is about, to what every change of a golem ends with
# (its audit head, its event counter), and what only the end of a permit writes. Several of one line have one place.
LOCK_ORDER: tuple[tuple[str, ...], ...] = (
    # What golems share.
    ("archetypes_app_toolprofile", "archetypes_app_archetype"),
    # The golem: a halt, a commit, an owner's change and all writes of memory wait for each other here.
    ("archetypes_app_golem",),
    # Its pulse.
    ("archetypes_app_vitalityrecord",),
    ("archetypes_app_heartbeat",),
    ("archetypes_app_decisioncyclerecord",),
    ("permits_app_actionrecord",),
    ("archetypes_app_heartbeattick",),
    # What its owner set, and what a chain says of it.
    ("permits_app_haltrecord",),
    ("permits_app_death",),
    ("archetypes_app_apikey",),
    ("archetypes_app_definitionapproval",),
    ("permits_app_wallet",),
    ("permits_app_formeraccount",),
    ("permits_app_signingkey",),
    # What others let the golem move of theirs.
    ("permits_app_receivedright",),
    ("permits_app_spendinglimits",),
    # What golems of one owner share, and take turns at once each holds its own.
    ("permits_app_ownerbudget",),
    ("permits_app_cagemirror",),
    ("permits_app_cagecheckpoint",),
    ("permits_app_policycage",),
    ("permits_app_safeopening",),
    ("permits_app_warden",),
    ("permits_app_allowlistentry",),
    ("permits_app_withdrawaladdress",),
    ("permits_app_paymenthost",),
    ("archetypes_app_codingworkspace",),
    ("permits_app_highwatermark",),
    # One action: its permit, the request about it, what the owners signed for it.
    ("permits_app_actionpermit",),
    ("permits_app_changerequest",),
    ("permits_app_ownertransaction",),
    # A role that a request changes, and the invitation that made the first one.
    ("archetypes_app_invitation",),
    ("archetypes_app_golemmember",),
    # A person, and what they prove a decision with.
    ("auth_user",),
    ("permits_app_passkey",),
    ("permits_app_passkeychallenge",),
    ("permits_app_capabilitygrant",),
    ("permits_app_signedpromise",),
    ("permits_app_standingplan",),
    # What another agent asked for with it.
    ("a2a_task",),
    # The account that sends it.
    ("permits_app_noncecursor",),
    ("permits_app_outboundtransaction",),
    # Memory, each kind under the golem's row.
    ("memory_app_execution",),
    ("memory_app_episode",),
    ("memory_app_insight",),
    ("memory_app_directive",),
    ("memory_app_strategy",),
    # The two counters that every change of a golem moves, in this order.
    ("tools_app_eventsequence",),
    ("tools_app_audithead",),
    # What the end of a permit writes, once the permit's own row says that it ended.
    ("permits_app_outcomerecord",),
    ("permits_app_venuetrust",),
    ("permits_app_spendentry",),
    ("permits_app_noncereservation",),
    ("permits_app_standingallowance",),
    ("permits_app_pendingrequest",),
    ("permits_app_announcement",),
    # The history of a chain: whoever writes any of it holds the chain's place.
    ("tools_app_followedchain",),
    # The log of all golems. Placing an event is a statement of its own and holds nothing else.
    ("tools_app_outboxevent",),
    ("tools_app_eventhead",),
)

PLACES: dict[str, int] = {table: place for place, tables in enumerate(LOCK_ORDER) for table in tables}
