"""Reads a Safe from the chain: its nonce, its owners, how many must sign.

No transaction may be open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from permits_app.approval_errors import CageHasNoSafe
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.safe_tx import FIRST_MODULE, MODULES, NONCE, OWNERS, THRESHOLD
from tools_app import runner
from tools_app.chain.abi import event_topic
from tools_app.chain.networks import get_network
from tools_app.core.clock import Deadline
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import BlockRef, LogEntry

EXECUTION_SUCCESS: Final = "event ExecutionSuccess(bytes32 indexed txHash, uint256 payment)"
EXECUTION_FAILURE: Final = "event ExecutionFailure(bytes32 indexed txHash, uint256 payment)"
_BUDGET_MS: Final = 8_000
_MOST_MODULES: Final = 100


@dataclass(frozen=True, slots=True)
class SafeView:
    """A Safe as of one block. `threshold` owners have to sign what it executes next under `nonce`."""

    chain_id: int
    address: str
    nonce: int
    owners: tuple[str, ...]
    threshold: int
    block: int


def open_chain(chain_id: int, *, now: datetime, block: BlockRef | None = None) -> ChainReader:
    """A reader with the budget of a page, at the newest block or at `block`."""
    return runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS), block=block)


def read_safe(chain: ChainReader, address: str) -> SafeView:
    """The Safe at `address`. Raises CageHasNoSafe when there is none, and what a node raises."""
    if not chain.code(address):
        raise CageHasNoSafe(f"{address} is a plain account; it signs and sends its own transactions", account=address)
    outcomes = chain.call_many([ReadCall(address, signature) for signature in (NONCE, OWNERS, THRESHOLD)])
    if not all(outcome.ok for outcome in outcomes):
        raise CageHasNoSafe(f"{address} does not answer as a Safe does", account=address)
    (nonce,), (owners,), (threshold,) = (outcome.values for outcome in outcomes)
    return SafeView(chain.chain_id, address, int(nonce), tuple(owners), int(threshold), chain.block.number)


def find_module_before(chain: ChainReader, safe: str, module: str) -> str | None:
    """What stands before `module` in the Safe's list of modules, as `disableModule` asks; None for none of it."""
    [found, _] = chain.call(safe, MODULES, FIRST_MODULE, _MOST_MODULES)
    listed = [FIRST_MODULE, *found]
    return listed[listed.index(module) - 1] if module in listed[1:] else None


def read_delays(chain: ChainReader, cage: str, rules: Sequence[tuple[int, bytes, int]]) -> list[int]:
    """Seconds each change of a rule would wait, as the contract says; 0 tightens."""
    outcomes = chain.call_many([ReadCall(cage, FUNCTIONS["delayOf"], rule) for rule in rules])
    # What the contract cannot answer waits as long as anything does; proposing it would be refused anyway.
    return [int(outcome.values[0]) if outcome.ok else 172_800 for outcome in outcomes]


def find_execution(chain: ChainReader, *, safe: str, safe_tx_hash: str, since: int) -> LogEntry | None:
    """The event that tells of the execution of one SafeTx, successful or not, from block `since` on."""
    step = get_network(chain.chain_id).max_log_range
    last = chain.block.number
    # From the newest block back: what is looked for happened lately more often than not.
    while last >= min(since, chain.block.number):
        first = max(since, last - step + 1, 0)
        for signature in (EXECUTION_SUCCESS, EXECUTION_FAILURE):
            topics = [event_topic(signature), safe_tx_hash]
            logs = chain.logs(address=safe, topics=topics, from_block=min(first, last), to_block=last)
            if logs:
                return logs[-1]
        last = first - 1
    return None


def is_success(log: LogEntry) -> bool:
    """Whether `log` is the Safe's word for a success."""
    return log.topics[0].lower() == event_topic(EXECUTION_SUCCESS)
