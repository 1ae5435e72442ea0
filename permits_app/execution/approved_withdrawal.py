"""What the owners of a golem approved to be taken out, as the change of their request keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from permits_app.models import ChangeRequest
from tools_app.core.stored_json import IntText, read_stored


@dataclass(frozen=True, slots=True)
class AskedWithdrawal:
    """So many base units of a token address, or of the chain's coin, to a registered address."""

    chain_id: IntText
    token: str
    amount: IntText
    to: str


def read_asked_withdrawal(request: ChangeRequest) -> AskedWithdrawal:
    """What is asked for. Raises ValueError for another request."""
    return read_stored(AskedWithdrawal, request.change)
