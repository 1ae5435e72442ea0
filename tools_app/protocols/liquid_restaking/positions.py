"""Reads what an account has at issuers of restaked ether: their tokens, and requests that wait; as ether, which comes
back.

ether.fi lists no requests: those that the golem's receipts told are looked for, so that whatever a stranger asks for in
its name is neither counted nor in the way. Anybody may claim a request at Renzo for its owner, and Kelp's operators may
complete one: what is gone there has arrived, because it ends in no other way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import encode_event_topics
from tools_app.core.stored_json import read_stored
from tools_app.protocols.liquid_restaking import kelp, renzo
from tools_app.protocols.liquid_restaking.addresses import (
    ETHERFI,
    KELP,
    LABELS,
    NAME,
    RENZO,
    SYMBOLS,
    RestakingContracts,
    contracts_on,
)
from tools_app.protocols.liquid_restaking.issuer_reads import ask_holdings
from tools_app.protocols.liquid_restaking.issuers import Holding, Request, parse_id
from tools_app.standards import erc721
from tools_app.toolkit.positions import (
    REQUEST_KIND,
    WHEN_REPAID,
    Act,
    ExitStep,
    Leg,
    Locked,
    Position,
    PositionRef,
    Reads,
    ShareIndex,
    Stuck,
    Trail,
    Wait,
)
from tools_app.toolkit.views import NATIVE, LogEntry

STAKE: Final = "stake"
DUST_WEI: Final = 10**14
"""What is worth less stays: whoever sends so little keeps nobody from being out."""
_BEYOND: Final = "beyond"
_ALL: Final = "max"


def stake_ref(chain_id: int, issuer: str) -> PositionRef:
    """Names what is held of an issuer's token."""
    return PositionRef(NAME, STAKE, chain_id, issuer)


def request_ref(chain_id: int, request_id: str) -> PositionRef:
    """Names a request that waits, such as `kelp-12`."""
    return PositionRef(NAME, REQUEST_KIND, chain_id, request_id)


def list_trails(chain_id: int, account: str) -> tuple[Trail, ...]:
    """The transfers by which requests of ether.fi came to an account."""
    at = contracts_on(chain_id)
    if at is None:
        return ()
    topics = encode_event_topics(erc721.TRANSFER_EVENT, to=account)
    return (Trail((at.etherfi_requests,), tuple(topics)),)


def is_only_in_logs(ref: PositionRef) -> bool:
    """Whether no contract lists it: a request at ether.fi."""
    return ref.kind == REQUEST_KIND and ref.id.startswith(ETHERFI)


class RestakedEtherPositions:
    """Tokens at the rate their issuers tell, and requests at what they give now."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every position. Raises PositionsUnreadable."""
        at = contracts_on(chain_id)
        if at is None:
            return ()
        hinted = [told for ref in hints if ref.kind == REQUEST_KIND and (told := parse_id(ref.id)) is not None]
        numbers = sorted({number for issuer, number in hinted if issuer == ETHERFI})
        holdings = yield from ask_holdings(at, account, numbers)
        found: list[Position] = []
        for holding in holdings:
            if holding.tokens:
                found.append(_stake(chain_id, at, holding))
            found += [_request(chain_id, at, holding, each) for each in holding.requests]
            if holding.has_more:
                ref = request_ref(chain_id, f"{holding.issuer}-{_BEYOND}")
                label = f"more requests at {LABELS[holding.issuer]}, not read"
                found.append(Position(ref, label, (), is_whole=False))
        listed = {each.ref for each in found}
        partly = {each.issuer for each in holdings if each.has_more}
        found += [
            _arrived(chain_id, issuer, number)
            for issuer, number in hinted
            if issuer in (KELP, RENZO) and issuer not in partly
            if request_ref(chain_id, f"{issuer}-{number}") not in listed
        ]
        return tuple(found)

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Requests that came to the account."""
        at = contracts_on(chain_id)
        found: dict[str, None] = {}
        if at is None:
            return ()
        for log in logs:
            if log.address == at.etherfi_requests and (moved := erc721.MOVED.read(log)) is not None:
                if moved.to == account:
                    found[f"{ETHERFI}-{moved.token_id}"] = None
            elif log.address == at.kelp_withdrawals and (queued := kelp.REQUESTS.read(log)) is not None:
                if queued.withdrawer == account:
                    found[f"{KELP}-{queued.user_nonce}"] = None
            elif log.address == at.renzo_queue and (created := renzo.REQUESTS.read(log)) is not None:
                if created.user == account:
                    found[f"{RENZO}-{created.withdraw_request_id}"] = None
        return tuple(request_ref(chain_id, each) for each in found)


@dataclass(frozen=True, slots=True)
class _Issued:
    issuer: str


@dataclass(frozen=True, slots=True)
class _RequestFacts:
    is_valid: bool
    is_claim_paused: bool


@dataclass(frozen=True, slots=True)
class _StakeFacts:
    worth: int
    tokens: int
    least_tokens: int
    is_out_paused: bool


class RestakedEtherExits:
    """Ask for withdrawal at full worth, wait, claim."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """One step; dust stays."""
        chain_id = position.ref.chain_id
        if position.is_settled:
            return None
        if not position.is_whole:
            return Stuck("there are more requests than are read; claim the oldest first")
        issued_by = read_stored(_Issued, position.facts).issuer
        issuer = LABELS[issued_by]
        if position.ref.kind == REQUEST_KIND:
            request = read_stored(_RequestFacts, position.facts)
            if not request.is_valid:
                return Stuck(f"{issuer} has struck the request: only its admins can let it out")
            free = position.legs[0].free_at if position.legs else None
            if free == WHEN_REPAID:
                return Wait(None, f"{issuer} has not come to the request yet")
            if free is not None:
                return Wait(max(free, now + 1), f"{issuer} lets every request wait so long")
            if request.is_claim_paused:
                return Wait(None, f"{issuer} has paused claims")
            asked = {"request_id": position.ref.id, "chain_id": chain_id}
            return Act("lrt_claim_withdrawal", asked, "the request can be claimed")
        stake = read_stored(_StakeFacts, position.facts)
        if stake.worth < DUST_WEI or stake.tokens < stake.least_tokens:
            return None
        if stake.is_out_paused:
            return Wait(None, f"{issuer} has paused its withdrawals")
        asked = {"protocol": issued_by, "amount": _ALL, "mode": "queue", "chain_id": chain_id}
        return Act("lrt_withdraw", asked, "the tokens are asked back at full worth")


def _stake(chain_id: int, at: RestakingContracts, holding: Holding) -> Position:
    issuer, standing = holding.issuer, holding.standing
    token = at.tokens[issuer]
    claims = {token, at.eeth} if issuer == ETHERFI else {token}
    facts: dict[str, object] = {
        "issuer": issuer,
        "tokens": str(holding.tokens),
        "worth": str(holding.worth),
        "rate": str(standing.rate),
        "least_tokens": str(standing.least_in_tokens),
        "is_out_paused": standing.is_out_paused,
        "at_once": str(standing.at_once),
    }
    return Position(
        ref=stake_ref(chain_id, issuer),
        label=f"{SYMBOLS[issuer]} ({LABELS[issuer]})",
        legs=(Leg(NATIVE, holding.worth),),
        claim_tokens=frozenset(claims),
        facts=facts,
        share_index=ShareIndex(token, standing.rate, holding.tokens),
        locked=(Locked(NATIVE, holding.worth, "queue"),) if standing.is_out_paused and holding.worth else (),
        relies_on=frozenset({at.kelp_oracle}) if issuer == KELP else frozenset(),
        # Where an issuer counts no time, nobody knows when it comes to a request.
        leaving_seconds=standing.delay or None,
    )


def _request(chain_id: int, at: RestakingContracts, holding: Holding, request: Request) -> Position:
    is_stopped = holding.standing.is_claim_paused or not request.is_valid
    return Position(
        ref=request_ref(chain_id, request.id),
        label=f"{LABELS[request.issuer]} withdrawal request {request.number}",
        legs=(Leg(NATIVE, request.worth, free_at=request.free_at),),
        claim_tokens=frozenset({at.etherfi_requests}) if request.issuer == ETHERFI else frozenset(),
        facts={
            "issuer": request.issuer,
            "number": str(request.number),
            "place": str(request.place),
            "asked": str(request.asked),
            "is_valid": request.is_valid,
            "is_claim_paused": holding.standing.is_claim_paused,
        },
        locked=(Locked(NATIVE, request.worth, "paused"),) if is_stopped and request.worth else (),
    )


def _arrived(chain_id: int, issuer: str, number: int) -> Position:
    ref = request_ref(chain_id, f"{issuer}-{number}")
    return Position(ref, f"{LABELS[issuer]} withdrawal request {number}", (), is_settled=True)
