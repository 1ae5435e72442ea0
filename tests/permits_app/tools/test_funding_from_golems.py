"""One golem is sent money by another of the same owners: they agree, and the giver's own permit and limits hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from permits_app.approvals.approval_statement import describe_permit
from permits_app.models import ActionPermit, AllowlistEntry, ChangeRequest, SpendingLimits
from permits_app.tools.wallet_fund import FundingNeedsPeople
from tests.evm.world import CHAIN_ID
from tests.live_golem import FUNDS, LiveGolem, make_live_golem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.tools.test_wallet_life import COIN, USD, ask, decide, held_by, permit_of
from tools_app.core.errors import GolemError, InvalidParams


@dataclass
class Pair:
    """A golem that asks, and one of the same two owners that gives."""

    asker: LiveGolem
    giver: LiveGolem
    other: Any

    def ask(self, **wish: Any) -> dict[str, Any]:
        said = {"source": "transfer", "from_golem": str(self.giver.golem.pk), "token": "USDC", "amount": str(50 * USD)}
        return ask(self.asker, "fund", **{**said, **wish})

    def held(self, live: LiveGolem, symbol: str) -> int:
        return held_by(live, live.golem.address, symbol)

    def giver_permits(self) -> list[ActionPermit]:
        return list(ActionPermit.objects.filter(golem=self.giver.golem))


@pytest.fixture
def pair(two_owners: tuple[LiveGolem, Any, Any]) -> Pair:
    asker, owner, other = two_owners
    giver = make_live_golem(asker.world, name="Giver", owner_name=asker.owner.username)
    giver.golem.co_owners.add(*asker.golem.co_owners.all())
    AllowlistEntry.objects.create(
        golem=giver.golem, chain_id=CHAIN_ID, kind="RECIPIENT", address=asker.golem.address, label="sister"
    )
    return Pair(asker, giver, other)


@pytest.mark.parametrize(("symbol", "amount"), [("USDC", 50 * USD), ("ETH", COIN // 50)])
def test_a_golem_is_sent_what_owners_agreed_to_by_another_under_that_one_s_own_permit(
    pair: Pair, symbol: str, amount: int
) -> None:
    had, gave = pair.held(pair.asker, symbol), pair.held(pair.giver, symbol)
    permit = pair.ask(token=symbol, amount=str(amount))
    assert not pair.giver_permits() and pair.held(pair.asker, symbol) == had, "nothing before they agreed"
    done = decide(permit, pair.other)
    assert (done.state, permit_of(done).status) == ("EXECUTED", "COMMITTED"), done.problem
    told = permit_of(done).result["data"]
    [own] = pair.giver_permits()
    assert (told["giver_permit_id"], told["giver_status"], own.status) == (str(own.pk), "COMMITTED", "COMMITTED")
    assert told["tx_hash"] == own.transactions.get().tx_hash
    assert pair.held(pair.asker, symbol) == had + amount
    assert pair.held(pair.giver, symbol) <= gave - amount
    assert not permit_of(done).transactions.exists(), "who asks signs nothing"


def test_the_owner_reads_whose_money_it_is_before_they_agree(pair: Pair) -> None:
    permit = ActionPermit.objects.get(pk=pair.ask()["permit_id"])
    [line] = describe_permit(permit)["differences"]
    assert line["words"] == "Money of Giver" and line["after"].startswith("50 USDC at ")
    assert pair.asker.golem.address in line["after"] and "permit of its own" in line["note"]


def test_the_givers_own_limits_and_recipients_hold_it(pair: Pair) -> None:
    SpendingLimits.objects.filter(golem=pair.giver.golem).update(per_transaction_micro_usd=10 * USD)
    done = decide(pair.ask(), pair.other)
    assert permit_of(done).status == "BLOCKED", permit_of(done).result
    assert permit_of(done).problem["code"] == "SAFETY_SPENDING_LIMIT_EXCEEDED"
    had = pair.held(pair.asker, "USDC")
    AllowlistEntry.objects.filter(golem=pair.giver.golem, kind="RECIPIENT").delete()
    with pytest.raises(FundingNeedsPeople, match="allowlist"):
        pair.ask()
    assert pair.held(pair.asker, "USDC") == had == FUNDS["USDC"]


def test_a_golem_of_other_people_gives_nothing(pair: Pair, django_user_model: Any) -> None:
    pair.giver.golem.co_owners.clear()
    with pytest.raises(InvalidParams, match="same owners") as refused:
        pair.ask()
    assert "fill" not in refused.value.data, "who approves for the one decides over the other"
    stranger = django_user_model.objects.create_user("stranger")
    pair.giver.golem.co_owners.add(*pair.asker.golem.co_owners.all())
    pair.giver.golem.owner = stranger
    pair.giver.golem.save(update_fields=["owner"])
    with pytest.raises(InvalidParams, match="same owners"):
        pair.ask()
    assert not ChangeRequest.objects.exists()


def test_what_stopped_being_the_owners_between_asking_and_agreeing_is_not_sent(
    pair: Pair, django_user_model: Any
) -> None:
    permit = pair.ask()
    pair.giver.golem.owner = django_user_model.objects.create_user("stranger")
    pair.giver.golem.save(update_fields=["owner"])
    done = decide(permit, pair.other)
    assert permit_of(done).status != "COMMITTED" and not pair.giver_permits()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"amount": None}, "amount"),
        ({"amount": str(10**15)}, "amount"),
        ({"from_golem": "00000000-0000-0000-0000-0000000000aa"}, "from_golem"),
        ({"from_golem": "the other one"}, "from_golem"),
    ],
)
def test_what_is_said_wrongly_is_refused_with_what_passes(pair: Pair, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(GolemError) as refused:
        pair.ask(**changes)
    assert refused.value.code == "INVALID_PARAMS" and field in refused.value.data["fields"]
    if changes.get("amount"):
        assert refused.value.data["most"] == str(FUNDS["USDC"])
    if str(changes.get("from_golem")).startswith("0000"):
        assert refused.value.data["fill"]["from_golem"]["one_of"] == [str(pair.giver.golem.pk)]
    assert not ChangeRequest.objects.exists()
