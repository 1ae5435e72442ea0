"""Reads what the database says of a golem's permits when its tick begins."""

from __future__ import annotations

import json
from uuid import UUID

from django.db import connection

from archetypes_app.models import VitalityRecord
from archetypes_app.vitality import PREDICTION_WINDOW_TICKS
from golem_project.heartbeat.cycle_state import PermitFacts
from permits_app.models import ActionPermit, DeclaredPeg, OutcomeRecord, ReceivedRight, SignedPromise
from permits_app.models.action_record import OPEN_STATES, ActionRecord
from permits_app.models.permit import UNFINISHED
from tools_app.chain.public_pegs import PegUnit
from tools_app.portfolio.pegs import MOST_DECLARED, Peg
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.wording.address_names import name_address

PREDICTION_TOLERANCE_BPS = 200
_MOST_RIGHTS = 20


def read_permit_facts(*, golem_id: UUID, heartbeat_tick: int) -> PermitFacts:
    """Counts of a golem in its tick, the pegs its owners declare, what its open orders and rights bring, and which
    rights give nothing now, in one statement.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _FACTS_SQL,
            {
                "golem": golem_id,
                "first_tick": max(0, heartbeat_tick - PREDICTION_WINDOW_TICKS),
                "unfinished": [str(each) for each in UNFINISHED],
                "open": [str(each) for each in OPEN_STATES],
                "tolerance": PREDICTION_TOLERANCE_BPS,
                "pegs": MOST_DECLARED,
                "rights": _MOST_RIGHTS,
            },
        )
        unfinished, open_actions, predictions, correct, told, awaited, rights = cursor.fetchone()
    pegs = (
        Peg(chain, token, name, PegUnit(unit), apart, source)
        for chain, token, name, unit, apart, source in json.loads(told)
    )
    given = [(int(chain), str(token), str(principal), str(why)) for chain, token, principal, why in json.loads(rights)]
    brought = {(int(chain), str(token)) for chain, token in json.loads(awaited)}
    return PermitFacts(
        unfinished=int(unfinished),
        open_actions=int(open_actions),
        predictions=int(predictions),
        correct_predictions=int(correct),
        declared_pegs=tuple(pegs),
        awaited=frozenset(brought | {(chain, token) for chain, token, _, _ in given}),
        stuck_rights=tuple(
            (principal, name_address(chain, token) or token, why)
            for chain, token, principal, why in given
            if _is_of_its_contract(why)
        ),
    )


def _is_of_its_contract(why: str) -> bool:
    """Whether a look ran into what the contract or its token says, and not into a node, which is told as a chain's."""
    code, colon, _ = why.partition(": ")
    is_an_error = bool(colon) and code.isupper()
    return bool(why) and (not is_an_error or code == PositionsUnreadable.code)


# A permit's tick of life ends three ticks after the tick it was made in. Joined, PostgreSQL reads every outcome there
# is once a golem has a long life: it expects many permits in a span of ticks that holds a few.
_FACTS_SQL = f"""
SELECT (SELECT COUNT(*) FROM {ActionPermit._meta.db_table}
         WHERE golem_id = %(golem)s AND status = ANY(%(unfinished)s)),
       (SELECT COUNT(*) FROM {ActionRecord._meta.db_table} WHERE golem_id = %(golem)s AND state = ANY(%(open)s)),
       COUNT(*), COUNT(*) FILTER (WHERE outcome.is_verified AND outcome.divergence_bps <= %(tolerance)s),
       (SELECT COALESCE(jsonb_agg(jsonb_build_array(
                   peg.chain_id, peg.token, peg.name, peg.stands_for, peg.most_apart_bps, peg.source) ORDER BY peg.id),
               '[]')
          FROM (SELECT * FROM {DeclaredPeg._meta.db_table}
                 WHERE golem_id = %(golem)s ORDER BY id LIMIT %(pegs)s) AS peg),
       (SELECT COALESCE(jsonb_agg(DISTINCT jsonb_build_array(promise.chain_id, brought->>'token')), '[]')
          FROM {SignedPromise._meta.db_table} AS promise, jsonb_array_elements(promise.gets) AS brought
         WHERE promise.golem_id = %(golem)s AND promise.state = 'OPEN'),
       (SELECT COALESCE(jsonb_agg(jsonb_build_array(held.chain_id, held.token, held.principal, held.last_error)
                   ORDER BY held.ends_at, held.id), '[]')
          FROM (SELECT * FROM {ReceivedRight._meta.db_table}
                 WHERE golem_id = %(golem)s AND state = 'STANDING' ORDER BY ends_at, id LIMIT %(rights)s) AS held)
  FROM {OutcomeRecord._meta.db_table} AS outcome
 WHERE outcome.taken_back_at IS NULL AND outcome.permit_id = ANY(ARRAY(
       SELECT permit.id FROM {ActionPermit._meta.db_table} AS permit
        WHERE permit.golem_id = %(golem)s AND permit.status IN ('COMMITTED', 'REVERTED')
          AND permit.expires_at_tick >= 3 + GREATEST(%(first_tick)s, COALESCE(
              (SELECT since_tick FROM {VitalityRecord._meta.db_table} WHERE golem_id = %(golem)s), 0))
          AND permit.expires_at_tick < 9223372036854775807))
"""  # noqa: S608  (the tables' own names)
