"""Runs cases on the reference interpreter. A script for the Python of its own environment; imports nothing of ours.

Reads one case per line of JSON and answers one line each, in the same form as our machine.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

_ORIGINALS: dict[str, Any] = {}


def main() -> None:
    """Until the input ends."""
    for line in sys.stdin:
        try:
            answer = run_case(json.loads(line))
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def run_case(case: dict[str, Any]) -> dict[str, Any]:
    """Success, gas, output, logs and the whole state afterwards."""
    numeric = importlib.import_module("ethereum_types.numeric")
    plain = importlib.import_module("ethereum_types.bytes")
    errors = importlib.import_module("ethereum.exceptions")
    fork = importlib.import_module(f"ethereum.forks.{case['fork']}.fork")
    vm = importlib.import_module(f"ethereum.forks.{case['fork']}.vm")
    states = importlib.import_module(f"ethereum.forks.{case['fork']}.state")
    types = importlib.import_module(f"ethereum.forks.{case['fork']}.fork_types")
    transactions = importlib.import_module(f"ethereum.forks.{case['fork']}.transactions")
    Uint, U64, U256 = numeric.Uint, numeric.U64, numeric.U256
    address_of = lambda text: types.Address(bytes.fromhex(text))  # noqa: E731

    state = states.State()
    for text, entry in case["accounts"].items():
        account = types.Account(
            nonce=Uint(entry["nonce"]), balance=U256(entry["balance"]), code=bytes.fromhex(entry["code"])
        )
        states.set_account(state, address_of(text), account)
        for slot, value in entry["storage"].items():
            states.set_storage(state, address_of(text), plain.Bytes32(int(slot).to_bytes(32, "big")), U256(value))
    env, tx = case["env"], case["transaction"]
    first = max(0, env["number"] - 256)
    block = vm.BlockEnvironment(
        chain_id=U64(env["chain_id"]),
        state=state,
        block_gas_limit=Uint(env["gas_limit"]),
        block_hashes=[plain.Bytes32(number.to_bytes(32, "big")) for number in range(first, env["number"])],
        coinbase=address_of(env["coinbase"]),
        number=Uint(env["number"]),
        base_fee_per_gas=Uint(0),
        time=U256(env["timestamp"]),
        prev_randao=plain.Bytes32(bytes.fromhex(env["prevrandao"])),
        excess_blob_gas=U64(env["excess_blob_gas"]),
        parent_beacon_block_root=plain.Bytes32(bytes(32)),
    )
    access = tuple(
        transactions.Access(
            account=address_of(text), slots=tuple(plain.Bytes32(slot.to_bytes(32, "big")) for slot in slots)
        )
        for text, slots in tx["access_list"]
    )
    authorized: dict[str, Any] = {}
    if tx["authorizations"]:
        authorized["authorizations"] = tuple(
            types.Authorization(
                chain_id=U256(told["chain_id"]),
                address=address_of(told["address"]),
                nonce=U64(told["nonce"]),
                y_parity=numeric.U8(told["y_parity"]),
                r=U256(told["r"]),
                s=U256(told["s"]),
            )
            for told in tx["authorizations"]
        )
    kind = transactions.SetCodeTransaction if authorized else transactions.FeeMarketTransaction
    transaction = kind(
        chain_id=U64(env["chain_id"]),
        nonce=U256(case["accounts"][tx["sender"]]["nonce"]),
        max_priority_fee_per_gas=Uint(0),
        max_fee_per_gas=Uint(0),
        gas=Uint(tx["gas"]),
        to=address_of(tx["to"]) if tx["to"] else plain.Bytes0(b""),
        value=U256(tx["value"]),
        data=bytes.fromhex(tx["data"]),
        access_list=access,
        y_parity=U256(0),
        r=U256(1),
        s=U256(1),
        **authorized,
    )
    interpreter = importlib.import_module(f"ethereum.forks.{case['fork']}.vm.interpreter")
    frames: list[Any] = []
    outcomes: list[Any] = []
    run_frame, run_message = _ORIGINALS.setdefault(
        case["fork"], (interpreter.process_message, interpreter.process_message_call)
    )

    def watch_frame(message: Any) -> Any:
        frame = run_frame(message)
        if message.depth == 0:
            frames.append(frame)
        return frame

    def watch_message(message: Any) -> Any:
        outcomes.append(run_message(message))
        return outcomes[-1]

    # No signature is made for a made-up sender; and what a call gave back is in no receipt.
    vars(interpreter).update(process_message=watch_frame)
    vars(fork).update(recover_sender=lambda *_: address_of(tx["sender"]), process_message_call=watch_message)
    output = vm.BlockOutput()
    try:
        fork.process_transaction(block, output, transaction, Uint(0))
    except errors.EthereumException:
        return {"refused": True}
    done = outcomes[-1]
    return {
        "succeeded": done.error is None,
        "gas_used": int(output.block_gas_used),
        "output": bytes(frames[-1].output).hex() if tx["to"] else "",
        "logs": [
            [bytes(log.address).hex(), [bytes(t).hex() for t in log.topics], bytes(log.data).hex()] for log in done.logs
        ]
        if done.error is None
        else [],
        "state": read_state(state),
    }


def read_state(state: Any) -> dict[str, Any]:
    """Every account that is not empty, with its storage."""
    shown = {}
    for address, account in sorted(state._main_trie._data.items()):
        if account is None or not (int(account.nonce) or int(account.balance) or account.code):
            continue
        trie = state._storage_tries.get(address)
        slots = (
            {} if trie is None else {str(int.from_bytes(key, "big")): int(value) for key, value in trie._data.items()}
        )
        shown[bytes(address).hex()] = {
            "nonce": int(account.nonce),
            "balance": int(account.balance),
            "code": bytes(account.code).hex(),
            "storage": dict(sorted((slot, value) for slot, value in slots.items() if value)),
        }
    return shown


if __name__ == "__main__":
    main()
