"""What a token runs in the middle of a batch pays for no theft: neither the owners' transaction nor a strange path."""

from __future__ import annotations

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.conditions import Condition, Must
from permits_app.policy_cage.contract import call_rule, conditional_call_rules, spender_rule
from permits_app.policy_cage.safe_tx import NONCE
from tests.contracts.attackers import list_hooked_token, listen, ran, refused, sign_a_deposit
from tests.proof.caged.safe import APPROVE, TRANSFER, USD, CagedSafe, deploy, selector, set_session
from tests.proof.caged.signed import sign_for_owners
from tests.proof.caged.uniswap import EXACT_IN, MINT_V3, V3, WHOLE
from tools_app.toolkit.plan import Call


def test_the_owners_deposit_inside_a_batch_pays_for_no_theft(caged: CagedSafe) -> None:
    token = list_hooked_token(caged)
    signed = sign_a_deposit(caged, 30_000)
    listen(caged, token, caged.safe, signed)
    [nonce] = caged.read(caged.safe, NONCE)
    theft = [caged.call(token, TRANSFER, caged.venue, 0), *caged.take("USDC", 30_000 * USD)]
    sent = caged.execute(*theft)
    assert caged.error(sent) == ("AccountActed", {"observed": nonce + 1, "expected": nonce})
    # What the owners signed is still theirs to send.
    assert caged.engine.send(caged.stranger, caged.safe, signed).succeeded
    assert caged.balance("USDC") == 100_000 * USD


def test_the_owners_revocation_is_not_used_up_inside_a_batch(caged: CagedSafe) -> None:
    token = list_hooked_token(caged)
    revoke = cage_contract.encode_set_session(key="0x" + "00" * 20, expires_at=0, operations=0, budget_micro_usd=0)
    signed = sign_for_owners(caged, caged.cage, revoke, safe_tx_gas=200_000)
    listen(caged, token, caged.safe, signed)
    assert refused(caged, caged.execute(caged.call(token, TRANSFER, caged.venue, 0))) == "AccountActed"
    assert caged.engine.send(caged.stranger, caged.safe, signed).succeeded
    assert refused(caged, caged.execute(caged.approve("USDC", 1))) == "NotSessionKey"


class EvilPath:
    """Pools of a token that calls the thief's listener, between dollars and WETH at the real router."""

    def __init__(self, caged: CagedSafe) -> None:
        self.caged, self.v3 = caged, V3(caged, calls=[])
        self.router = self.v3.deploy_router()
        self.evil = deploy(caged, "HookedToken")
        thief = caged.stranger
        self.usdc, weth = caged.coins["USDC"].address, caged.coins["WETH"].address
        caged.mint("USDC", thief.address, 1_000 * USD)
        caged.mint("WETH", thief.address, WHOLE)
        self.v3.as_thief(self.evil, "function mint(address to, uint256 amount)", thief.address, 10**24)
        for token in (self.usdc, weth, self.evil):
            self.v3.as_thief(token, APPROVE, self.v3.npm, 2**255)
        self._open(self.usdc, 1_000 * USD)
        caged.change(spender_rule(self.router, most_micro_usd=50_000 * USD))
        set_session(caged)

    def _open(self, token: str, amount: int) -> None:
        from math import isqrt

        from tests.proof.caged.uniswap import CREATE_POOL, FOREVER

        first, second = sorted((token, self.evil), key=lambda address: int(address, 16))
        of = {token: amount, self.evil: 1_000 * WHOLE}
        price = isqrt((of[second] << 192) // of[first])
        self.v3.as_thief(self.v3.npm, CREATE_POOL, first, second, 3_000, price)
        asked = (first, second, 3_000, -887_220, 887_220, of[first], of[second], 0, 0, self.v3.thief.address, FOREVER)
        self.v3.as_thief(self.v3.npm, MINT_V3, asked)

    def theft(self) -> list[Call]:
        caged = self.caged
        path = b"".join([bytes.fromhex(self.usdc[2:]), (3_000).to_bytes(3, "big"), bytes.fromhex(self.evil[2:])])
        swap = caged.call(self.router, EXACT_IN, (path, caged.safe, 30_000 * USD, 0))
        return [caged.approve("USDC", 30_000 * USD, self.router), swap]


def test_a_strange_token_in_the_path_of_the_real_router_runs_nothing_of_the_owners(caged: CagedSafe) -> None:
    evil = EvilPath(caged)
    caged.change(call_rule(evil.router, selector(EXACT_IN)))
    set_session(caged)
    listen(caged, evil.evil, caged.safe, sign_a_deposit(caged, 30_000))
    assert refused(caged, caged.execute(*evil.theft())) == "AccountActed"


def test_a_strange_token_is_in_no_path_at_all_under_conditions(caged: CagedSafe) -> None:
    evil = EvilPath(caged)
    conditions = [Condition(Must.BE_PATH_OF_ASSETS, (0, 0)), Condition(Must.BE_ACCOUNT, (0, 1), group=1)]
    caged.change(*conditional_call_rules(evil.router, selector(EXACT_IN), conditions))
    set_session(caged)
    # Another Safe's payment would do as well as the owners'; what the path may not hold never runs.
    listen(caged, evil.evil, caged.safe, sign_a_deposit(caged, 30_000))
    sent = caged.execute(*evil.theft())
    assert caged.error(sent) == (
        "ConditionNotMet",
        {"target": evil.router, "selector": selector(EXACT_IN), "place": 0},
    )
    weth = caged.coins["WETH"].address
    evil.v3.open_pool(evil.usdc, weth, 500)
    path = b"".join([bytes.fromhex(evil.usdc[2:]), (500).to_bytes(3, "big"), bytes.fromhex(weth[2:])])
    for recipient, error in ((caged.safe, "CallFailed"), (caged.stranger.address, "ConditionNotMet")):
        swap = caged.call(evil.router, EXACT_IN, (path, recipient, 30 * USD, 0))
        assert refused(caged, caged.execute(swap)) == error


def test_a_batch_in_which_nobody_acts_runs_as_ever(caged: CagedSafe) -> None:
    list_hooked_token(caged)
    ran(caged, caged.execute(*caged.trade("USDC", 300 * USD, "WETH", WHOLE // 10)))
