"""What vault tools tell of a real vault that is entered and left by request: Lagoon's own code on the local chain."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import World
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.core.errors import Recovery
from tools_app.protocols.erc4626.positions import VaultExits
from tools_app.protocols.erc4626.protocol import PROTOCOL
from tools_app.standards.erc4626 import Vault, VaultByRequest, VaultFamily
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import Position, Stuck, drive

pytestmark = pytest.mark.protocols("lagoon")
USDC = 10**6
FAMILY = VaultFamily("erc4626")
ASK_IN = "requestDeposit(uint256,address,address)"
ASK_OUT = "requestRedeem(uint256,address,address)"


@dataclass
class Asker:
    """An account whose owner asks the vault; the vault's own people settle."""

    chain: World
    golem: Golem
    vault: Vault

    @property
    def address(self) -> str:
        return self.golem.address

    @property
    def reader(self) -> ChainReader:
        return make_context(self.chain, address=self.address).chain()

    def send(self, signature: str, *arguments: object) -> None:
        self.chain.transact(self.golem.account, self.vault.address, signature, *arguments)

    def ask_in(self, amount: int) -> None:
        self.chain.transact(
            self.golem.account, self.vault.asset, "approve(address,uint256)", self.vault.address, amount
        )
        self.send(ASK_IN, amount, self.address, self.address)

    def settle(self, worth: int, *, what: str = "settleDeposit(uint256)") -> None:
        """What the vault's valuer and its safe do, with everything in it worth so much."""
        valuer, safe = (derive_account(f"lagoon {role}") for role in ("valuer", "safe"))
        self.chain.transact(valuer, self.vault.address, "updateNewTotalAssets(uint256)", worth)
        self.chain.transact(safe, self.vault.address, what, worth)

    def refuse_in(self, amount: int = USDC) -> VaultByRequest:
        with pytest.raises(VaultByRequest) as found:
            FAMILY.plan_deposit(self.reader, self.address, self.vault, amount)
        return found.value

    def refuse_out(self, shares: int | None = None) -> VaultByRequest:
        with pytest.raises(VaultByRequest) as found:
            FAMILY.plan_redeem(self.reader, self.address, self.vault, shares)
        return found.value

    def positions(self) -> tuple[Position, ...]:
        return drive(FAMILY.list_positions(31337, self.address, (self.vault,)), self.reader.call_many)

    def shares(self) -> int:
        return int(self.chain.rpc.balance_of(self.vault.address, self.address))


@pytest.fixture
def asker(chain: World) -> Asker:
    golem = Golem(chain, PROTOCOL, chain.new_account(10**18, {"USDC": 10_000 * USDC}))
    return Asker(chain, golem, Vault(chain.protocols["lagoon"]["vault"], chain.tokens["USDC"].address, "Lagoon"))


def test_a_deposit_is_told_to_be_a_request_and_not_to_be_waited_for(asker: Asker) -> None:
    refused = asker.refuse_in()
    assert (refused.code, refused.next_step) == ("VAULT_BY_REQUEST", Recovery.GIVE_UP)
    assert "by request" in refused.detail and refused.data["pending_deposit"] == "0"


def test_what_was_asked_for_is_told_while_it_waits_when_it_can_be_claimed_and_when_it_was(asker: Asker) -> None:
    asker.ask_in(1_000 * USDC)
    waits = asker.refuse_in()
    assert (waits.data["pending_deposit"], waits.data["claimable_deposit"]) == (str(1_000 * USDC), "0")
    assert f"{1_000 * USDC} pending deposit" in waits.detail
    asker.settle(0)
    ready = asker.refuse_in()
    assert (ready.data["pending_deposit"], ready.data["claimable_deposit"]) == ("0", str(1_000 * USDC))
    asker.send("deposit(uint256,address)", 1_000 * USDC, asker.address)
    assert asker.shares() > 0 and asker.refuse_in().data["claimable_deposit"] == "0"


def test_a_request_that_was_taken_back_is_told_no_more(asker: Asker) -> None:
    asker.ask_in(1_000 * USDC)
    asker.send("cancelRequestDeposit()")
    assert asker.refuse_in().data["pending_deposit"] == "0"
    assert asker.chain.rpc.balance_of(asker.vault.asset, asker.address) == 10_000 * USDC


def test_shares_are_given_back_by_request_alone_and_a_halt_says_that_its_owner_is_needed(asker: Asker) -> None:
    asker.ask_in(1_000 * USDC)
    asker.settle(0)
    asker.send("deposit(uint256,address)", 1_000 * USDC, asker.address)
    refused = asker.refuse_out()
    assert (refused.code, refused.next_step) == ("VAULT_BY_REQUEST", Recovery.ASK_OWNER)
    (position,) = asker.positions()
    assert position.raw_of(asker.vault.asset) in range(1_000 * USDC - 1, 1_000 * USDC + 1)
    assert [each.reason for each in position.locked] == ["asked"]
    step = VaultExits().next_step(position, {}, 0)
    assert isinstance(step, Stuck) and "owner" in step.reason


def test_shares_that_were_asked_back_are_told_where_the_account_holds_none_any_more(asker: Asker) -> None:
    asker.ask_in(1_000 * USDC)
    asker.settle(0)
    asker.send("deposit(uint256,address)", 1_000 * USDC, asker.address)
    shares = asker.shares()
    asker.send(ASK_OUT, shares, asker.address, asker.address)
    assert asker.shares() == 0
    waits = asker.refuse_out()
    assert (waits.data["pending_redeem"], waits.data["claimable_redeem"]) == (str(shares), "0")
    asker.settle(1_000 * USDC, what="settleRedeem(uint256)")
    ready = asker.refuse_out()
    assert (ready.data["pending_redeem"], ready.data["claimable_redeem"]) == ("0", str(shares))
    asker.send("redeem(uint256,address,address)", shares, asker.address, asker.address)
    assert asker.chain.rpc.balance_of(asker.vault.asset, asker.address) >= 10_000 * USDC - 1
