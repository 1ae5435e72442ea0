"""Engines this product does not depend on, put beside its own in one run: pyrevm and eth-tester, from a folder apart.

Fetched once from PyPI under var/cache, without their dependencies, which are here already; a machine that cannot
fetch them measures without them and says so.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from golem_project.embedded.paths import CHECKOUT
from tools_app.simulation.pyevm.engine import Fork
from tools_app.simulation.revm_screening.screening import describe_fork
from tools_app.toolkit.plan import Call

FOLDER = CHECKOUT / "var" / "cache" / "bench-engines"
PINS = ("pyrevm==0.3.7", "eth-tester==0.14.0b1", "semantic-version==2.10.0")
_INSTALL_TIMEOUT_SECONDS = 120
_GAS = 3_000_000


def provide() -> bool:
    """Make both importable in this process; False when they cannot be fetched."""
    note = FOLDER / "pins.txt"
    if not note.exists() or note.read_text() != "\n".join(PINS):
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(FOLDER), *PINS]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_INSTALL_TIMEOUT_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return False
        note.write_text("\n".join(PINS))
    if str(FOLDER) not in sys.path:
        # At the end: what the product pins itself stays what it imports.
        sys.path.append(str(FOLDER))
    return True


def open_pyrevm(fork: Fork, *, sender: str, calls: tuple[Call, ...]) -> Callable[[], None]:
    """A function that runs `calls` on revm in this process over the state of `fork`, checks them and goes back."""
    worker: Any = import_module("tools_app.simulation.revm_screening.worker")
    evm = worker.load(describe_fork(fork))
    told = [[call.to, call.data.hex(), call.value] for call in calls]

    def run() -> None:
        outcomes, _ = worker.screen(evm, sender, told, [])
        if not all(succeeded for succeeded, _ in outcomes):
            raise AssertionError("the calls fail on pyrevm")

    return run


def open_eth_tester(fork: Fork, *, private_key: str, calls: tuple[Call, ...]) -> Callable[[], None]:
    """A function that sends `calls` on eth-tester over the state of `fork`, checks them and goes back."""
    base = fork.state.base
    storage: dict[bytes, dict[int, int]] = {}
    for (address, slot), value in base.slots.items():
        storage.setdefault(address, {})[slot] = value
    state = {
        address: {
            "balance": account.balance,
            "nonce": account.nonce,
            "code": account.code,
            "storage": storage.get(address, {}),
        }
        for address, account in base.accounts.items()
    }
    backend: Any = import_module("eth_tester.backends.pyevm.main").PyEVMBackend(genesis_state=state)
    tester: Any = import_module("eth_tester").EthereumTester(backend)
    sender = tester.add_account(private_key)

    def run() -> None:
        mark = tester.take_snapshot()
        for call in calls:
            sent = tester.send_transaction(
                {"from": sender, "to": call.to, "data": "0x" + call.data.hex(), "value": call.value, "gas": _GAS}
            )
            if tester.get_transaction_receipt(sent)["status"] != 1:
                raise AssertionError(f"{call.label} fails on eth-tester")
        tester.revert_to_snapshot(mark)

    return run
