"""A contract that is another one at the commit than it was at the preview: nothing is signed for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from permits_app.models import ActionPermit
from permits_app.permits.permit_hashes import hash_plan
from tests.adversary.conftest import SWAP, Adversary
from tests.evm.world import World
from tools_app.chain.rpc import RpcReply, RpcRequest
from tools_app.chain.rpc_pool import RpcPool
from tools_app.chain.running_code import BEACON_SLOT, IMPLEMENTATION_SLOTS, find_cloned
from tools_app.core.models import AuditEntry

OWN_SLOT = 0x1234
FIRST, SECOND, BEACON = ("0x" + digit * 40 for digit in "678")
COPY, RUN, END = "365f5f37", "5af4", "3d5f5f3e{jump}573d5ffd5b3d5ff3"


def proxy(slot: int) -> str:
    """Code that hands every call to the address in `slot`."""
    return with_end(f"{COPY}5f5f365f7f{slot:064x}54{RUN}")


def beacon_proxy() -> str:
    """Code that asks the contract in the beacon's slot whom to hand a call to."""
    return with_end(f"635c60da1b60e01b5f5260205f60045f7f{BEACON_SLOT:064x}545afa505f51{COPY}5f5f365f84{RUN}")


def clone(of: str) -> str:
    return f"0x363d3d373d3d3d363d73{of[2:]}5af43d82803e903d91602b57fd5bf3"


def with_end(code: str) -> str:
    """Return or revert with what the other contract said."""
    jump = len(code) // 2 + 4 + 3 + 3
    return "0x" + code + END.format(jump=f"60{jump:02x}")


def put(world: World, address: str, code: str) -> None:
    world.rpc.call("anvil_setCode", address, code)


def point(world: World, address: str, slot: int, to: str) -> None:
    world.rpc.call("anvil_setStorageAt", address, f"0x{slot:064x}", "0x" + to[2:].rjust(64, "0"))


def code_of(world: World, address: str) -> str:
    return str(world.rpc.call("eth_getCode", address, "latest"))


def stand_behind(world: World, token: str, code: str) -> str:
    """Two copies of the token's code elsewhere, and `code` in its place. The second is another and does the same."""
    runs = code_of(world, token)
    put(world, FIRST, runs)
    put(world, SECOND, runs + "00")
    put(world, token, code)
    return token


def behind_a_slot(world: World, slot: int) -> Callable[[], None]:
    usdc = stand_behind(world, world.tokens["USDC"].address, proxy(slot))
    point(world, usdc, slot, FIRST)
    return lambda: point(world, usdc, slot, SECOND)


def behind_a_beacon(world: World) -> Callable[[], None]:
    usdc = stand_behind(world, world.tokens["USDC"].address, beacon_proxy())
    put(world, BEACON, "0x5f545f5260205ff3")
    point(world, BEACON, 0, FIRST)
    point(world, usdc, BEACON_SLOT, BEACON)
    return lambda: point(world, BEACON, 0, SECOND)


def to_another_beacon(world: World) -> Callable[[], None]:
    behind_a_beacon(world)
    other = "0x" + "9" * 40
    put(world, other, code_of(world, BEACON))
    point(world, other, 0, FIRST)
    return lambda: point(world, world.tokens["USDC"].address, BEACON_SLOT, other)


def code_behind(world: World) -> Callable[[], None]:
    behind_a_slot(world, IMPLEMENTATION_SLOTS[0])
    return lambda: put(world, FIRST, code_of(world, SECOND))


def of_a_clone(world: World) -> Callable[[], None]:
    stand_behind(world, world.tokens["USDC"].address, clone(FIRST))
    return lambda: put(world, FIRST, code_of(world, SECOND))


def of_the_pool(world: World) -> Callable[[], None]:
    """Nothing in the plan names the pools; they are known by what they log."""

    def upgrade() -> None:
        for pool in world.pools:
            put(world, pool.address, code_of(world, pool.address) + "00")

    return upgrade


def of_the_token(world: World) -> Callable[[], None]:
    usdc = world.tokens["USDC"].address
    return lambda: put(world, usdc, code_of(world, usdc) + "00")


@pytest.mark.parametrize("mines", [False, True])
@pytest.mark.parametrize(
    ("prepare", "what"),
    [
        *((lambda world, slot=slot: behind_a_slot(world, slot), "implementation") for slot in IMPLEMENTATION_SLOTS),
        (behind_a_beacon, "implementation"),
        (to_another_beacon, "beacon"),
        (code_behind, "code"),
        (of_a_clone, "code"),
        (of_the_pool, "code"),
        (of_the_token, "code"),
    ],
    ids=["eip1967", "eip1822", "before_1967", "named_by_beacon", "beacon", "code_behind", "clone", "pool", "token"],
)
def test_what_was_upgraded_between_preview_and_commit_is_not_signed_for(
    robbed: Adversary, prepare: Callable[[World], Callable[[], None]], what: str, mines: bool
) -> None:
    world = robbed.live.world
    upgrade = prepare(world)
    status, permit = robbed.preview(**SWAP)
    assert status == 200, permit
    upgrade()
    if mines:
        world.rpc.call("evm_mine")
    _, ended = robbed.ask("commit_action", {"permit_id": permit["permit_id"]})
    row = ActionPermit.objects.get(pk=permit["permit_id"])
    assert (row.status, row.problem["code"], row.problem["what"]) == ("BLOCKED", "CODE_CHANGED", what), ended
    assert (row.problem["recovery"], row.problem["rule"]) == ("PREVIEW_AGAIN", "hallucination_detector.code_upgraded")
    assert row.problem["observed"] != row.problem["limit"]
    [entry] = AuditEntry.objects.filter(golem_id=row.golem_id, event="PermitBlocked")
    assert entry.data["code"] == "CODE_CHANGED"


def test_a_proxy_of_its_own_kind_is_known_by_whose_code_ran(robbed: Adversary) -> None:
    world = robbed.live.world
    upgrade = behind_a_slot(world, OWN_SLOT)
    robbed.live.golem.simulation_engine = "both"
    robbed.live.golem.save()
    status, permit = robbed.preview(**SWAP)
    assert status == 200, permit
    row = ActionPermit.objects.get(pk=permit["permit_id"])
    assert [world.tokens["USDC"].address, FIRST] in row.code["ran"]
    upgrade()
    world.rpc.call("evm_mine")
    robbed.ask("commit_action", {"permit_id": permit["permit_id"]})
    row.refresh_from_db()
    assert (row.status, row.problem["code"], row.problem["contract"]) == (
        "BLOCKED",
        "CODE_CHANGED",
        world.tokens["USDC"].address,
    )


def test_what_is_bound_is_part_of_the_plans_hash(robbed: Adversary) -> None:
    permit = robbed.preview(**SWAP)[1]["permit_id"]
    row = ActionPermit.objects.get(pk=permit)
    assert {robbed.live.world.tokens[each].address for each in ("USDC", "WETH")} <= set(row.code["codes"])
    address = row.code["roots"][0]
    ActionPermit.objects.filter(pk=permit).update(
        code={**row.code, "codes": {**row.code["codes"], address: "0x" + "11" * 32}}
    )
    robbed.ask("commit_action", {"permit_id": permit})
    row.refresh_from_db()
    assert (row.status, row.problem["code"]) == ("BLOCKED", "PLAN_HASH_MISMATCH")


def test_a_permit_that_says_nothing_of_code_is_not_signed_for(robbed: Adversary) -> None:
    row = ActionPermit.objects.get(pk=robbed.preview(**SWAP)[1]["permit_id"])
    row.code = {}
    ActionPermit.objects.filter(pk=row.pk).update(code={}, plan_hash=hash_plan(row))
    robbed.ask("commit_action", {"permit_id": str(row.pk)})
    row.refresh_from_db()
    assert (row.status, row.problem["code"]) == ("BLOCKED", "CODE_CHANGED")


def test_an_upgrade_before_the_preview_is_what_is_simulated_and_passes(adversary: Adversary) -> None:
    upgrade = behind_a_slot(adversary.live.world, IMPLEMENTATION_SLOTS[0])
    assert adversary.preview(**SWAP)[0] == 200
    upgrade()
    ended = adversary.take(**{**SWAP, "amount": "499000000"})
    assert ended["status"] == "COMMITTED", ended


def test_code_is_read_with_what_is_read_anyway(adversary: Adversary, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second preview of a shape and every commit ask the node as often as they did before code was bound."""
    world = adversary.live.world
    behind_a_slot(world, IMPLEMENTATION_SLOTS[0])
    adversary.preview(**SWAP)
    trips: list[Counter[str]] = []
    real = RpcPool.send

    def send(pool: RpcPool, requests: list[RpcRequest], **options: Any) -> list[RpcReply]:
        trips.append(Counter(request.method for request in requests))
        return real(pool, requests, **options)

    monkeypatch.setattr(RpcPool, "send", send)
    permit = adversary.preview(**{**SWAP, "amount": "499000000"})[1]["permit_id"]
    with_code = [trip for trip in trips if trip["eth_getStorageAt"]]
    assert len(with_code) == 1 and with_code[0]["eth_call"], trips
    assert [trip for trip in trips if set(trip) == {"eth_getCode"}] == []
    trips.clear()
    assert adversary.ask("commit_action", {"permit_id": permit})[1]["status"] == "COMMITTED"
    with_code = [trip for trip in trips if trip["eth_getStorageAt"]]
    assert len(with_code) == 1 and with_code[0]["eth_call"], trips


def test_clones_of_every_shape_are_followed(chain: World) -> None:
    run = FIRST[2:]
    shapes = [
        f"363d3d373d3d3d363d73{run}5af43d82803e903d91602b57fd5bf3",
        f"5f5f365f5f37365f73{run}5af43d5f5f3e5f3d91602a57fd5bf3",
        f"ef0100{run}",
    ]
    assert [find_cloned(bytes.fromhex(shape)) for shape in shapes] == [FIRST] * 3
    assert find_cloned(bytes.fromhex("6001600201")) is None
    assert find_cloned(bytes.fromhex(shapes[0]) + bytes(200)) is None
