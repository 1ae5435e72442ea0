"""Tokens that do other than they say, as a table: a behaviour x the moment it begins x what a golem does with it.

DAI of the local world gets the code of `MoodyToken` in its place, so pools, feed and registration are real; its mood is
a word of its storage. A cell goes the product's whole way, from preview to outcome, and is undone after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.test import override_settings
from eth_utils.crypto import keccak

from golem_project.embedded.world.solidity import load_contract
from permits_app.execution import broadcast
from permits_app.models import OutcomeRecord
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass_until
from tools_app.chain.abi import checksum
from tools_app.core.errors import GolemError

PAYEE = checksum("0x" + "5a" * 20)
DAI = 10**18
NO_CODE = 99
MOODS: dict[str, int] = {
    "is honest": 0,
    "keeps 1%": 1,
    "keeps 3%": 2,
    "keeps everything": 3,
    "returns false and moves nothing": 4,
    "returns nothing": 5,
    "has blacklisted the golem": 6,
    "lets nobody but the golem receive": 7,
    "is paused": 8,
    "rebases up with every block": 9,
    "rebases down with every transfer": 10,
    "inflates every balance": 11,
    "tells balances by who asks": 12,
    "tells balances by the gas left": 13,
    "tells balances by the block": 14,
    "has a second address": 15,
    "calls the receiver and takes more behind it": 16,
    "emits 4,000 bytes of data": 17,
    "emits dirty topics": 18,
    "emits a gift of somebody else": 19,
    "emits 31 bytes of data": 20,
    "emits a gift of 2^256-1": 21,
    "lies about its decimals": 22,
    "approves nothing": 23,
    "approves from zero only": 24,
    "takes twice as much": 25,
    "mints to a thief": 26,
    "returns a bomb": 27,
    "guzzles gas": 28,
    "moves silently": 29,
    "only says that it moves": 30,
    "drains whoever sends it": 31,
    "tells no balance": 32,
    "has no code": NO_CODE,
}
MOMENTS = ("from the start", "after the preview", "only when mined")
# What a golem does with the token.
ACTIONS: dict[str, dict[str, Any]] = {
    "buy": {"token_in": "USDC", "token_out": "DAI", "amount": str(500 * 10**6)},
    "sell": {"token_in": "DAI", "token_out": "WETH", "amount": str(500 * DAI)},
    "send": {
        "action_type": "transfer",
        "venue": "wallet",
        "token": "DAI",
        "recipient": PAYEE,
        "amount": str(500 * DAI),
        "token_in": None,
        "token_out": None,
    },
    "supply": {
        "action_type": "supply",
        "venue": "aave",
        "asset": "DAI",
        "amount": str(500 * DAI),
        "token_in": None,
        "token_out": None,
    },
}
_MOOD_SLOT, _ECHO_SLOT = 5, 6
_ROUNDING = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the table."""

    mood: str
    moment: str
    action: str


def list_cells(*, action: str, whole: bool) -> Iterator[Cell]:
    """The cells of one action: all, or a third in which every mood meets every action at some moment."""
    shift = list(ACTIONS).index(action)
    for at, mood in enumerate(MOODS):
        for when, moment in enumerate(MOMENTS):
            if whole or (at + when + shift) % 3 == 0:
                yield Cell(mood, moment, action)


class Zoo:
    """The local chain with the token in place, and one golem that acts."""

    def __init__(self, live: LiveGolem, patch: Callable[[Any, str, Any], None]) -> None:
        self.live, self.rpc = live, live.world.rpc
        self.token = live.world.tokens["DAI"].address
        self._share = self._find_share()
        self._cells = 0
        self._send_raw, self._before_sending = broadcast.send_raw, lambda: None
        patch(broadcast, "send_raw", self._send)
        code = load_contract("MoodyToken").deployed_bytecode
        self.rpc.call("anvil_setCode", self.token, code)
        echo = live.world.deploy(live.world.new_account(10**18), "MoodyEcho", "(address)", self.token)
        self._store(_ECHO_SLOT, int(echo, 16))
        self._mine()

    def play(self, cell: Cell) -> str:
        """What came of one cell, or words that say what is wrong with it after `wrong: `."""
        snapshot = self.rpc.call("evm_snapshot")
        try:
            with transaction.atomic(), override_settings(GOLEM_DOUBT_SECONDS=0, GOLEM_RECEIPT_WAIT_SECONDS=10):
                came = self._play(cell)
                transaction.set_rollback(True)
            return came
        finally:
            self._before_sending = lambda: None
            self.rpc.call("evm_revert", snapshot)

    def _play(self, cell: Cell) -> str:
        self._mine()
        if cell.moment == "from the start":
            self._change(cell.mood)
            self._mine()
        before = self._truth()
        try:
            permit_id = self.live.preview(**ACTIONS[cell.action])["permit_id"]
            if cell.moment == "after the preview":
                self._change(cell.mood)
                self._mine()
            elif cell.moment == "only when mined":
                self._before_sending = lambda: self._change(cell.mood)
            self.live.start(permit_id)
        except GolemError as error:
            return f"refused {error.code}"
        return self._follow(permit_id, before)

    def _follow(self, permit_id: str, before: dict[str, int]) -> str:
        for _ in range(4):
            self.live.work(permit_id)
            permit = self.live.permit(permit_id)
            if permit.status not in ("COMMITTING", "UNKNOWN"):
                break
        if permit.status == "COMMITTING" and permit.problem and not permit.transactions.exists():
            # What nobody can read, a vault over such a token too, is asked again until the permit is over.
            let_pass_until(permit.expires_at)
            self.live.work(permit_id)
            permit = self.live.permit(permit_id)
        if permit.status == "BLOCKED":
            return f"blocked {permit.problem['code']}" if self._truth() == before else "wrong: blocked, and money moved"
        if permit.status not in ("COMMITTED", "REVERTED"):
            return f"wrong: {permit.status}"
        outcome = OutcomeRecord.objects.get(permit_id=UUID(permit_id))
        moved = {name: amount - before[name] for name, amount in self._truth().items()}
        wrong = self._find_lie(permit_id, outcome, moved)
        if wrong:
            return f"wrong: {wrong}; {outcome.findings}"
        return f"{permit.status.lower()} {'verified' if outcome.is_verified else 'unverified'}"

    def _find_lie(self, permit_id: str, outcome: OutcomeRecord, moved: dict[str, int]) -> str:
        permit = self.live.permit(permit_id)
        told = {row["symbol"]: int(row["raw"]) for row in outcome.actual["balance_deltas"]}
        if not outcome.is_verified and not outcome.findings:
            return "not verified, and no finding says why"
        if any(told.get(symbol, 0) != moved[symbol] for symbol in ("USDC", "WETH")):
            return f"told {told}, moved {moved}"
        if outcome.is_verified:
            if told.get("DAI", 0) != moved["DAI"] or {*told} - {*moved}:
                return f"verified {told}, moved {moved}"
            if any(moved[flow["token"]["symbol"]] < int(flow["bound"]) for flow in permit.bounds["receives"]):
                return f"verified, and only {moved} arrived"
            if permit.action_type == "transfer" and moved["payee"] != -moved["DAI"]:
                return f"verified, and {moved['payee']} reached the payee"
            if permit.action_type == "supply" and moved["lent"] < -moved["DAI"] - _ROUNDING:
                return f"verified, and {moved['lent']} of {-moved['DAI']} is lent"
        entry = permit.spend_entry
        if entry.state != "SETTLED":
            return f"the ledger says {entry.state}"
        if told.get("DAI", 0) == moved["DAI"] < 0 and (entry.settled_micro_usd or 0) < -moved["DAI"] * 99 // 10**14:
            return f"{moved} moved, and the ledger counts {entry.settled_micro_usd}"
        return ""

    def _truth(self) -> dict[str, int]:
        """What is really kept, whatever the token says."""
        golem = self.live.golem.address
        return {
            "USDC": self.live.balance("USDC"),
            "WETH": self.live.balance("WETH"),
            **{
                name: int(self.rpc.call("eth_getStorageAt", self.token, _slot_of(who), "latest"), 16)
                for name, who in (("DAI", golem), ("payee", PAYEE))
            },
            "lent": self.rpc.balance_of(self._share, golem),
        }

    def _find_share(self) -> str:
        """Aave's own token for what is lent of this one: its code is Aave's, so it tells the truth."""
        lender = self.live.world.protocols["aave_v3"]
        signature = "getReserveTokensAddresses(address)"
        returns = "(address,address,address)"
        return str(self.rpc.read(lender["data_provider"], signature, self.token, returns=returns)[0])

    def _send(self, **given: Any) -> None:
        self._before_sending()
        self._send_raw(**given)

    def _change(self, mood: str) -> None:
        if MOODS[mood] == NO_CODE:
            self.rpc.call("anvil_setCode", self.token, "0x")
        else:
            self._store(_MOOD_SLOT, MOODS[mood])

    def _mine(self) -> None:
        # A block of its own for each, so that nothing kept of a block that was undone is taken for this one's.
        self._cells += 1
        self.rpc.call("anvil_setCoinbase", checksum(f"0x{0xC0FFEE0000 + self._cells:040x}"))
        self.rpc.call("anvil_mine", "0x1")

    def _store(self, slot: int, value: int) -> None:
        self.rpc.call("anvil_setStorageAt", self.token, f"0x{slot:064x}", f"0x{value:064x}")


def _slot_of(who: str) -> str:
    return "0x" + keccak(bytes.fromhex(who[2:].rjust(64, "0")) + (3).to_bytes(32, "big")).hex()
