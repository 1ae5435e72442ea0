"""Safe's allowance module as the product knows it: nothing is held there, and no plan of a golem gives anything there.

Owners give an allowance by their own signatures (`permits_app/approvals/operations/allowance.py`). The module tells
what stands, so that it is listed among an account's rights, and taken back by a halt like them.
"""

from __future__ import annotations

from typing import Final

from tools_app.standards.safe_allowance import (
    ALLOWANCES,
    DELETE_ALLOWANCE,
    LABEL,
    LOCAL_CHAIN_ID,
    MODULE,
    NAME,
    SET_ALLOWANCE,
    TRANSFER_EVENT,
    ask_for_allowed,
    deployments,
)
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import AskedRight, ProtocolDef


def _list_known(chain_id: int, account: str) -> Reads[tuple[tuple[object, ...], ...]]:
    """Key and token of each allowance of the account."""
    return (yield from ask_for_allowed(account))


_TAKING: Final = AskedRight(
    MODULE,
    gives=SET_ALLOWANCE,
    taker=0,
    asks=lambda account, arguments: (ALLOWANCES, (account, *arguments[:2])),
    ends=DELETE_ALLOWANCE,
    end=lambda arguments: arguments[:2],
    label="may take an allowance of the Safe",
    known=_list_known,
)

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label=LABEL,
    deployments=deployments,
    entry=MODULE,
    asked_rights=(_TAKING,),
    events=(TRANSFER_EVENT,),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
)
