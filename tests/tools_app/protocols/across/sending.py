"""A golem of both local chains with the real pool on each, people who send as well, and relayers: `across`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.actions.execute_change import execute_change
from permits_app.actions.value_golem import value_golem
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ChangeRequest, PendingRequest
from permits_app.models.permit import PermitStatus
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device
from tests.second_chain import SECOND_ID, make_spread_golem
from tools_app.chain.abi import checksum, decode_log
from tools_app.core import clock
from tools_app.protocols.across.addresses import pool_on
from tools_app.protocols.across.transfers import DEPOSITED, NOBODY, Transfer, to_word
from tools_app.toolkit.views import LogEntry

USDC = 10**6
SENT, FEE_BPS = 5_000 * USDC, 10
LEAST = SENT - SENT * FEE_BPS // 10_000
PAY_IN = "deposit(bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,bytes32,uint32,uint32,uint32,bytes)"
PAY_OUT = (
    "fillRelay((bytes32,bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,uint256,uint32,uint32,bytes),"
    "uint256,bytes32)"
)


@dataclass
class Across:
    """Both chains and the golem between them."""

    live: LiveGolem
    worlds: tuple[World, World]
    relayer: Any
    owner: Any

    def preview(self, **more: Any) -> dict[str, Any]:
        body = {
            **{"token_in": None, "token_out": None, "venue": "across", "action_type": "bridge", "bridge": "across"},
            **{"token": "USDC", "amount": str(SENT), "source_chain": CHAIN_ID, "dest_chain": SECOND_ID},
            "max_fee_bps": FEE_BPS,
        }
        return self.live.preview(**{**body, **more})

    def send(self, **more: Any) -> PendingRequest:
        """What leaves for another chain waits for the owner, who approves it; then it is carried out."""
        permit = self.preview(**more)["permit_id"]
        request = ChangeRequest.objects.get(permit_id=permit)
        approve(request, self.owner)
        execute_change(request_id=request.pk, now=clock.now())
        assert self.live.permit(permit).status == PermitStatus.COMMITTED
        return PendingRequest.objects.get(golem=self.live.golem)

    def look(self, after: timedelta = timedelta()) -> None:
        PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
        check_pending_requests(now=clock.now() + after)

    def worth(self, after: timedelta = timedelta()) -> int | None:
        held = value_golem(golem=self.live.golem, now=clock.now() + after)
        return None if held is None else held.nav_micro_usd

    def pay_out(self, transfer: Transfer, account: str, *, to: str = "") -> None:
        """As a relayer does, out of its own money."""
        second = self.worlds[1]
        whose = to_word(account)
        relay = (
            *(whose, to_word(to or account), NOBODY, to_word(transfer.token), to_word(transfer.arrives)),
            *(transfer.amount, transfer.least, transfer.origin, transfer.number, transfer.until, 0, b""),
        )
        second.transact(self.relayer, transfer.arrives, "approve(address,uint256)", pool_on(SECOND_ID), transfer.least)
        second.transact(self.relayer, pool_on(SECOND_ID), PAY_OUT, relay, CHAIN_ID, to_word(self.relayer.address))

    def pay_out_of(self, row: PendingRequest) -> None:
        """What a request waits for, from a thread with connections of its own."""
        in_a_thread(lambda: self.pay_out(Transfer.parse(row.ref.split("/", 3)[3]), str(self.live.golem.address)))

    def others_send(self, *fees_bps: int, seconds: int = 60) -> list[Transfer]:
        """Somebody pays in, once for each fee, and is paid out `seconds` later."""
        first, second = self.worlds
        usdc = first.tokens["USDC"].address
        somebody = first.new_account(10**18, {"USDC": 10_000 * USDC * len(fees_bps)})
        found = []
        for bps in fees_bps:
            amount = 1_000 * USDC
            transfer = pay_in(first, somebody, usdc, amount, amount - amount * bps // 10_000)
            found.append(transfer)
        second.rpc.call("evm_setNextBlockTimestamp", first.timestamp() + seconds)
        second.rpc.call("evm_mine")
        for transfer in found:
            self.pay_out(transfer, somebody.address)
        return found


def pay_in(world: World, sender: Any, token: str, amount: int, least: int, **other: Any) -> Transfer:
    """A deposit of a person, with other words where a test wants them."""
    pool, now, whose = pool_on(CHAIN_ID), world.timestamp(), to_word(sender.address)
    until = now + 7_200
    world.transact(sender, token, "approve(address,uint256)", pool, amount)
    values = (
        *(other.get("depositor", whose), other.get("recipient", whose), to_word(token), to_word(token), amount, least),
        *(SECOND_ID, NOBODY, now, until, 0, other.get("message", b"")),
    )
    receipt = world.transact(sender, pool, PAY_IN, *values)
    told = [found for each in receipt["logs"] if (found := decode_log(DEPOSITED, view(each))) is not None]
    return Transfer(CHAIN_ID, int(told[0]["depositId"]), token, token, amount, least, until)


def view(raw: dict[str, Any]) -> LogEntry:
    """A node's log as the product reads it."""
    return LogEntry(checksum(raw["address"]), tuple(raw["topics"]), raw["data"], 0, raw["transactionHash"], 0)


def open_across(worlds: tuple[World, World]) -> Across:
    """A golem of both chains whose owner allowed what is suggested, and a relayer with money on the second."""
    live = make_spread_golem(worlds[0])
    for chain_id in (CHAIN_ID, SECOND_ID):
        allow_addresses(golem=live.golem, choices=suggest_allowlist(chain_id), actor="system:test", now=clock.now())
    give_device(live.owner)
    relayer = worlds[1].new_account(10**18, {"USDC": 100_000 * USDC})
    return Across(live, worlds, relayer, live.owner)


def in_a_thread(act: Callable[[], None]) -> None:
    """Do it beside the test; what it raises fails the test."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(timeout=60)
    assert not thread.is_alive() and not errors, errors


@pytest.fixture
def across(db: None, both_chains: tuple[World, World]) -> Across:
    return open_across(both_chains)
