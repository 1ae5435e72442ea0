"""receive_grant: write what an owner granted into a golem's book, as the grant itself says and its contracts confirm.

What was asked for plays no part: a wallet may grant less or more. Appends RightReceived.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.errors import RightEnded, RightWithdrawn
from permits_app.limits.received_rights import receive, view_right
from permits_app.models import ReceivedRight
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.others_money import GrantReader
from tools_app.toolkit.protocol import SHELF

_READ_BUDGET_MS: Final = 10_000
LONGEST_TEXT: Final = 20_000
"""Characters of a grant; a delegation with every caveat that is known has a tenth of it."""


def receive_grant(
    *, golem: Golem, protocol: str, chain_id: int, given: str, actor: str, now: datetime
) -> ReceivedRight:
    """The right as it stands in the book now; one that is there already stays as it is.

    Raises InvalidParams, GrantUnsafe, RightEnded, RightWithdrawn, ChainNotSupported, and the node errors.
    """
    found = SHELF.get(protocol)
    if found is None or found.received is None or not isinstance(found.received, GrantReader):
        raise InvalidParams(f"{protocol} knows no grants", fields={"protocol": "one whose grants are read here"})
    if golem.address is None:
        raise InvalidParams(
            "this golem has no account yet that could hold a right", fields={"golem": "one with a wallet"}
        )
    if len(given) > LONGEST_TEXT:
        raise InvalidParams(f"a grant has at most {LONGEST_TEXT} characters", fields={"given": "the context alone"})
    grant = found.received.read_grant(chain_id=chain_id, given=given, holder=golem.address)
    right = ReceivedRight(
        golem=golem,
        chain_id=chain_id,
        protocol=protocol,
        reference=grant.reference,
        kind=grant.kind,
        principal=grant.principal,
        holder=golem.address,
        token=grant.token,
        most=grant.limit.most,
        period_seconds=grant.limit.period_seconds,
        starts_at=datetime.fromtimestamp(grant.limit.starts_at, UTC),
        ends_at=datetime.fromtimestamp(grant.limit.ends_at, UTC),
        terms=dict(grant.terms),
    )
    reader = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_READ_BUDGET_MS))
    if grant.limit.ends_at <= reader.block.timestamp:
        raise RightEnded(f"it was over on {right.ends_at:%Y-%m-%d %H:%M} UTC", ends_at=right.ends_at.isoformat())
    view = view_right(right)
    standing = found.received.judge(view, reader.call_many(found.received.ask(view)))
    if not standing.stands:
        raise RightWithdrawn(f"it does not stand: {standing.reason}", reference=grant.reference)
    [stored] = receive(golem=golem, rights=[right], actor=actor, now=now)
    return stored
