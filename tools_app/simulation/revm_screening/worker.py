"""The worker: holds one fork in revm and runs candidates on it. A script of its own; imports nothing of ours.

Lines of JSON in and out: an order, then its answers, one a line. What it was not handed it asks of the process that
started it, at the `url` of the order; without one that is empty.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyrevm  # type: ignore[import-not-found]  # the optional extra

GAS = 16_000_000
READ_GAS = 1_000_000


def main() -> None:
    """Until the input ends."""
    evm: object = None
    for line in sys.stdin:
        match json.loads(line):
            case {"load": told}:
                evm = load(**told)
                answers: Iterator[object] = iter([{"loaded": True}])
            case {"screen": told}:
                answers = screen_all(evm, **told)
            case _:
                raise ValueError("an order is to load or to screen")
        for answer in answers:
            sys.stdout.write(json.dumps(answer) + "\n")
            # At once: whoever reads works on this answer while the next candidate runs.
            sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class Block:
    """The block that candidates run in."""

    chain_id: int
    number: int
    timestamp: int
    coinbase: str
    prevrandao: str
    gas_limit: int


def load(
    *,
    env: dict[str, Any],  # Any: JSON between two processes
    accounts: list[tuple[str, int, int, str]],
    slots: list[tuple[str, int, int]],
    url: str | None = None,
) -> Any:  # Any: what revm has no types of
    """A fork with the handed state, which asks for the rest."""
    told = Block(**env)
    block = pyrevm.BlockEnv(
        number=told.number,
        coinbase=told.coinbase,
        timestamp=told.timestamp,
        prevrandao=bytes.fromhex(told.prevrandao),
        basefee=0,
        gas_limit=told.gas_limit,
    )
    config = pyrevm.Env(cfg=pyrevm.CfgEnv(chain_id=told.chain_id), block=block)
    asks = {} if url is None else {"fork_url": url, "fork_block": hex(told.number - 1)}
    evm = pyrevm.EVM(env=config, spec_id="CANCUN", **asks)
    for address, nonce, balance, code in accounts:
        evm.insert_account_info(address, pyrevm.AccountInfo(nonce=nonce, code=bytes.fromhex(code)))
        evm.set_balance(address, balance)
    for address, slot, value in slots:
        evm.insert_account_storage(address, slot, value)
    return evm


def screen_all(
    evm: Any,  # Any: what revm has no types of
    *,
    sender: str,
    candidates: list[list[Any]],  # Any: JSON between two processes
    reads: list[Any],  # Any: JSON between two processes
) -> Iterator[object]:
    """What is read before anything runs, which is the same for all; then each candidate's answer."""
    yield [read(evm, to, data) for to, data in reads]
    for calls in candidates:
        yield screen(evm, sender, calls, reads)


def screen(
    evm: Any,  # Any: JSON between two processes
    sender: str,
    calls: list[Any],  # Any: JSON between two processes
    reads: list[Any],  # Any: JSON between two processes
) -> list[object]:
    """Run one candidate, read, and go back: success and output of each call, and what was read."""
    mark = evm.snapshot()
    outcomes = []
    for to, data, value in calls:
        try:
            output = evm.message_call(sender, to, bytes.fromhex(data), value, GAS, 0)
            outcomes.append([True, bytes(output).hex()])
        except RuntimeError:
            outcomes.append([False, ""])
        # It takes all calls of a fork for one transaction, in which this would live on.
        evm.reset_transient_storage()
    after = [read(evm, to, data) for to, data in reads]
    evm.revert(mark)
    return [outcomes, after]


def read(evm: Any, to: str, data: str) -> Any:  # Any: JSON between two processes
    """The output of a call that is undone, None when it fails; without data the balance of coins."""
    if not data:
        return f"{evm.get_balance(to):064x}"
    mark = evm.snapshot()
    try:
        return bytes(evm.message_call("0x" + "00" * 20, to, bytes.fromhex(data), 0, READ_GAS, 0)).hex()
    except RuntimeError:
        return None
    finally:
        evm.revert(mark)


if __name__ == "__main__":
    main()
