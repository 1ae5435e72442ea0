"""`close_safe`: take out of a Safe what takes strangers' calls for the Safe's own word, signed by the Safe's owners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal, SafeTxDraft
from permits_app.approvals.safe_nonces import find_free_nonce
from permits_app.custody.exposed_safe_checks import list_watched
from permits_app.custody.safe_view import SafeView, open_chain, read_safe
from permits_app.custody.signing_route import find_end_through
from permits_app.models import SigningKey
from permits_app.permits.plan_store import decode_calls, encode_batch
from permits_app.policy_cage.safe_batches import pack_calls
from permits_app.policy_cage.safe_fallback import (
    CLOSE_SAFE,
    MULTI_SEND,
    SAFE_HANDLER,
    Openings,
    plan_closing,
    read_opening,
    say_opening,
)
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from tools_app.chain.chains import get_deployment
from tools_app.chain.networks import ChainNotSupported
from tools_app.core.stored_json import read_stored, write_stored
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import RiskTier


@dataclass(frozen=True, slots=True)
class _ClosingPlace:
    """A Safe of the golem."""

    chain_id: int
    account: str


@dataclass(frozen=True, slots=True)
class _SeenOpening:
    """The Safe, what is open of it, the calls that close it, and who signs them, in words."""

    nonce: int
    threshold: int
    block: int
    signs: str
    handler: str
    modules: tuple[str, ...]
    is_open: bool
    calls: list[dict[str, object]]
    multi_send: str
    ends_through: str


@dataclass(frozen=True, slots=True)
class _ClosingArguments(_ClosingPlace):
    """Which Safe, and what was seen of it."""

    seen: _SeenOpening


class CloseSafe:
    """`arguments`: `chain_id` and `account`, a Safe of the golem."""

    name = CLOSE_SAFE

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """The Safe, what is open of it, and the calls that close it. Raises ChangeUnchanged, CageHasNoSafe."""
        place = read_stored(_ClosingPlace, arguments)
        chain_id, account = place.chain_id, place.account
        watched = [one for one in list_watched(golem=golem) if (one.chain_id, one.account) == (chain_id, account)]
        if not watched:
            raise ChangeUnchanged("the golem does not act with this Safe", account=account)
        chain = open_chain(chain_id, now=now)
        openings = read_opening(chain, account, watched[0].cages)
        if not openings:
            raise ChangeUnchanged("the Safe is closed already", account=account)
        safe = read_safe(chain, account)
        multi_send = find_deployed(chain, MULTI_SEND)
        calls = plan_closing(chain, account, openings, handler=find_deployed(chain, SAFE_HANDLER) or ZERO_ADDRESS)
        seen = _SeenOpening(
            nonce=safe.nonce,
            threshold=safe.threshold,
            block=safe.block,
            signs=_say_who_signs(golem, safe),
            handler=openings.handler,
            modules=tuple(openings.modules),
            is_open=openings.is_open,
            # Without MultiSend one call closes it and the next is asked for afterwards.
            calls=encode_batch(calls if multi_send else calls[:1]),
            multi_send=multi_send,
            ends_through=find_end_through(chain) if multi_send else "",
        )
        return {**arguments, "seen": write_stored(seen)}

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """The Safe's calls to itself, as one transaction."""
        asked = read_stored(_ClosingArguments, arguments)
        seen, account, chain_id = asked.seen, asked.account, asked.chain_id
        openings = Openings(seen.handler, seen.modules, seen.is_open)
        calls = decode_calls(seen.calls)
        nonce = find_free_nonce(chain_id=chain_id, safe=account, at_least=seen.nonce)
        draft = SafeTxDraft(
            chain_id=chain_id,
            safe=account,
            tx=pack_calls(calls, safe=account, multi_send=seen.multi_send, nonce=nonce),
            block=seen.block,
            threshold=seen.threshold,
            ends_through=seen.ends_through,
        )
        lines = (
            BeforeAndAfter(
                "The Safe", say_opening(account, openings), "nobody but its owners, its cage and its own keys"
            ),
            *(BeforeAndAfter(call.label, "", "once its owners signed", "tightens") for call in calls),
            BeforeAndAfter("Signs", "", seen.signs),
            BeforeAndAfter(
                "Loans within one transaction", "taken through it", "none until a new LoanCallback is set up"
            ),
        )
        return Proposal(
            f"Close the Safe {account}: strangers can act for it"[:200],
            {"account": account, "chain_id": str(chain_id), "calls": seen.calls},
            lines,
            RiskTier.STANDARD,
            is_tightening=True,
            safe_tx=draft,
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """The Safe itself refuses to take out what is not there; that is rehearsed before it is sent."""

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """The chain has it; the next look sees it."""
        return {"account": read_stored(_ClosingPlace, change).account}


def _say_who_signs(golem: Golem, safe: SafeView) -> str:
    """Whose signatures the Safe asks for, and where they come from if the golem's own key is all there is."""
    ours = SigningKey.objects.filter(golem=golem, address__in=safe.owners).values_list("address", flat=True)
    words = f"{safe.threshold} of its {len(safe.owners)} owners"
    if len(safe.owners) - len(ours) >= safe.threshold:
        return words
    return (
        f"{words}, with the golem's own key {', '.join(sorted(ours))}: back its wallet up, and sign this request with"
        " the file by `manage.py sign_request`"
    )


def find_deployed(chain: ChainReader, name: str) -> str:
    """A registered contract that has code; empty for none."""
    try:
        address = get_deployment(chain.chain_id).contracts.get(name, "")
    except ChainNotSupported:
        return ""
    return address if address and chain.code(address) else ""
