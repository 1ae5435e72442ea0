"""A golem that acts with a Safe whose owners allow keys something, and such a key in a stranger's hands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from eth_account.signers.local import LocalAccount
from web3 import HTTPProvider, Web3

from golem_project.embedded.world.solidity import load_contract
from permits_app.actions.watch_safes import watch_safe
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.models import ChangeRequest, SigningKey, Wallet
from permits_app.models.wallet import WalletKind
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import FUNDS, LiveGolem, make_live_golem
from tests.permits_app.approvals.people import approve, carry_out, give_device, make_owner_with_device, share
from tests.permits_app.approvals.safes import make_relayer, owner_transaction
from tests.permits_app.local_safe import LocalSafe
from tests.proof.caged.engines import make_account
from tests.proof.caged.safe import sign_digest
from tools_app.core import clock
from tools_app.standards.safe_allowance import ADDRESS

USD = 10**6
DAY = 86_400
A_DAY = 25 * USD
NOBODY = "0x" + "00" * 20
_NO_SWAP = {"venue": "wallet", "token_in": None, "token_out": None, "amount": None}


class Allowing:
    """A live golem that acts with a Safe of two people of the test, each of whom signs alone, and somebody's key."""

    def __init__(self, live: LiveGolem, settings: Any) -> None:
        self.live, self.world = live, live.world
        give_device(live.owner)
        self.other = make_owner_with_device(name="owner-b")
        share(live.golem, self.other)
        people = [make_account(f"person {number} of {live.golem.pk}") for number in range(2)]
        self.safe = LocalSafe(live.world, people)
        self.world.fund(self.safe.address, 10**18, FUNDS)
        key = SigningKey.objects.get(golem=live.golem).address
        choice = WalletChoice(kind=WalletKind.GNOSIS_SAFE, address=self.safe.address, key=key)
        choose_wallet(golem=live.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
        live.golem.refresh_from_db()
        self.look()
        make_relayer(live, settings)
        self.key: LocalAccount = live.world.new_account(10**20)
        self.usdc, self.dai = (str(live.world.tokens[name].address) for name in ("USDC", "DAI"))

    def look(self) -> Wallet:
        """What the clock asks for: the Safe as it is now."""
        return watch_safe(wallet_id=Wallet.objects.get(golem=self.live.golem).pk, now=clock.now())

    def ask(self, action_type: str, **wish: Any) -> ChangeRequest:
        """The agent asks its owners."""
        permit = self.live.preview(action_type=action_type, **{**_NO_SWAP, **wish})
        assert (permit["status"], permit["missing"]) == ("AWAITING_APPROVAL", ["approval"]), permit
        return ChangeRequest.objects.get(permit_id=permit["permit_id"])

    def give(self, amount: int = A_DAY) -> ChangeRequest:
        return self.sign(self.ask("provision_session_key", key=self.key.address, token="USDC", amount=str(amount)))

    def sign(self, request: ChangeRequest) -> ChangeRequest:
        """The owners approve, one of them signs with a key of the Safe, and the relayer sends it after its wait."""
        digest = bytes.fromhex(owner_transaction(request).safe_tx_hash[2:])
        signature = "0x" + sign_digest(self.safe.owners[1], digest).hex()
        for owner, signed in ((self.other, signature), (self.live.owner, "")):
            if ChangeRequest.objects.get(pk=request.pk).state == "OPEN":
                approve(request, owner, signature=signed)
        done = carry_out(request, chain=self.world)
        assert done.state == "EXECUTED", (done.state, done.problem)
        self.look()
        return done

    def balance(self) -> int:
        return int(self.world.rpc.balance_of(self.usdc, self.safe.address))

    def pass_time(self, seconds: int) -> None:
        self.world.rpc.call("evm_increaseTime", seconds)
        self.world.rpc.call("evm_mine")


class StolenKey:
    """The key in a stranger's hands: plain web3, and no server that judges."""

    def __init__(self, allowing: Allowing) -> None:
        self.world, self.safe, self.key = allowing.world, allowing.safe.address, allowing.key
        self.web3 = Web3(HTTPProvider(allowing.world.rpc_url))
        abi = load_contract("SimulatedAllowanceModule").abi
        self.module = self.web3.eth.contract(Web3.to_checksum_address(ADDRESS), abi=abi)
        self.thief, self.usdc, self.dai = allowing.world.new_account(10**20), allowing.usdc, allowing.dai

    def take(self, amount: int, *, token: str = "", by: LocalAccount | None = None, **changes: Any) -> bool:
        """Send so much of the Safe's to the thief; whether it went."""
        asked = {"safe": self.safe, "delegate": self.key.address, "signature": b"", "payment": 0, **changes}
        call = self.module.functions.executeAllowanceTransfer(
            asked["safe"],
            Web3.to_checksum_address(token or self.usdc),
            self.thief.address,
            amount,
            asked.get("paid_in", NOBODY),
            asked["payment"],
            asked["delegate"],
            asked["signature"],
        )
        return self._send(call, by or self.key)

    def say(self, name: str, *arguments: Any) -> bool:
        """Any other function of the module, in the key's own name."""
        return self._send(self.module.functions[name](*arguments), self.key)

    def call_safe(self, data: bytes) -> bool:
        """The Safe itself, as its module or its owner would."""
        key = self.key
        asked: Any = {"from": key.address, "to": self.safe, "data": "0x" + data.hex(), "value": 0}
        return self._finish(asked, key)

    def sign_transfer(self, amount: int, nonce: int) -> bytes:
        """The key's word for one transfer, which anybody may carry."""
        digest = self.module.functions.generateTransferHash(
            self.safe, self.usdc, self.thief.address, amount, NOBODY, 0, nonce
        ).call()
        return bytes(self.key.unsafe_sign_hash(digest).signature)

    def _send(self, call: Any, key: LocalAccount) -> bool:
        built = call.build_transaction({"from": key.address, "gas": 500_000, "gasPrice": 1, "nonce": 0})
        return self._finish({"from": key.address, "to": built["to"], "data": built["data"], "value": 0}, key)

    def _finish(self, asked: Any, key: LocalAccount) -> bool:
        asked |= {
            "nonce": self.web3.eth.get_transaction_count(key.address),
            "gas": 500_000,
            "gasPrice": self.world.fair_gas_price(),
            "chainId": CHAIN_ID,
        }
        sent = self.web3.eth.send_raw_transaction(key.sign_transaction(asked).raw_transaction)
        return bool(self.web3.eth.wait_for_transaction_receipt(sent)["status"])


@pytest.fixture
def allowing(transactional_db: None, local_chain: World, settings: Any) -> Iterator[Allowing]:
    yield Allowing(make_live_golem(local_chain), settings)
