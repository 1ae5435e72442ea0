"""Finds what keeps a golem from giving up a chain: what it holds or waits for there.

A value that stops counting would be a fall, or hide one. Told from rows alone. Decision 0446.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.models import ActionPermit, NavSnapshot, PendingRequest, Wallet
from permits_app.models.pending_request import FOLLOWED
from permits_app.models.permit import UNFINISHED
from permits_app.models.wallet import WalletKind
from permits_app.permits.other_chain_holdings import name_chain
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.golem_chains import list_chains

NEXT_TO_NOTHING_MICRO_USD: Final = 1_000_000
"""So much may be left behind on a chain that a golem gives up: dust that strangers send binds nobody."""
OF_A_KEY: Final = (WalletKind.LOCAL_KEYSTORE, WalletKind.PRIVY, WalletKind.AWS_KMS, WalletKind.TURNKEY)


def find_tie(golem: Golem, *, chains: Collection[int]) -> str:
    """Why `golem` cannot have just these chains; empty when it can."""
    wallet = Wallet.objects.filter(golem=golem).first()
    if len(set(chains)) > 1 and wallet is not None and wallet.kind not in OF_A_KEY:
        return "It acts through a contract, which is on one chain: its address is nobody's account elsewhere."
    for chain_id in sorted(set(list_chains(golem)) - set(chains)):
        if tie := _find_tie_to(golem, chain_id):
            return f"{name_chain(chain_id)} cannot be taken off: {tie}."
    return ""


def _find_tie_to(golem: Golem, chain_id: int) -> str:
    permits = ActionPermit.objects.filter(golem=golem, chain_id=chain_id)
    if permits.filter(status__in=[str(state) for state in UNFINISHED]).exists():
        return "an action there is under way; wait for its outcome"
    waiting = PendingRequest.objects.filter(golem=golem, state__in=[str(state) for state in FOLLOWED])
    if waiting.filter(Q(chain_id=chain_id) | Q(expects_chain_id=chain_id)).exists():
        return "it waits for something there; wait until that is done"
    newest = NavSnapshot.objects.filter(golem=golem, chain_id=chain_id).order_by("-at").first()
    if newest is not None and max(newest.value_micro_usd, newest.debt_micro_usd) > NEXT_TO_NOTHING_MICRO_USD:
        worth = format_micro_usd(max(newest.value_micro_usd, newest.debt_micro_usd))
        return f"it still holds {worth} there; move that to another of its chains or pay it out first"
    return ""
