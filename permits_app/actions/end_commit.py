"""end_commit: block a permit of which nothing was sent and nothing will be, and give back what it held."""

from __future__ import annotations

import logging

from django.db import transaction

from permits_app.execution.nonces import abandon_nonces
from permits_app.limits import ledger
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits import lifecycle
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted

logger = logging.getLogger(__name__)

S = PermitStatus


@retry_aborted
def end_commit(permit: ActionPermit, error: GolemError) -> None:
    """Nothing was sent and nothing will be: block the permit, give back what it held."""
    now = clock.now()
    logger.info("permit %s blocked: %s", permit.pk, error.code)
    with transaction.atomic():
        # Bytes that a halt kept from being sent stay stored; whoever fills the nonce finds them here.
        done = lifecycle.transition(
            permit_id=permit.pk,
            leaving=S.COMMITTING,
            to=S.BLOCKED,
            actor="system:worker",
            now=now,
            reason=error.detail,
            finished_at=now,
            problem=error.as_problem(),
            data={"code": error.code, **{key: error.data[key] for key in ("hook", "rule") if key in error.data}},
        )
        if done:
            ledger.release(permit_id=permit.pk)
            abandon_nonces(permit_id=permit.pk)
