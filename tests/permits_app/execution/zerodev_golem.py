"""A golem that acts with a Kernel account on the local chain, through a bundler of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from golem_project.embedded.world.rpc import call_data
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.signers import choose_signer
from permits_app.models import OutboundTransaction, SigningKey
from permits_app.models.wallet import WalletKind
from tests.live_golem import FUNDS, LiveGolem
from tests.permits_app.execution.signers.bundler_stand_in import BundlerStandIn, serve_bundler
from tests.permits_app.execution.signers.smart_accounts import SmartAccounts, deploy_smart_accounts
from tools_app.core import clock
from tools_app.standards.user_operation import DEPOSIT_OF, ENTRY_POINT

USD = 10**6
DEPOSIT = DEPOSIT_OF.removeprefix("function ").split("(")[0] + "(address)"


@dataclass
class ZerodevGolem:
    """A live golem whose account is a Kernel account that its key owns."""

    live: LiveGolem
    accounts: SmartAccounts
    bundler: BundlerStandIn
    key: SigningKey
    address: str

    def coins(self) -> int:
        """Wei of the account, what it has at the EntryPoint included."""
        rpc = self.live.world.rpc
        held = int(rpc.call("eth_getBalance", self.address, "latest"), 16)
        return held + int(rpc.read(ENTRY_POINT, DEPOSIT, self.address, returns="(uint256)")[0])

    def used_nonces(self) -> int:
        """How many operations the EntryPoint carried out."""
        found = self.live.world.rpc.read(ENTRY_POINT, "getNonce(address,uint192)", self.address, 0, returns="(uint256)")
        return int(found[0])

    def balance(self, symbol: str) -> int:
        return self.live.balance(symbol)

    def commit_held(self, **changes: Any) -> str:
        """Commit while the bundler carries nothing out; the permit's id, its outcome unknown."""
        self.bundler.holds = True
        permit_id = self.live.preview(**changes)["permit_id"]
        self.live.start(permit_id)
        self.look(permit_id)
        return str(permit_id)

    def look(self, permit_id: str) -> None:
        """One look of the worker, without a long wait."""
        with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.3):
            self.live.work(permit_id)

    def act_as_account(self, to: str, signature: str, *arguments: Any) -> None:
        """A transaction of the account itself, which only a node of tests takes."""
        rpc = self.live.world.rpc
        rpc.call("anvil_impersonateAccount", self.address)
        sent = {"from": self.address, "to": to, "data": call_data(signature, *arguments)}
        self.live.world.wait(rpc.call("eth_sendTransaction", sent))

    def rows(self, permit_id: str) -> list[OutboundTransaction]:
        return list(OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).order_by("pk"))


@contextmanager
def give_smart_account(live: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> Iterator[ZerodevGolem]:
    """`live` after its owners gave it a smart account, and the bundler it goes through."""
    accounts = deploy_smart_accounts(live.world)
    key = SigningKey.objects.get(golem=live.golem)
    address = accounts.make_account(key.address)
    live.world.fund(address, 10**19, FUNDS)
    with serve_bundler(accounts) as bundler:
        monkeypatch.setattr(choose_signer, "_zerodev", bundler.client())
        choice = WalletChoice(kind=WalletKind.ZERODEV, address=address, key=key.address)
        choose_wallet(golem=live.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
        live.golem.refresh_from_db()
        key.refresh_from_db()
        yield ZerodevGolem(live, accounts, bundler, key, address)


@pytest.fixture
def zerodev(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> Iterator[ZerodevGolem]:
    """The live golem with a smart account."""
    with give_smart_account(live_golem, monkeypatch) as found:
        yield found
