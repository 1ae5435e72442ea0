"""The worker: holds one fork in revm and runs candidates on it. A script of its own; imports nothing of ours.

One line of JSON in, one out. It never asks a node: what it was not handed is empty.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pyrevm  # type: ignore[import-not-found]  # the optional extra

GAS = 16_000_000
READ_GAS = 1_000_000


def main() -> None:
    """Until the input ends."""
    evm: Any = None
    for line in sys.stdin:
        order = json.loads(line)
        if "load" in order:
            evm = load(order["load"])
            answer: Any = {"loaded": True}
        else:
            answer = screen(evm, order["screen"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def load(told: dict[str, Any]) -> Any:
    """A fork with the handed state."""
    env = told["env"]
    block = pyrevm.BlockEnv(
        number=env["number"],
        coinbase=env["coinbase"],
        timestamp=env["timestamp"],
        prevrandao=bytes.fromhex(env["prevrandao"]),
        basefee=0,
        gas_limit=env["gas_limit"],
    )
    evm = pyrevm.EVM(env=pyrevm.Env(cfg=pyrevm.CfgEnv(chain_id=env["chain_id"]), block=block), spec_id="CANCUN")
    for address, nonce, balance, code in told["accounts"]:
        evm.insert_account_info(address, pyrevm.AccountInfo(nonce=nonce, code=bytes.fromhex(code)))
        evm.set_balance(address, balance)
    for address, slot, value in told["slots"]:
        evm.insert_account_storage(address, slot, value)
    return evm


def screen(evm: Any, told: dict[str, Any]) -> dict[str, Any]:
    """Run one candidate between its reads, and go back."""
    mark = evm.snapshot()
    before = [read(evm, to, data) for to, data in told["reads"]]
    outcomes = []
    for to, data, value in told["calls"]:
        try:
            output = evm.message_call(told["sender"], to, bytes.fromhex(data), value, GAS, 0)
            outcomes.append([True, bytes(output).hex()])
        except RuntimeError:
            outcomes.append([False, ""])
    after = [read(evm, to, data) for to, data in told["reads"]]
    evm.revert(mark)
    return {"calls": outcomes, "before": before, "after": after}


def read(evm: Any, to: str, data: str) -> Any:
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
