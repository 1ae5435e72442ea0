"""A golem whose funds are in a Safe behind its cage on the local chain, its session key in this server's keystore."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from django.core.management import call_command

from permits_app.actions.stage_key import stage_key
from permits_app.actions.sync_policy_cage import sync_policy_cage
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.session_keys import follow_session
from permits_app.custody.signers.choose_signer import open_keystore
from permits_app.models import CageMirror, PolicyCage, SigningKey, SpendingLimits
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.contract import encode_execute, encode_set_session
from tests.live_golem import LiveGolem
from tests.permits_app.local_safe import FUNDS, USD, LocalSafe
from tests.proof.caged.engines import make_account
from tools_app.core import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eth_account.signers.local import LocalAccount

    from tests.proof.caged.engines import Sent
    from tools_app.toolkit.plan import Call

BUDGET = 40_000 * USD


class Safe(LocalSafe):
    """The Safe of one golem; one owner unless `owners` says who."""

    def __init__(self, golem: LiveGolem, *, owners: Sequence[LocalAccount] = (), threshold: int = 1) -> None:
        super().__init__(golem.world, owners or [make_account(f"owner of {golem.golem.pk}")], threshold=threshold)


class CagedGolem:
    """A live golem after its owners moved it behind a cage. `live` previews and commits as before."""

    def __init__(self, live: LiveGolem) -> None:
        self.live, self.world = live, live.world
        PolicyCage.objects.filter(golem=live.golem).update(max_concentration_bps=6_000)
        SpendingLimits.objects.filter(golem=live.golem).update(per_session_micro_usd=BUDGET)
        self.safe = Safe(live)
        live.world.fund(self.safe.address, 0, FUNDS)
        self.mirror = self._deploy()
        self.key = stage_key(golem=live.golem, reason="first session", actor="system:test", now=clock.now())
        self.world.fund(self.key.address, 10**18)
        self.appoint(self.key)
        choice = WalletChoice(kind=WalletKind.POLICY_CAGE, address=self.safe.address)
        choose_wallet(golem=live.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
        live.golem.refresh_from_db()

    def _deploy(self) -> CageMirror:
        out = io.StringIO()
        call_command(
            "deploy_policy_cage",
            str(self.live.golem.pk),
            "--account",
            self.safe.address,
            "--high-water-mark-usd",
            "26000",
            "--send-locally",
            self.world.rpc_url,
            stdout=out,
        )
        told = out.getvalue()
        typed = json.loads(told[told.index("{") :])
        self.safe.owner_call(self.safe.address, bytes.fromhex(typed["message"]["data"][2:]))
        return CageMirror.objects.get(cage__golem=self.live.golem)

    def appoint(self, key: SigningKey, *, operations: int = 20, budget: int = BUDGET, seconds: int = 86_400) -> None:
        """The owners make `key` the cage's session key, and the mirror sees it."""
        data = encode_set_session(
            key=key.address,
            expires_at=self.safe.engine._head_time() + seconds,
            operations=operations,
            budget_micro_usd=budget,
        )
        self.safe.owner_call(self.mirror.contract, data)
        self.sync()

    def sync(self) -> CageMirror:
        """What the sweep does."""
        self.mirror = sync_policy_cage(mirror_id=self.mirror.pk, now=clock.now())
        follow_session(golem_id=self.live.golem.pk, now=clock.now())
        return self.mirror

    def balance(self, symbol: str) -> int:
        """Base units the Safe holds now."""
        token = self.world.tokens[symbol].address
        answer = self.world.rpc.read(token, "balanceOf(address)", self.safe.address, returns="(uint256)")
        return int(answer[0] if isinstance(answer, list | tuple) else answer)

    def steal_key(self) -> LocalAccount:
        """The session key itself, as somebody who took the server would have it."""
        from eth_account import Account

        found: LocalAccount = Account.from_key(open_keystore().read_key(self.key.address).reveal())
        self.safe.engine.give_coins(found.address, 10**21)
        return found

    def send_past_the_server(self, thief: LocalAccount, calls: Sequence[Call]) -> Sent:
        """`execute` with a raw transaction: no server code judges it."""
        self.safe.keep_up()
        return self.safe.engine.send(thief, self.mirror.contract, encode_execute(list(calls)))
