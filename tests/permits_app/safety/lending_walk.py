"""The same walk for what is lent out: a loan at Aave with its collateral, a vault's shares, and a lender that pauses.

While the lender's market for the collateral is paused nobody gets it out, and the debt can still be paid; once it is
open again everything comes back into the base asset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from golem_project.embedded.world.accounts import derive_account
from permits_app.actions.halt import halt_golem, list_what_is_left
from tests.golem_project.heartbeat.loans import carry_out, include, plan
from tests.live_golem import LiveGolem
from tests.permits_app.safety.leaving_walk import ACTS, OWNER, LeavingWalk
from tools_app.core import clock
from tools_app.protocols.aave_v3.addresses import deployments as aave_deployments
from tools_app.protocols.erc4626.addresses import ENTRY, NAME
from tools_app.protocols.erc4626.addresses import deployments as vault_deployments

LOCAL: Final = 31337
SUPPLIED, OWED = "WETH", "DAI"
_WAYS_OUT: Final = ("aave_repay", "aave_withdraw", "vault_withdraw")
_HALT_TRIES: Final = 8
_MOST_STEPS: Final = 6
LENDING_ACTS: Final[Mapping[str, tuple[tuple[Any, ...], ...]]] = {
    **{name: ACTS[name] for name in ACTS if name not in ("buy", "provide", "ask_and_leave", "fail_at_venue")},
    "pause": ((True,), (False,)),
}
"""What restricts it, and the lender's own pause; nothing new is opened on the way."""


class LendingWalk(LeavingWalk):
    """One golem with a loan and shares; what it had was opened before the walk."""

    def __init__(self, live: LiveGolem) -> None:
        super().__init__(live)
        self.vault = (vault_deployments(LOCAL) or {})[ENTRY]
        self.is_paused = False

    def begin(self) -> None:
        """Half its ether is lent out, a few hundred DAI are owed for it, and dollars lie in the vault."""
        include(self.live, *_WAYS_OUT)
        carry_out(self.live, plan(self.live, "aave_supply", asset=SUPPLIED, amount=str(10**18)))
        owed = {"asset": OWED, "amount": str(300 * 10**18), "interest_rate_mode": "variable"}
        carry_out(self.live, plan(self.live, "aave_borrow", **owed))
        carry_out(self.live, plan(self.live, "vault_deposit", vault=self.vault, amount=str(500 * 10**6)))
        self.check_every_step_out()

    def pause(self, is_on: bool) -> None:
        """By the lender's own guardian."""
        world, configurator = self.live.world, (aave_deployments(LOCAL) or {})["pool_configurator"]
        asset = world.tokens[SUPPLIED].address
        world.transact(derive_account("aave_v3 deployer"), configurator, "setReservePause(address,bool)", asset, is_on)
        self.is_paused = is_on

    def check_every_step_out(self) -> None:
        """The debt can always be paid, the collateral comes out wherever its market is open, and shares come back."""
        if self.golem.is_halted:
            return
        super().check_every_step_out()
        for wish in self.list_lent_steps():
            self._check(**wish)

    def withdraw_what_the_floor_leaves(self) -> None:
        """Beside its debt, asked for as everything."""
        self._do(**_WITHDRAW)

    def list_lent_steps(self) -> list[dict[str, Any]]:
        """The next steps out of what is lent and owed, as its agent asks for them."""
        steps = []
        if self.has_debt():
            steps.append({**_REPAY, "withdraw_collateral": not self.is_paused})
        elif not self.is_paused and self.has_collateral():
            steps.append(dict(_WITHDRAW))
        if self.has_shares():
            steps.append(self._redeem())
        return steps

    def check_agent_gets_out(self) -> None:
        """Once the lender is open, by the agent alone."""
        self.pause(False)
        self.resume()
        self._leave_what_is_lent()
        self._sell_all()
        self._check_nothing_is_left()

    def check_owner_gets_out(self) -> None:
        """Once the lender is open, by a halt that may sell."""
        self.pause(False)
        self._choose_halt(unwinds=True)
        self.resume()
        report = halt_golem(golem=self.golem, reason="out", actor=OWNER, now=clock.now())
        for _ in range(_HALT_TRIES):
            self._carry_out(report)
            if not list_what_is_left(golem=self.golem, now=clock.now()):
                break
        self._check_nothing_is_left()
        self.resume()
        self._sell_all()

    def _leave_what_is_lent(self) -> None:
        for _ in range(_MOST_STEPS):
            for wish in self.list_lent_steps()[:1]:
                self._do(**wish)

    def _check_nothing_is_left(self) -> None:
        left = list_what_is_left(golem=self.golem, now=clock.now())
        held = (self.has_debt(), self.has_collateral(), self.has_shares())
        assert (left, held) == ([], (False, False, False)), self._tell((left, held))

    def _redeem(self) -> dict[str, Any]:
        return {"action_type": "withdraw", "venue": NAME, "vault": self.vault, "shares": "max"}

    def has_shares(self) -> bool:
        """Whether it holds shares of the vault."""
        return self._balance_of(self.vault) > 0

    def has_debt(self) -> bool:
        """Whether anything is owed."""
        return self._read_reserve(OWED)[2] > 0

    def has_collateral(self) -> bool:
        """Whether anything is lent out."""
        return self._read_reserve(SUPPLIED)[0] > 0

    def _read_reserve(self, symbol: str) -> list[int]:
        """What is supplied, and owed at the stable and the variable rate."""
        where = (aave_deployments(LOCAL) or {})["data_provider"]
        told = self.live.world.rpc.read(
            where,
            "getUserReserveData(address,address)",
            self.live.world.tokens[symbol].address,
            self.live.golem.address,
            returns="(uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint40,bool)",
        )
        return [int(each) for each in told[:3]]

    def _balance_of(self, token: str) -> int:
        told = self.live.world.rpc.read(token, "balanceOf(address)", self.live.golem.address, returns="(uint256)")
        return int(told[0] if isinstance(told, list | tuple) else told)


_REPAY: Final[Mapping[str, Any]] = {"action_type": "repay", "venue": "aave", "asset": OWED, "amount": "max"}
_WITHDRAW: Final[Mapping[str, Any]] = {"action_type": "withdraw", "venue": "aave", "asset": SUPPLIED, "amount": "max"}
