"""Placing takes whatever waits, of any golem, looks before it locks, and hands payloads on as text."""

from __future__ import annotations

from importlib import import_module

from django.db import migrations

# plpgsql takes a new snapshot for each statement: the last one sees what was committed while it waited for the head.
CREATE = """
CREATE FUNCTION tools_app_place_events(published timestamptz, most integer)
RETURNS TABLE (
    log_id uuid, place bigint, id uuid, golem_id uuid, sequence bigint, type text, version integer, tick bigint,
    occurred_at timestamptz, payload text
) LANGUAGE plpgsql AS $$
DECLARE
    head_log uuid;
    head_position bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM tools_app_outboxevent AS event WHERE event.position IS NULL) THEN
        RETURN;
    END IF;
    INSERT INTO tools_app_eventhead AS head (id, log_id, position) VALUES (1, gen_random_uuid(), 0)
        ON CONFLICT ON CONSTRAINT tools_app_eventhead_pkey DO UPDATE SET position = head.position
        RETURNING head.log_id, head.position INTO head_log, head_position;
    RETURN QUERY
    WITH waiting AS (
        SELECT event.id AS event_id, row_number() OVER (ORDER BY event.golem_id, event.sequence) AS step
          FROM tools_app_outboxevent AS event
         WHERE event.position IS NULL
         ORDER BY event.golem_id, event.sequence LIMIT most
    ), placed AS (
        UPDATE tools_app_outboxevent AS event
           SET position = head_position + waiting.step, published_at = published
          FROM waiting WHERE event.id = waiting.event_id
     RETURNING event.*
    ), moved AS (
        UPDATE tools_app_eventhead AS head SET position = head.position + (SELECT count(*) FROM waiting)
         WHERE EXISTS (SELECT FROM waiting)
    )
    SELECT head_log, placed.position::bigint, placed.id, placed.golem_id, placed.sequence::bigint, placed.type::text,
           placed.version::integer, placed.heartbeat_tick::bigint, placed.occurred_at, placed.payload::text
      FROM placed ORDER BY placed.position;
END
$$
"""
DROP = "DROP FUNCTION tools_app_place_events(timestamptz, integer)"
BEFORE = import_module("tools_app.migrations.0007_place_events")


class Migration(migrations.Migration):
    dependencies = [("tools_app", "0008_tool_cooccurrence")]

    operations = [
        migrations.RunSQL(CREATE, DROP),
        migrations.RunSQL(BEFORE.DROP, BEFORE.CREATE),
    ]
