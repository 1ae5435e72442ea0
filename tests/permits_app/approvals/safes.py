"""A Safe whose owners are people of the test, over a golem's cage on the local chain; their keys stay in the test."""

from __future__ import annotations

import io
from typing import Any

from django.core.management import call_command

from permits_app.actions.request_change import request_operation
from permits_app.actions.sync_policy_cage import sync_policy_cage
from permits_app.custody.signers.choose_signer import open_keystore
from permits_app.models import CageMirror, ChangeRequest, OwnerTransaction, PolicyCage, SpendingLimits
from permits_app.policy_cage.contract import Limit, RuleKind, limit_key
from permits_app.policy_cage.safe_tx import ENABLE_MODULE
from permits_app.policy_cage.state import CageState
from tests.live_golem import LiveGolem
from tests.permits_app.local_safe import FUNDS, USD, LocalSafe
from tests.proof.caged.engines import make_account
from tests.proof.caged.safe import sign_digest
from tools_app.chain.abi import encode_call
from tools_app.core import clock


class OwnedSafe(LocalSafe):
    """A Safe of the local world with `threshold` of the accounts named, and a golem's cage as its module."""

    def __init__(
        self,
        live: LiveGolem,
        *,
        names: tuple[str, ...] = ("key of a", "key of b"),
        threshold: int = 1,
        is_enabled: bool = True,
    ) -> None:
        self.live = live
        owners = [make_account(f"{name} {live.golem.pk}") for name in names]
        super().__init__(live.world, owners, threshold=threshold)
        live.world.fund(self.address, 0, FUNDS)
        self.mirror = self._deploy(is_enabled=is_enabled)

    def sign(self, digest: str, owner: int = 0) -> str:
        """What the wallet of one owner answers for a SafeTx hash."""
        return "0x" + sign_digest(self.owners[owner], bytes.fromhex(digest[2:])).hex()

    def sync(self) -> CageState:
        """The mirror at the newest block; the state of the contract."""
        self.mirror = sync_policy_cage(mirror_id=self.mirror.pk, now=clock.now())
        return CageState.from_dict(self.mirror.state)

    def pass_time(self, seconds: int) -> None:
        """The chain's clock moves on."""
        self.live.world.rpc.call("evm_increaseTime", seconds)
        self.live.world.rpc.call("evm_mine")

    def _deploy(self, *, is_enabled: bool) -> CageMirror:
        golem = self.live.golem
        PolicyCage.objects.filter(golem=golem).update(max_concentration_bps=6_000)
        SpendingLimits.objects.filter(golem=golem).update(per_session_micro_usd=40_000 * USD)
        call_command(
            "deploy_policy_cage",
            str(golem.pk),
            "--account",
            self.address,
            "--high-water-mark-usd",
            "26000",
            "--send-locally",
            self.live.world.rpc_url,
            stdout=io.StringIO(),
        )
        self.mirror = CageMirror.objects.get(cage__golem=golem)
        if is_enabled:
            self.owner_call(self.address, encode_call(ENABLE_MODULE, self.mirror.contract))
        self.sync()
        assert self.mirror.is_enforced is is_enabled
        return self.mirror


def make_relayer(live: LiveGolem, settings: Any, wei: int = 10**18) -> str:
    """A key that only pays for gas, in the run's keystore."""
    address = open_keystore().create()
    live.world.fund(address, wei, {})
    settings.GOLEM_RELAYER_ADDRESS = address
    return address


def limit_change(limit: Limit, value: int) -> dict[str, str]:
    """One limit as a rule of a proposal."""
    return {"kind": str(int(RuleKind.LIMIT)), "key": "0x" + limit_key(limit).hex(), "value": str(value)}


def ask(safe: OwnedSafe, owner: Any, *rules: dict[str, str], **arguments: Any) -> ChangeRequest:
    """`owner` asks for rules, or for another act of the cage."""
    wish = {"act": "propose", "rules": list(rules), **arguments} if rules else arguments
    return request_operation(
        golem=safe.live.golem, name="cage", arguments=wish, owner=owner, reason="for a test", now=clock.now()
    )


def owner_transaction(request: ChangeRequest) -> OwnerTransaction:
    """What the Safe's owners sign for `request`."""
    return OwnerTransaction.objects.get(request=request)
