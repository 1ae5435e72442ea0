"""Defines an owner's operation: its name, its proposal, and the act itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, runtime_checkable

from archetypes_app.models import Golem
from permits_app.policy_cage.safe_batches import pack_calls, unpack_calls
from permits_app.policy_cage.safe_tx import SafeTx, hash_safe_tx
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.stored_json import read_stored
from tools_app.standards.deadline_contract import make_end_call
from tools_app.toolkit.enums import RiskTier
from tools_app.toolkit.plan import Call


class UnknownOperation(GolemError, status=404, recovery=Recovery.CHECK_STATE, title="There is no such operation"):
    pass


@dataclass(frozen=True, slots=True)
class BeforeAndAfter:
    """One line of "before and after", in words."""

    words: str
    before: str
    after: str
    note: str = ""
    group: str = ""
    """The heading it is folded under where there are many; empty for what everybody reads."""

    def as_dict(self) -> dict[str, str]:
        """JSON-ready."""
        told = {"words": self.words, "before": self.before, "after": self.after, "note": self.note}
        return {**told, "group": self.group} if self.group else told


@dataclass(frozen=True, slots=True)
class ShownChange:
    """What a request shows of its change, as it keeps it."""

    differences: tuple[BeforeAndAfter, ...] = ()


def read_shown(shown: object) -> ShownChange:
    """Read a request's `shown`; nothing of one that keeps none. Raises ValueError where a line is of another type."""
    return read_stored(ShownChange, shown) if isinstance(shown, dict) else ShownChange()


@dataclass(frozen=True, slots=True)
class SeenSafe:
    """A Safe as it was at `block`, by its next nonce and how many must sign, for the draft of a transaction of it.

    `ends_through` is MultiSendCallOnly, through which what is signed can be given an end; empty where it cannot.
    """

    chain_id: int
    safe: str
    nonce: int
    threshold: int
    block: int
    ends_through: str = ""


@dataclass(frozen=True, slots=True)
class SafeTxDraft:
    """The transaction of a Safe that carries a change out: its owners sign it. `block` is the one the Safe was read at,
    `threshold` how many it asked for then, `own_key` the golem's key when it is one of them and will send it.
    `ends_at`, Unix seconds, is when it ends by itself: 0 when it does not; None where nobody said so yet.
    `ends_through` is MultiSendCallOnly, through which it can be given an end; empty where it cannot.
    """

    chain_id: int
    safe: str
    tx: SafeTx
    block: int
    threshold: int = 1
    own_key: str = ""
    ends_at: int | None = None
    ends_through: str = ""

    def end_at(self, moment: datetime) -> SafeTxDraft:
        """The same calls behind one that undoes them all from `moment` on, where the chain has what it takes."""
        if not self.ends_through:
            return replace(self, ends_at=0)
        tx, ends_at = self.tx, int(moment.timestamp())
        alone = (Call(to=tx.to, data=tx.data, value=tx.value, label=""),)
        calls = (unpack_calls(tx.data) or ()) if tx.operation else alone
        ending = pack_calls(
            (make_end_call(ends_at), *calls), safe=self.safe, multi_send=self.ends_through, nonce=tx.nonce
        )
        return replace(self, tx=ending, ends_at=ends_at)

    def as_dict(self) -> dict[str, str]:
        """What the request's digest binds, JSON-ready."""
        digest = hash_safe_tx(self.tx, safe=self.safe, chain_id=self.chain_id)
        return {
            "chain_id": str(self.chain_id),
            "safe": self.safe,
            "nonce": str(self.tx.nonce),
            "to": self.tx.to,
            "value": str(self.tx.value),
            "data": "0x" + self.tx.data.hex(),
            **({"operation": str(self.tx.operation)} if self.tx.operation else {}),
            "safe_tx_hash": "0x" + digest.hex(),
            **({"ends_at": str(self.ends_at)} if self.ends_at is not None else {}),
        }


@dataclass(frozen=True, slots=True)
class Proposal:
    """An operation as it would be asked for now. `change` is what is hashed, approved and later applied, JSON-ready.

    What only tightens may be approved by who asked for it. With `safe_tx` it is carried out on chain.
    """

    title: str
    change: dict[str, object]
    differences: tuple[BeforeAndAfter, ...]
    risk_tier: RiskTier
    cooling_seconds: int = 0
    value_micro_usd: int = 0
    is_tightening: bool = False
    safe_tx: SafeTxDraft | None = None


class ProposedOperation(Protocol):
    """One kind of privileged change that is no permit."""

    name: str

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """What `arguments` would change now. Raises ChangeUnchanged, InvalidParams."""
        ...

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """Raises ChangeStale when what the change starts from is not so any more. `golem` is locked."""
        ...

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Do it, in the caller's transaction, with `golem` locked; answers facts for the request's page."""
        ...


@runtime_checkable
class ObservingOperation(Protocol):
    """An operation that has to look at the chain before anything is locked."""

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """`arguments` with what the chain says added under `seen`. No transaction is open."""
        ...


@runtime_checkable
class ChainBoundOperation(Protocol):
    """An operation that starts from what a chain says and is carried out on this server."""

    def check_chain(self, golem: Golem, change: Mapping[str, object], *, now: datetime) -> None:
        """Right before it is applied; no transaction is open. Raises ChangeStale, and what a node raises."""
        ...
