"""Keys of golems whose own account runs somebody else's code (EIP-7702), in words, as they were last seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import QuerySet

from archetypes_app.models import Golem
from permits_app.custody.account_code import choose_code
from permits_app.models import SigningKey
from permits_app.models.signing_key import KeyState
from tools_app.wording.formats import format_chain

_MOST_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class DelegationLine:
    """One key on one chain; `since` is when it was last seen otherwise. `is_agreed`: its owners let it run that."""

    golem: Golem
    sentence: str
    since: datetime
    is_agreed: bool = False


def list_delegation_lines(golems: QuerySet[Golem] | Sequence[Golem]) -> tuple[DelegationLine, ...]:
    """Those of `golems`, by key and chain."""
    keys = SigningKey.objects.filter(golem__in=golems).exclude(delegated={}).exclude(state=KeyState.DROPPED)
    return tuple(line for key in keys.select_related("golem").order_by("pk")[:_MOST_SHOWN] for line in _describe(key))


def _describe(key: SigningKey) -> Iterator[DelegationLine]:
    # A smart account's key signs for another account; what its own one runs means nothing to that.
    holds = "It signs nothing itself there. " if not key.account else "Its own account is not the golem's. "
    for chain_id, contract in sorted(key.delegated.items()):
        if contract == choose_code(key, int(chain_id)):
            yield DelegationLine(
                golem=key.golem,
                sentence=(
                    f"Its account {key.address} on {format_chain(int(chain_id))} runs the code of {contract}, as you"
                    " agreed (EIP-7702). It drops that by itself once the golem acts with another account."
                ),
                since=key.updated_at,
                is_agreed=True,
            )
            continue
        yield DelegationLine(
            golem=key.golem,
            sentence=(
                f"The key {key.address} has delegated its account on {format_chain(int(chain_id))} to the code of"
                f" {contract}, which may do anything with what that account holds. {holds}If none of you did this in a"
                " wallet, somebody else has the key: act with another one, and move what this one holds."
            ),
            since=key.updated_at,
        )
