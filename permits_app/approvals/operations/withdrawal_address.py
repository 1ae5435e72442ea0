"""`withdrawal_address`: where a golem's owners may have its money sent, registered after a wait, taken out at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.approval_rules import COOLING_LARGE_SECONDS
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.models import WithdrawalAddress
from permits_app.models.withdrawal import REGISTER, find_standing, list_standing
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from tools_app.core.errors import InvalidParams
from tools_app.core.storable_text import make_plain
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier
from tools_app.toolkit.golem_chains import list_chains
from tools_app.wording.formats import format_chain

MOST_ADDRESSES: Final = 20


@dataclass(frozen=True, slots=True)
class _AddressChange:
    """What is done with which address, as it is asked for and as its request keeps it; a label to register."""

    act: str
    chain_id: int
    address: str
    label: str = ""

    @property
    def removes(self) -> bool:
        """Whether the address is taken off."""
        return self.act == "remove"


class RegisterAddress:
    """`arguments`: `act`, register or remove; `chain_id`, `address` in EIP-55 form, and a `label` to register."""

    name = REGISTER

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """Another address, or one less. Raises ChangeUnchanged, InvalidParams."""
        asked = read_stored(_AddressChange, arguments)
        chain_id, address = asked.chain_id, asked.address
        known = find_standing(golem.pk, chain_id=chain_id, address=address)
        where = f"on {format_chain(chain_id)}"
        change: dict[str, object] = {"act": asked.act, "chain_id": str(chain_id), "address": address}
        if asked.removes:
            if known is None:
                raise ChangeUnchanged("this address is not registered", address=address)
            line = BeforeAndAfter(
                f"Withdrawals {where}", f"may go to {address}", "may not go there any more", "tightens"
            )
            title = f"Take {known.label} off the withdrawal addresses"
            return Proposal(title[:200], change, (line,), RiskTier.STANDARD, is_tightening=True)
        if known is not None:
            raise ChangeUnchanged("this address is registered already", address=address)
        label = make_plain(asked.label).strip()
        _check_new(golem, chain_id=chain_id, address=address, label=label)
        line = BeforeAndAfter(
            f"Withdrawals {where}",
            "may not go there",
            f"may go to {label}, {address}",
            "loosens; whoever holds its key gets what is sent there, and nobody brings it back",
        )
        return Proposal(
            f"Register {label} as a withdrawal address {where}"[:200],
            {**change, "label": label},
            (line,),
            RiskTier.CRITICAL,
            cooling_seconds=COOLING_LARGE_SECONDS,
            value_micro_usd=read_stake(golem),
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """It still is, or is not, registered."""
        kept = read_stored(_AddressChange, change)
        known = find_standing(golem.pk, chain_id=kept.chain_id, address=kept.address)
        if (known is not None) is not kept.removes:
            raise ChangeStale("the withdrawal addresses changed since")
        if not kept.removes:
            if kept.address == golem.address:
                raise ChangeStale("this is the golem's own account now")
            if _count(golem) >= MOST_ADDRESSES:
                raise ChangeStale(f"there are {MOST_ADDRESSES} withdrawal addresses already; take one out first")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Write the row, or end it."""
        kept = read_stored(_AddressChange, change)
        chain_id, address = kept.chain_id, kept.address
        if kept.removes:
            list_standing(golem.pk).filter(chain_id=chain_id, address=address).update(removed_at=now)
        else:
            WithdrawalAddress.objects.create(
                golem=golem, chain_id=chain_id, address=address, label=kept.label, registered_at=now
            )
        return {"act": kept.act, "address": address}


def _count(golem: Golem) -> int:
    return list_standing(golem.pk).count()


def _check_new(golem: Golem, *, chain_id: int, address: str, label: str) -> None:
    """Raises InvalidParams."""
    if chain_id not in list_chains(golem):
        raise InvalidParams("the golem has no such chain", fields={"chain_id": "unknown"})
    if not label:
        raise InvalidParams("give the address a name", fields={"label": "empty"})
    if address in (golem.address, ZERO_ADDRESS):
        raise InvalidParams("money is withdrawn to another account than this", fields={"address": "not another's"})
    if _count(golem) >= MOST_ADDRESSES:
        raise InvalidParams(
            f"a golem has at most {MOST_ADDRESSES} withdrawal addresses; take one out first",
            fields={"address": "too many"},
        )
