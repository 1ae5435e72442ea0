"""Vaults that are entered and left by request (ERC-7540): what is asked for, what waits, and what can be claimed.

A deposit is asked for and its assets leave at once; whoever runs the vault settles it at a price that nobody knows
before, and then its shares are claimed. Leaving is the same the other way round. Until it settles, assets that were
asked in count as what they are, and shares that were asked back at what they stand for now; what was settled counts at
what it gives. A request that is gone was claimed, taken back, or pushed out by the vault's own people; an operator of
the account may have claimed it for somebody else. `erc7540_takings` tells who got it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.standards.erc4626 import (
    ASKED,
    TO_ASSETS,
    Vault,
    VaultFamily,
)
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import (
    REQUEST_KIND,
    WHEN_REPAID,
    Leg,
    Locked,
    Position,
    PositionRef,
    PositionsUnreadable,
    Reads,
    side_by_side,
)
from tools_app.toolkit.views import LogEntry

ASK_IN: Final = "function requestDeposit(uint256 assets, address controller, address owner) returns (uint256 requestId)"
ASK_OUT: Final = "function requestRedeem(uint256 shares, address controller, address owner) returns (uint256 requestId)"
CLAIM_IN: Final = "function deposit(uint256 assets, address receiver, address controller) returns (uint256 shares)"
TAKE_BACK: Final = "function cancelRequestDeposit()"
"""Lagoon's own: the standard has no way to take a request back."""
MAX_MINT: Final = "function maxMint(address controller) view returns (uint256 shares)"
MAX_WITHDRAW: Final = "function maxWithdraw(address controller) view returns (uint256 assets)"
PAUSED: Final = "function paused() view returns (bool)"
ADMITTED: Final = "function isWhitelisted(address account) view returns (bool)"
"""Lagoon's own: who is not on its list, where it has one, asks for nothing, and not for shares back either."""
ASKED_IN_EVENT: Final = (
    "event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender,"
    " uint256 assets)"
)
ASKED_OUT_EVENT: Final = (
    "event RedeemRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender,"
    " uint256 shares)"
)
IN: Final = "deposit"
OUT: Final = "withdrawal"


@dataclass(frozen=True, slots=True)
class _AskedFor:
    controller: str


_ASKED: Final = ((AbiEvent(ASKED_IN_EVENT, _AskedFor), IN), (AbiEvent(ASKED_OUT_EVENT, _AskedFor), OUT))


@dataclass(frozen=True, slots=True)
class VaultRequest:
    """What an account asked of a vault. Assets: `waits_in`, `ready_in`, `ready_in_worth` (of the `ready_shares` that
    claiming brings), `waits_out_worth` and `ready_out_assets`. Shares: `waits_out` and `ready_out`.
    `is_barred` is whether the account is not on the vault's list of those who may ask.
    """

    waits_in: int = 0
    ready_in: int = 0
    ready_shares: int = 0
    ready_in_worth: int = 0
    waits_out: int = 0
    waits_out_worth: int = 0
    ready_out: int = 0
    ready_out_assets: int = 0
    is_paused: bool = False
    is_barred: bool = False


def request_ref(family: VaultFamily, chain_id: int, vault: Vault, way: str) -> PositionRef:
    """Names what an account asked of a vault, one a way: the standard tells the sum of all requests."""
    return PositionRef(family.protocol, REQUEST_KIND, chain_id, f"{way}-{vault.address}")


def ask_requests(vault: Vault, account: str) -> Reads[VaultRequest]:
    """One batch for who asked for nothing, up to three for who did. Raises PositionsUnreadable."""
    paused, admitted, *outcomes = yield [
        ReadCall(vault.address, PAUSED),
        ReadCall(vault.address, ADMITTED, (account,)),
        *(ReadCall(vault.address, each, (0, account)) for each in ASKED),
    ]
    waits_in, ready_in, waits_out, ready_out = (read_answer(each, vault, "what was asked of it") for each in outcomes)
    nothing = VaultRequest(
        is_paused=paused.ok and bool(paused.values[0]), is_barred=admitted.ok and not admitted.values[0]
    )
    if not any((waits_in, ready_in, waits_out, ready_out)):
        return nothing
    shares, assets, waits_worth, ready_worth = yield [
        ReadCall(vault.address, MAX_MINT, (account,)),
        ReadCall(vault.address, MAX_WITHDRAW, (account,)),
        ReadCall(vault.address, TO_ASSETS, (waits_out,)),
        ReadCall(vault.address, TO_ASSETS, (ready_out,)),
    ]
    ready_shares = read_answer(shares, vault, "what can be claimed") if ready_in else 0
    # A vault that is paused lets nothing be claimed and tells nothing of it: it counts as it did before it settled.
    ready_in_worth = ready_in
    if ready_shares:
        (worth,) = yield [ReadCall(vault.address, TO_ASSETS, (ready_shares,))]
        ready_in_worth = read_answer(worth, vault, "what its shares are worth")
    ready_assets = read_answer(assets, vault, "what can be claimed") if ready_out else 0
    return replace(
        nothing,
        waits_in=waits_in,
        ready_in=ready_in,
        ready_shares=ready_shares,
        ready_in_worth=ready_in_worth,
        waits_out=waits_out,
        waits_out_worth=read_answer(waits_worth, vault, "what its shares are worth"),
        ready_out=ready_out,
        ready_out_assets=ready_assets or read_answer(ready_worth, vault, "what its shares are worth"),
    )


@dataclass(frozen=True, slots=True)
class RequestVaults:
    """Requests at the vaults by request of one protocol: positions, plans, and what calls do."""

    family: VaultFamily

    def tell(
        self, chain_id: int, vault: Vault, asked: VaultRequest, hints: Sequence[PositionRef] = ()
    ) -> tuple[Position, ...]:
        """What is under way; of `hints` also what has arrived."""
        found = []
        for way, waits, ready, raw in (
            (IN, asked.waits_in, asked.ready_in_worth, asked.ready_in),
            (OUT, asked.waits_out_worth, asked.ready_out_assets, asked.ready_out),
        ):
            ref = request_ref(self.family, chain_id, vault, way)
            label = f"{way.capitalize()} asked for at {vault.label}"
            total = waits + ready
            if total:
                legs = (Leg(vault.asset, waits, free_at=WHEN_REPAID) if waits else None, Leg(vault.asset, ready))
                facts = {
                    "vault": vault.address,
                    "asset": vault.asset,
                    "way": way,
                    "pending": str(waits),
                    "claimable": str(raw),
                    "is_paused": asked.is_paused,
                }
                locked = (Locked(vault.asset, total, "paused"),) if asked.is_paused else ()
                kept = tuple(each for each in legs if each is not None and each.raw)
                found.append(Position(ref, label, kept, facts=facts, locked=locked))
            elif ref in hints:
                found.append(Position(ref, label, (), is_settled=True))
        return tuple(found)

    def born(
        self, chain_id: int, logs: Sequence[LogEntry], account: str, vaults: Sequence[Vault]
    ) -> tuple[PositionRef, ...]:
        """The requests that logs say are now the account's, whoever made them."""
        known = {vault.address: vault for vault in vaults if vault.by_request}
        found: dict[PositionRef, None] = {}
        for log in logs:
            for event, way in _ASKED:
                told = event.read(log) if log.address in known else None
                if told is not None and told.controller == account:
                    found[request_ref(self.family, chain_id, known[log.address], way)] = None
        return tuple(found)


@dataclass(frozen=True, slots=True)
class VaultsWithRequests:
    """Positions in the vaults that a protocol knows by its data, and requests at those that are asked."""

    family: VaultFamily
    known: Callable[[int], Sequence[Vault]]

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Shares and requests, side by side. Raises PositionsUnreadable."""
        vaults = self.known(chain_id)
        if not vaults:
            return ()
        asking = [vault for vault in vaults if vault.by_request]
        held: list[Position] = []
        shares, *requests = yield from side_by_side(
            [
                _listed(self.family.list_positions(chain_id, account, vaults)),
                *(_asked(ask_requests(vault, account)) for vault in asking),
            ]
        )
        held += shares.positions
        for vault, told in zip(asking, requests, strict=True):
            ref = self.family.ref(chain_id, vault.address)
            held = [_shut(each, told.asked) if each.ref == ref else each for each in held]
            held += RequestVaults(self.family).tell(chain_id, vault, told.asked, hints)
        return tuple(held)

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """The vaults whose shares came to `account`, and the requests that are its."""
        vaults = self.known(chain_id)
        return (
            *self.family.born(chain_id, logs, account, vaults),
            *RequestVaults(self.family).born(chain_id, logs, account, vaults),
        )


# ---- below ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    positions: tuple[Position, ...] = ()
    asked: VaultRequest = VaultRequest()


def _listed(reads: Reads[tuple[Position, ...]]) -> Reads[_Found]:
    return _Found(positions=(yield from reads))


def _asked(reads: Reads[VaultRequest]) -> Reads[_Found]:
    return _Found(asked=(yield from reads))


def _shut(position: Position, asked: VaultRequest) -> Position:
    """Shares as they are held: what their vault gives now may be those that were asked back, and none of these."""
    is_shut = asked.is_paused or (asked.is_barred and position.facts["redeemable_shares"] == "0")
    facts = {**position.facts, "is_paused": asked.is_paused, "is_barred": asked.is_barred}
    if not asked.ready_out and not is_shut:
        return replace(position, facts=facts)
    asset, worth = str(position.facts["asset"]), int(position.facts["assets"])
    locked = (Locked(asset, worth, "paused" if asked.is_paused else "asked"),) if worth else ()
    return replace(position, facts={**facts, "redeemable_shares": "0"}, locked=locked)


def read_answer(outcome: ReadOutcome, vault: Vault, what: str) -> int:
    if not outcome.ok:
        raise PositionsUnreadable(f"{vault.label} does not tell {what}: {outcome.revert_reason}")
    return int(outcome.values[0])
