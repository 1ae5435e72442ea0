"""A Safe of several people that a live golem acts with; two of its owners sign each plan."""

from __future__ import annotations

from typing import Any

from permits_app.actions.execute_change import execute_change
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.models import ChangeRequest, OwnerTransaction, SigningKey
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.safe_tx import NONCE
from tests.live_golem import FUNDS, LiveGolem
from tests.permits_app.approvals.people import approve
from tests.permits_app.caged_golem import Safe
from tests.proof.caged.engines import CHAIN_ID, make_account
from tests.proof.caged.safe import sign_digest
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.runner import open_reader

ADD_OWNER = "function addOwnerWithThreshold(address owner, uint256 threshold)"


class SharedSafe:
    """A live golem that acts with a Safe of `count` people of the test; two must sign. Its key may own it too."""

    def __init__(self, live: LiveGolem, *, owns: bool = True, count: int = 2) -> None:
        self.live = live
        self.key = SigningKey.objects.get(golem=live.golem)
        people = [make_account(f"person {number} of {live.golem.pk}") for number in range(count)]
        self.safe = Safe(live, owners=people, threshold=2)
        if owns:
            self.act(encode_call(ADD_OWNER, self.key.address, 2))
        live.world.fund(self.safe.address, 10**18, FUNDS)
        choice = WalletChoice(kind=WalletKind.GNOSIS_SAFE, address=self.safe.address, key=self.key.address)
        choose_wallet(golem=live.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
        live.golem.refresh_from_db()

    def act(self, data: bytes) -> None:
        """Two people act with their Safe past the server."""
        everybody, self.safe.owners = self.safe.owners, self.safe.owners[:2]
        self.safe.owner_call(self.safe.address, data)
        self.safe.owners = everybody

    def propose(self, **changes: Any) -> tuple[dict[str, Any], ChangeRequest]:
        answer = self.live.preview(**changes)
        return answer, ChangeRequest.objects.get(permit_id=answer["permit_id"])

    def sign(self, request: ChangeRequest, person: int = 0) -> str:
        asked = OwnerTransaction.objects.get(request=request)
        return "0x" + sign_digest(self.safe.owners[person], bytes.fromhex(asked.safe_tx_hash[2:])).hex()

    def approve(self, request: ChangeRequest, person: int = 0) -> ChangeRequest:
        return approve(request, self.live.owner, signature=self.sign(request, person), code="")

    def run(self, request: ChangeRequest) -> ChangeRequest:
        execute_change(request_id=request.pk, now=clock.now())
        return ChangeRequest.objects.get(pk=request.pk)

    def nonce(self) -> int:
        return int(self.reader().call(self.safe.address, NONCE)[0])

    def reader(self) -> Any:
        return open_reader(CHAIN_ID, now=clock.now(), deadline=clock.Deadline.after_ms(5_000))

    def balance(self, symbol: str) -> int:
        token = self.live.world.tokens[symbol].address
        answer = self.live.world.rpc.read(token, "balanceOf(address)", self.safe.address, returns="(uint256)")
        return int(answer[0] if isinstance(answer, list | tuple) else answer)
