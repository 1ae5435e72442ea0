"""A golem that trades, is restricted, worsened and halted at random, and what must hold wherever that leads.

It is driven as from outside: its agent over REST, its owner by the verbs behind the admin's pages. From every state the
agent is permitted each step back into the base asset, and the owner's halt, which may sell, leaves no position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

from django.test import Client

from archetypes_app.actions.change_phase import reset_phase, worsen_phase
from archetypes_app.models import Golem, ToolProfile
from archetypes_app.phases import is_worse
from permits_app.actions.halt import carry_out_halt, halt_golem, list_what_is_left
from permits_app.actions.set_limits import set_limits
from permits_app.halts.resume import resume_golem
from permits_app.models import (
    ActionPermit,
    AllowlistEntry,
    HaltRecord,
    HaltSetting,
    HighWaterMark,
    PolicyCage,
    VenueTrust,
)
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import AllowlistMode
from permits_app.safety.loop_and_breaker_rules import BREAKER_FAILURES
from tests.evm.world import CHAIN_ID
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.toolkit.enums import Phase

BASE: Final = "USDC"
OTHERS: Final = ("WETH", "DAI")
OWNER: Final = "owner:1"
MONEY: Final = ("per_transaction", "per_tick", "per_session", "per_day", "hot_lane")
_UNIT: Final = 10**6
_HALT_TRIES: Final = 6


ACTS: Final[Mapping[str, tuple[tuple[Any, ...], ...]]] = {
    "buy": tuple((token, dollars) for token in OTHERS for dollars in (50, 1_500)),
    "provide": ((50,), (1_500,)),
    "ask_and_leave": tuple((token, 400) for token in OTHERS),
    "lower_limits": ((MONEY, 0), (MONEY, 1), *(((name,), 0) for name in MONEY), (MONEY, 60_000_000)),
    "allow_writes": ((0,), (1,), (3,)),
    "choose_list": tuple((mode,) for mode in AllowlistMode),
    "take_off_list": ((None,), (BASE,), *((token,) for token in OTHERS)),
    "tighten_cage": ((0, 0, True), (500, 1, True), (500, 2, False), (5_000, 1, False)),
    "be_conservative": ((),),
    "change_phase": tuple((phase,) for phase in Phase),
    "halt": ((True,), (False,)),
    "resume": ((),),
    "fall": ((1_600,), (9_000,)),
    "fail_at_venue": ((),),
}
"""Steps of a walk by name, each with what it may be taken with."""


class LeavingWalk:
    """One golem; every method is a step that an agent, an owner or the world may take. Refusals are answers."""

    def __init__(self, live: LiveGolem) -> None:
        self.live = live
        self.agent = Agent(golem=live.golem, key=live.key, client=Client())
        self.steps: list[str] = []

    @property
    def golem(self) -> Golem:
        """The row as it is now."""
        return Golem.objects.get(pk=self.live.golem.pk)

    def take(self, name: str, values: tuple[Any, ...]) -> None:
        """One of the acts, and from where it leads each step out."""
        self.steps.append(f"{name}{values}")
        getattr(self, name)(*values)
        self.check_every_step_out()

    # What the agent does.

    def begin(self) -> None:
        """Each asset besides its base asset came by a trade of its own, and it has a position of both kinds."""
        for token in OTHERS:
            self._do(**_purchase(token, 400))
        self._do(**_provision(500))
        assert len(self.list_positions()) == 1

    def buy(self, token: str, dollars: int) -> None:
        """Bought for dollars and carried out, where that is permitted."""
        self._open(**_purchase(token, dollars))

    def provide(self, dollars: int) -> None:
        """Liquidity over a wide range, where that is permitted."""
        self._open(**_provision(dollars))

    def ask_and_leave(self, token: str, dollars: int) -> None:
        """A permit that stays open."""
        self._post(**_purchase(token, dollars))

    # What its owner does.

    def lower_limits(self, names: Sequence[str], micro_usd: int) -> None:
        """Some of the money limits at once."""
        limits = {f"{name}_micro_usd": micro_usd for name in names}
        set_limits(golem=self.golem, limits=limits, choices=(), actor=OWNER, now=clock.now())

    def allow_writes(self, an_hour: int) -> None:
        """Lower than what was written already, too."""
        set_limits(golem=self.golem, limits={"writes_per_hour": an_hour}, choices=(), actor=OWNER, now=clock.now())

    def choose_list(self, mode: AllowlistMode) -> None:
        """How strictly the list is read."""
        set_limits(golem=self.golem, limits={"allowlist_mode": mode}, choices=(), actor=OWNER, now=clock.now())

    def take_off_list(self, symbol: str | None) -> None:
        """One token, or with None everything."""
        rows = AllowlistEntry.objects.filter(golem=self.live.golem)
        if symbol is not None:
            rows = rows.filter(address=self.live.world.tokens[symbol].address)
        rows.delete()

    def tighten_cage(self, bps: int, assets: int, is_gate_on: bool) -> None:
        """Shares of the worth, number of assets, and the gate that wants a history."""
        PolicyCage.objects.filter(golem=self.live.golem).update(
            max_position_bps=bps,
            max_concentration_bps=bps,
            max_assets=assets,
            max_rebalances_per_day=0,
            is_action_gate_on=is_gate_on,
        )

    def be_conservative(self) -> None:
        """A profile that caps what others allow."""
        self.live.golem.profiles.add(*ToolProfile.objects.filter(is_conservative=True)[:1])

    def change_phase(self, to: Phase) -> None:
        """Worse by itself; better only by an owner's reset."""
        golem, now = self.golem, clock.now()
        if is_worse(to, Phase(golem.phase)):
            worsen_phase(golem=golem, to=to, reason="a walk", actor="system:test", now=now)
        else:
            reset_phase(golem=golem, to=to, reason="a walk", actor=OWNER, now=now)

    def halt(self, unwinds: bool) -> None:
        """With its steps on the chain carried out."""
        self._choose_halt(unwinds=unwinds)
        self._carry_out(halt_golem(golem=self.golem, reason="a walk", actor=OWNER, now=clock.now()))

    def resume(self) -> None:
        """Does nothing to a golem that is not halted."""
        resume_golem(golem=self.golem, reason="a walk", actor=OWNER, now=clock.now())

    # What happens to it.

    def fall(self, bps: int) -> None:
        """A fall from the highest value is on record."""
        now = clock.now()
        facts = {"value_micro_usd": 10**12, "reached_at": now, "violated_at": now, "violated_bps": bps}
        HighWaterMark.objects.update_or_create(golem=self.live.golem, defaults=facts)

    def fail_at_venue(self) -> None:
        """As many reverts as open the venue's breaker, and its trust is low."""
        template = ActionPermit.objects.filter(golem=self.live.golem, status=PermitStatus.COMMITTED).first()
        if template is None:
            return
        now, permit = clock.now(), template.pk
        for number in range(BREAKER_FAILURES):
            template.pk = template.id = uuid4()
            template._state.adding = True
            template.status, template.action_hash = PermitStatus.REVERTED, f"0x{uuid4().hex}"
            template.finished_at = now - timedelta(seconds=number)
            template.save(force_insert=True)
        VenueTrust.objects.update_or_create(
            golem=self.live.golem,
            chain_id=CHAIN_ID,
            venue=template.venue,
            defaults={"lowered_at": now, "permit_id": permit, "divergence_bps": 5_000},
        )

    # What must hold.

    def check_every_step_out(self) -> None:
        """Each step back into the base asset is permitted, unless an owner's halt holds; none of them is taken."""
        if self.golem.is_halted:
            return
        for position in self._list_left():
            self._check(action_type="remove_liquidity", position_id=position, percent_to_remove=100)
        for symbol in self._list_held():
            self._check(action_type="swap", token_in=symbol, token_out=BASE, amount=str(self.live.balance(symbol)))

    def check_agent_gets_out(self) -> None:
        """Everything is in the base asset in the end, by the agent alone."""
        self.resume()
        for position in self.list_positions():
            self._do(action_type="remove_liquidity", position_id=position, percent_to_remove=100)
        self._sell_all()

    def check_owner_gets_out(self) -> None:
        """A halt that may sell leaves no position; what it leaves in the wallet is sold once the golem acts again."""
        self._choose_halt(unwinds=True)
        self.resume()
        report = halt_golem(golem=self.golem, reason="out", actor=OWNER, now=clock.now())
        for _ in range(_HALT_TRIES):
            self._carry_out(report)
            if not self.list_positions():
                break
        left = list_what_is_left(golem=self.golem, now=clock.now())
        assert (self.list_positions(), left) == ([], []), self._tell(self.golem.halts.latest("epoch").steps)
        self.resume()
        self._sell_all()

    def halt_until_done(self) -> HaltRecord:
        """A halt that may sell, carried out as often as the sweep would; its record."""
        self._choose_halt(unwinds=True)
        report = halt_golem(golem=self.golem, reason="out", actor=OWNER, now=clock.now())
        for _ in range(_HALT_TRIES):
            self._carry_out(report)
        return HaltRecord.objects.get(golem=self.live.golem, epoch=report["epoch"])

    def list_positions(self) -> list[str]:
        """The ids of its liquidity positions that hold something."""
        manager, rpc = self.live.world.contracts["uniswap_v3_position_manager"], self.live.world.rpc
        shape = "(uint96,address,address,address,uint24,int24,int24,uint128,uint256,uint256,uint128,uint128)"
        count = _as_int(rpc.read(manager, "balanceOf(address)", self.live.golem.address, returns="(uint256)"))
        found = [
            _as_int(
                rpc.read(
                    manager,
                    "tokenOfOwnerByIndex(address,uint256)",
                    self.live.golem.address,
                    index,
                    returns="(uint256)",
                )
            )
            for index in range(count)
        ]
        return [str(each) for each in found if rpc.read(manager, "positions(uint256)", each, returns=shape)[7]]

    def _list_left(self) -> list[str]:
        """The positions that its agent may leave."""
        return self.list_positions()

    def _list_held(self) -> list[str]:
        return [symbol for symbol in OTHERS if self.live.balance(symbol)]

    def _sell_all(self) -> None:
        for _ in OTHERS:
            for symbol in self._list_held()[:1]:
                self._do(action_type="swap", token_in=symbol, token_out=BASE, amount=str(self.live.balance(symbol)))
        assert (self.list_positions(), self._list_held()) == ([], []), self._tell("something is left")
        assert self.live.balance(BASE) > 0

    def _choose_halt(self, *, unwinds: bool) -> None:
        chosen = {"unwind_on_halt": unwinds, "sell_on_halt": unwinds}
        HaltSetting.objects.update_or_create(golem=self.live.golem, defaults=chosen)

    def _carry_out(self, report: dict[str, Any]) -> None:
        carry_out_halt(golem_id=self.live.golem.pk, epoch=report["epoch"], now=clock.now())

    def _open(self, **wish: Any) -> None:
        answer = self._post(**wish)
        if answer["http"] == 200 and answer["status"] == "CREATED":
            self._commit(answer, wish)

    def _do(self, **wish: Any) -> None:
        self._commit(self._require_permit(**wish), wish)

    def _commit(self, permit: dict[str, Any], wish: Any) -> None:
        response = self.agent.post("commit_action", {"permit_id": permit["permit_id"]})
        ended = self.agent.get(f"permits/{permit['permit_id']}").json()
        assert ended.get("status") == "COMMITTED", self._tell((wish, response.json(), ended))

    def _check(self, **wish: Any) -> None:
        permit = self._require_permit(**wish)
        self.agent.post("cancel_action", {"permit_id": permit["permit_id"], "reason": "only asked"})

    def _require_permit(self, **wish: Any) -> dict[str, Any]:
        answer = self._post(**wish)
        assert answer["http"] == 200 and answer["status"] == "CREATED", self._tell((wish, answer))
        return answer

    def _post(self, **wish: Any) -> dict[str, Any]:
        response = self.agent.post("preview_action", {"venue": "uniswap", **wish})
        assert response.status_code < 500, self._tell((wish, response.content))
        return {**response.json(), "http": response.status_code}

    def _tell(self, what: Any) -> str:
        return f"after {self.steps}: {what}"


def _purchase(token: str, dollars: int) -> dict[str, Any]:
    return {"action_type": "swap", "token_in": BASE, "token_out": token, "amount": str(dollars * _UNIT)}


def _provision(dollars: int) -> dict[str, Any]:
    bounds = {"price_lower": "1", "price_upper": "100000"}
    return {
        "action_type": "add_liquidity",
        "token0": "WETH",
        "token1": BASE,
        "amount1": str(dollars * _UNIT),
        **bounds,
    }


def _as_int(answer: Any) -> int:
    return int(answer[0] if isinstance(answer, list | tuple) else answer)
