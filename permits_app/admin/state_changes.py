"""Shows everything that a permit's plan changes on the chain: accounts, coins, code and slots.

The plan is simulated once more on its block, by the engine the golem's owner chose, and asked for the whole state
difference. Slots are raw words: what they mean only a contract's source can say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from permits_app.admin.trace_view import BUDGET_MS, TraceFrame, name_own, rebuild_request
from permits_app.models import ActionPermit
from permits_app.permits.kept_simulation import read_simulation
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.simulation.engine import AccountDiff
from tools_app.simulation.select import run_simulation
from tools_app.toolkit.enums import EngineSetting
from tools_app.wording.address_names import name_address
from tools_app.wording.formats import format_coin

MOST_SLOTS: Final = 100
"""Of one account; a hostile contract can write thousands."""
_MOST_ACCOUNTS: Final = 100


@dataclass(frozen=True, slots=True)
class SlotChange:
    """One slot and its word before and after, in hex without leading zeros."""

    slot: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AccountChange:
    """One account; `summary` tells coins, nonce, code and how many slots in words."""

    address: str
    name: str
    summary: str
    slots: tuple[SlotChange, ...]
    slots_left_out: int


@dataclass(frozen=True, slots=True)
class StateChanges:
    """The accounts by address and the label of the run that told them, or why there are none."""

    accounts: tuple[AccountChange, ...]
    fidelity: str
    problem: str = ""
    accounts_left_out: int = 0


def build_state(permit: ActionPermit, *, frames: Iterable[TraceFrame] = ()) -> StateChanges:
    """The state difference of a permit's plan, with the names that the tree of its calls found out.

    A node that cannot answer is a problem on the page and no error.
    """
    run = read_simulation(permit.simulation)
    if run is None:
        return StateChanges((), "", "This write sends no transaction, so it changes nothing on the chain.")
    request, _ = rebuild_request(permit, run)
    try:
        result = run_simulation(
            replace(request, wants_state_diff=True),
            deadline=Deadline.after_ms(BUDGET_MS),
            setting=EngineSetting(permit.golem.simulation_engine),
        )
    except GolemError as error:
        return StateChanges((), "", f"No engine tells the state difference now: {error.detail}")
    if result.state_diff is None:
        raise AssertionError("an engine that is asked for the state difference tells it or raises")
    names, created = {**dict(_names_in(frames)), **name_own(permit)}, set(result.state_diff.created)
    accounts = [
        _describe(account, permit.chain_id, names, is_new=account.address in created)
        for account in result.state_diff.accounts
    ]
    left_out = max(0, len(accounts) - _MOST_ACCOUNTS)
    return StateChanges(tuple(accounts[:_MOST_ACCOUNTS]), result.fidelity, accounts_left_out=left_out)


def _names_in(frames: Iterable[TraceFrame]) -> Iterator[tuple[str, str]]:
    for frame in frames:
        yield frame.address, frame.name
        yield from _names_in(frame.calls)


def _describe(account: AccountDiff, chain_id: int, names: Mapping[str, str], *, is_new: bool) -> AccountChange:
    parts = []
    if account.balance is not None:
        before, after = account.balance
        parts.append(f"{'+' if after > before else '-'}{format_coin(abs(after - before), chain_id)}")
    if account.nonce is not None:
        parts.append(f"nonce {account.nonce[0]} to {account.nonce[1]}")
    if account.code_hash is not None:
        parts.append("new contract" if is_new else "other code")
    if account.storage:
        parts.append(f"{len(account.storage)} slot{'' if len(account.storage) == 1 else 's'}")
    return AccountChange(
        address=account.address,
        name=names.get(account.address) or name_address(chain_id, account.address),
        summary=", ".join(parts),
        slots=tuple(SlotChange(*(hex(word) for word in change)) for change in account.storage[:MOST_SLOTS]),
        slots_left_out=max(0, len(account.storage) - MOST_SLOTS),
    )
