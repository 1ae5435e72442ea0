"""The calls of a permit as its row keeps them: the one type of `ActionPermit.calls` and `ActionPermit.batch`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from permits_app.models import ActionPermit
from permits_app.policy_cage.safe_batches import put_signatures
from tools_app.core.stored_json import IntText, read_stored
from tools_app.toolkit.plan import Call


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a plan: `value` in wei, `data` 0x-hex, `label` for people."""

    to: str
    data: str
    value: IntText
    label: str = ""

    @property
    def payload(self) -> bytes:
        """The bytes of `data`."""
        return bytes.fromhex(self.data.removeprefix("0x"))

    @property
    def call(self) -> Call:
        """The call as a plan has it."""
        return Call(to=self.to, data=self.payload, value=self.value, label=self.label)


@dataclass(frozen=True, slots=True)
class StoredTerms:
    """What makes a call a user operation: the EntryPoint, who pays its gas ("" the account), its call's own gas."""

    entry_point: str
    paymaster: str
    call_gas_limit: IntText


@dataclass(frozen=True, slots=True, kw_only=True)
class SentCall(PlannedCall):
    """A call as it is signed. `ends_at`, Unix seconds, is when what the owners of a Safe sign for it ends by itself; 0
    where it does not.
    """

    gas_limit: IntText
    user_operation: StoredTerms | None = None
    ends_at: IntText = 0


def read_planned_calls(stored: Iterable[object]) -> tuple[PlannedCall, ...]:
    """Stored calls of a plan. Raises ValueError for what is none."""
    return tuple(read_stored(PlannedCall, each) for each in stored)


def read_signed_calls(permit: ActionPermit) -> tuple[SentCall, ...]:
    """The permit's calls as they are hashed. Raises ValueError for what is none."""
    return tuple(read_stored(SentCall, each) for each in permit.calls)


def list_sent_calls(permit: ActionPermit) -> tuple[SentCall, ...]:
    """The permit's calls as they are signed and sent: as hashed, with what the owners of its Safe signed put in."""
    calls = read_signed_calls(permit)
    if not permit.owner_signatures:
        return calls
    signatures = bytes.fromhex(permit.owner_signatures.removeprefix("0x"))
    return tuple(replace(each, data="0x" + put_signatures(each.payload, signatures).hex()) for each in calls)
