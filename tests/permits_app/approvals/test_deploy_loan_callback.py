"""What owners sign so that their Safe acts within flash loans: written by a command, carried out with their key."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from eth_account import Account

from permits_app.policy_cage.safe_tx import SafeTx, encode_exec_transaction, hash_safe_tx, join_signatures
from tests.live_golem import LiveGolem
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.standards.loan_callback import find_handler

CHAIN_ID = 31337


def run(golem: LiveGolem, *options: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("deploy_loan_callback", str(golem.golem.pk), *options, stdout=out)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


def handler_of(safe: str) -> str | None:
    reader = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
    return find_handler(reader, safe)


def test_what_the_command_writes_makes_a_safe_act_within_loans(live_golem: LiveGolem) -> None:
    owned = SafeGolem(live_golem)
    world, safe, key = live_golem.world, owned.safe.address, owned.open_key()
    assert run(live_golem)["deploy"]["data"].startswith("0x")
    told = run(live_golem, "--send-locally", world.rpc_url)
    assert handler_of(safe) is None
    for typed in told["owners_sign"]:
        message = typed["message"]
        tx = SafeTx(to=message["to"], data=bytes.fromhex(message["data"][2:]), nonce=int(message["nonce"]))
        signed = Account.sign_typed_data(key.key, full_message=typed)
        assert bytes(signed.message_hash) == hash_safe_tx(tx, safe=safe, chain_id=CHAIN_ID)
        signatures = join_signatures({str(key.address): bytes(signed.signature)})
        data = encode_exec_transaction(tx, signatures=signatures)
        assert world.send(world.actors.deployer, safe, "0x" + data.hex())["status"] == "0x1"
    assert handler_of(safe) == told["contract"]


def test_a_plain_account_and_a_contract_of_other_code_are_refused(live_golem: LiveGolem) -> None:
    with pytest.raises(CommandError, match="is no Safe"):
        run(live_golem)
    SafeGolem(live_golem)
    with pytest.raises(CommandError, match="is not that of LoanCallback"):
        run(live_golem, "--contract", live_golem.world.contracts["multicall3"])
