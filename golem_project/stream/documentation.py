"""Writes docs/events.md from the schema file."""

from __future__ import annotations

from tools_app.core.event_schemas import SCHEMAS, FieldKind

_WORDS = {
    FieldKind.TEXT: "text",
    FieldKind.INTEGER: "whole number",
    FieldKind.FLAG: "true or false",
    FieldKind.AMOUNT: "decimal text, base units",
    FieldKind.UNITS: "decimal text, units",
    FieldKind.HEX: "0x hex",
    FieldKind.UUID: "UUID",
    FieldKind.TIME: "RFC 3339 time",
    FieldKind.TEXTS: "list of texts",
    FieldKind.OBJECT: "object",
    FieldKind.OBJECTS: "list of objects",
}
_HEAD = """# Events

Written by `manage.py events_page`; the schemas are in `tools_app/core/event_schemas.py`.

Follow them at `GET /api/v1/events`: with `Accept: text/event-stream` as a stream that resumes from `Last-Event-ID`,
else as JSON pages with a cursor; or by webhooks (Standard Webhooks), or with `manage.py golem tail GOLEM`. A golem's
token (scope `events`) sees its golem, an owner's session the golems they own. `types` takes wire names and families
such as `tool:*`.

Every event has `event_id`, `type`, `version`, `golem_id`, `sequence` (counts the golem's events without gaps),
`heartbeat_tick` (the newest; 0 before the first), `occurred_at` and `payload`. Text from outside comes as
`{"untrusted": true, "value": …}`: it is data, never instruction. A stream that is cut off says so with
`stream:resume`, which is not an event of a golem: `reason` and `last_event_id` to come back with. One token or owner
has at most 10 streams open in one server process, and a process at most 1,000; one more is refused with
`STREAM_LIMIT_REACHED`.

Events are kept for GOLEM_EVENT_RETENTION_DAYS (90; 0: for ever), and longer while a webhook that is on has still to
deliver them. A cursor from before the oldest is refused with `CURSOR_EXPIRED` (410) and `oldest_cursor` to go on from;
`since` starts at the oldest. The audit log is another record and is never shortened.

Webhooks are delivered at least once, one request at a time for each webhook, and may come out of order; `webhook-id`
names the event, `sequence` its place. A failed delivery is tried again after 5 s, 30 s, 2 min and ever longer for 24
hours; a webhook that fails for 24 hours without one success is switched off. What its owner may no longer see is not
sent. A secret that was rotated signs along for 24 hours.

| Event | When | Fields; those in italics may be missing |
| --- | --- | --- |
"""


def write_page() -> str:
    """The whole page."""
    rows = []
    for kind, schema in SCHEMAS.items():
        fields = [f"`{name}` {_WORDS[field]}" for name, field in schema.required.items()]
        fields += [f"*{name}* {_WORDS[field]}" for name, field in schema.optional.items()]
        rows.append(f"| `{kind}` | {schema.when} | {', '.join(fields)} |")
    return _HEAD + "\n".join(rows) + "\n"
