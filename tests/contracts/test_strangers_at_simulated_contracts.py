"""What a stranger says to the contracts that stand for protocols takes nothing of an honest Safe's, by whatever door.

Each function of each of them is said with the Safe's own numbers and to the stranger's good, and is also said by whose
word it takes, so that none fails for another reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import pytest
from eth_utils.crypto import keccak

from golem_project.embedded.world.solidity import OUTPUT_DIR, load_contract
from permits_app.policy_cage.safe_tx import (
    CREATE_PROXY,
    ENABLE_MODULE,
    NONCE,
    SafeTx,
    encode_exec_transaction,
    encode_setup,
    hash_safe_tx,
    join_signatures,
)
from tests.contracts.callers import SIMULATED, STRANGERS, Whose, say_of_stranger
from tests.contracts.holdings_in_simulated_contracts import HOLDINGS, WAD, Holding, Said, balance_of, views_of
from tests.contracts.lent_safe import RELAY, deploy_code
from tests.contracts.site_in_process import add_coins
from tests.contracts.test_callers import DELEGATING, MODULE_CALL, spell
from tests.proof.caged.engines import CHAIN_ID, GAS, InProcessEngine, make_account
from tests.proof.caged.safe import CagedSafe, build_caged_safe, deploy, sign_digest
from tools_app.chain.abi import checksum, decode_output, encode_args, encode_call
from tools_app.chain.signatures import parse_signature
from tools_app.simulation.pyevm.transaction import Executed, Transaction, execute

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

HANDLER_SLOT: Final = 0x6C9A6C4A39284E37ED1CF53D337577D14212A4870FB976A4366C693B939918D5
"""Where a Safe keeps its fallback handler."""
MUCH: Final = 2**29
"""Of a coin with eight decimals, about five whole."""
MODULES: Final = ("module", "module's delegate call")
Seen = dict[tuple[str, str, bytes], bytes | None]


class Stranger:
    """Who comes: a key, a contract that calls for anybody, one that delegates, a key with code, a Safe of his own."""

    def __init__(self, caged: CagedSafe) -> None:
        assert isinstance(caged.engine, InProcessEngine)
        self.caged, self.engine, self.key = caged, caged.engine, caged.stranger
        self.relayer = deploy(caged, "Relayer")
        self.delegator = deploy_code(caged, DELEGATING)
        self.coded_key = make_account("a key with code").address
        code = bytes.fromhex(load_contract("Relayer").deployed_bytecode[2:])
        self.engine.chain.state.set_code(_raw(self.coded_key), code)
        self.safe = self._make_safe()
        self._do_as_safe(self.safe, encode_call(ENABLE_MODULE, self.relayer))
        self.everything = [self.key.address, self.relayer, self.delegator, self.coded_key, self.safe]

    def come(self, door: str, said: Said) -> Transaction:
        """What the stranger signs to say it by a door."""
        made_up = said.data + _raw(said.by)
        to, data, value = said.at, said.data, said.value
        if door == "made-up sender":
            data = made_up
        elif door in ("multicall", "7702"):
            to = self.relayer if door == "multicall" else self.coded_key
            data, value = encode_call(RELAY, said.at, said.data), 0
        elif door in ("fallback", "holder's fallback"):
            to = self.safe if door == "fallback" else self.caged.safe
            self.engine.chain.state.set_storage(_raw(self.safe), HANDLER_SLOT, int(said.at, 16))
            data, value = made_up, 0
        elif door == "delegate call":
            to, data = self.delegator, _raw(said.at) + said.data
        elif door in MODULES:
            to, data, value = self.relayer, encode_call(RELAY, self.safe, self._ask_as_module(door, said)), 0
        return write(self.key.address, to, data, value)

    def is_heard(self, door: str, said: Said, transaction: Transaction) -> bool:
        """Whether it would go through. A Safe goes on when its module's call fails, and says so to the module alone."""
        done = try_out(self.engine, transaction)
        if door not in MODULES or not done.succeeded:
            return done.succeeded
        done = try_out(self.engine, write(self.relayer, self.safe, self._ask_as_module(door, said)))
        return bool(decode_output(MODULE_CALL, done.output)[0])

    def _ask_as_module(self, door: str, said: Said) -> bytes:
        return encode_call(MODULE_CALL, said.at, 0, said.data, MODULES.index(door))

    def _make_safe(self) -> str:
        at = self.caged.contracts
        initializer = encode_setup([self.key.address], threshold=1, fallback_handler=self.caged.handler)
        data = encode_call(CREATE_PROXY, at["safe"], initializer, 1)
        sent = self.engine.send(self.key, at["safe_proxy_factory"], data)
        assert sent.succeeded
        [made] = [log for log in sent.logs if log.address == at["safe_proxy_factory"]]
        return checksum("0x" + made.topics[1][-40:])

    def _do_as_safe(self, to: str, data: bytes) -> None:
        tx = SafeTx(to=to, data=data, nonce=int(self.caged.read(self.safe, NONCE)[0]))
        signature = sign_digest(self.key, hash_safe_tx(tx, safe=self.safe, chain_id=CHAIN_ID))
        signed = join_signatures({str(self.key.address): signature})
        sent = self.engine.send(self.key, self.safe, encode_exec_transaction(tx, signatures=signed))
        assert sent.succeeded


class Attacked:
    """A holding, and everything of the holder's that there is to see in it."""

    def __init__(self, held: Holding, stranger: Stranger) -> None:
        self.held, self.stranger, self.engine = held, stranger, stranger.engine
        self.questions = list(self._list_questions())
        self.at = self.engine.chain.timestamp + 3_600
        """When it is looked at: what is earned by time alone does not differ."""

    def look(self) -> Seen:
        chain, now = self.engine.chain, self.engine.chain.timestamp
        chain.timestamp = self.at
        seen: Seen = {("", "coins", b""): self.engine.balance(self.held.safe).to_bytes(32)}
        for to, name, data in self.questions:
            done = self.engine.call(to, data, sender=self.stranger.key.address)
            seen[to, name, data] = done.output if done.succeeded else None
        chain.timestamp = now
        return seen

    def tell_what_is_wrong(self, said: Said, before: Seen) -> list[str]:
        """Names of what a stranger's word changed and may not change."""
        after = self.look()
        wrong = []
        for key, was in before.items():
            (_, name, _), is_now = key, after[key]
            if was == is_now or name in said.may_fall:
                continue
            is_less = was is not None and len(was) == 32 and (is_now is None or is_now < was)
            if name not in said.may_show or is_less:
                wrong.append(f"{said.contract}.{said.name} changed {name}: {_show(was)} -> {_show(is_now)}")
        return wrong

    def do_first(self, said: Said) -> None:
        for each in said.before:
            sent = self.engine.send(self._key_of(each.by), each.at, each.data)
            assert sent.succeeded, each

    def _key_of(self, address: str) -> LocalAccount:
        keys = (self.held.site.deployer, self.stranger.key)
        return next(key for key in keys if key.address == address)

    def _list_questions(self) -> Iterator[tuple[str, str, bytes]]:
        held = self.held
        coins = {coin.address: "SimulatedToken" for coin in held.caged.coins.values()}
        spenders = [*self.stranger.everything, held.friend.address, *held.contracts]
        for at, contract in {**coins, **held.contracts}.items():
            items, others = held.items.get(contract, []), spenders if at in coins else [*spenders, *coins]
            for view in views_of(contract):
                types = [str(each["type"]) for each in view["inputs"]]
                choices = [_choose(kind, held.holders, others, items) for kind in types]
                if view["name"] == "allowance":
                    choices = [held.holders, spenders]
                signature = parse_signature(f"function {spell(view)}")
                for args in product(*choices):
                    if any(arg in held.holders or arg in items for arg in args):
                        yield at, signature.name, signature.selector + encode_args(signature.input_types, args)


def _choose(kind: str, holders: Sequence[str], others: Sequence[str], items: Sequence[Any]) -> list[Any]:
    """What may stand in a view's place of a type."""
    if kind == "address":
        return [*holders, *others]
    if kind in ("address[]", "uint256[]"):
        lists = [each for each in items if isinstance(each, list)]
        return lists if kind == "address[]" else [[each] for each in items if isinstance(each, int)]
    if kind == "bytes32":
        return [each for each in items if isinstance(each, bytes)]
    if kind == "string":
        return ["agentWallet", "k"]
    return [each for each in items if isinstance(each, int)] if kind.startswith("uint") else []


def write(sender: str, to: str, data: bytes, value: int = 0) -> Transaction:
    return Transaction(sender=_raw(sender), to=_raw(to), value=value, data=data, gas=GAS)


def _raw(address: str) -> bytes:
    return bytes.fromhex(address.removeprefix("0x"))


def _show(output: bytes | None) -> str:
    return "refused" if output is None else output.hex()[:192]


@pytest.fixture(scope="module")
def stranger() -> Stranger:
    caged = build_caged_safe(InProcessEngine())
    add_coins(caged)
    return Stranger(caged)


@pytest.fixture(scope="module")
def attacked(stranger: Stranger) -> dict[str, Attacked]:
    """Every holding, one beside the other on one chain."""
    held = {name: hold(stranger.caged) for name, hold in HOLDINGS.items()}
    return {name: Attacked(one, stranger) for name, one in held.items()}


@contextmanager
def undone(engine: InProcessEngine) -> Iterator[None]:
    snapshot = engine.snapshot()
    try:
        yield
    finally:
        engine.revert(snapshot)


def try_out(engine: InProcessEngine, transaction: Transaction) -> Executed:
    return engine.chain.call(transaction)


def keep(engine: InProcessEngine, transaction: Transaction) -> None:
    """Carry it out in the block in which it was tried out, whoever sends it."""
    assert execute(engine.chain.state, transaction, has_floor=True).succeeded


def whose(said: Said) -> Whose:
    return next(one for one, names in SIMULATED[said.contract].items() if said.name in names)


@pytest.mark.parametrize("door", STRANGERS)
@pytest.mark.parametrize("name", HOLDINGS)
def test_a_stranger_changes_nothing_of_what_a_safe_holds(attacked: dict[str, Attacked], name: str, door: str) -> None:
    place = attacked[name]
    engine, before, wrong = place.engine, place.look(), list[str]()
    for said in place.held.said:
        with undone(engine):
            place.do_first(said)
            start = place.look() if said.before else before
            transaction = place.stranger.come(door, said)
            if not place.stranger.is_heard(door, said, transaction):
                continue
            expected = say_of_stranger(whose(said), door)
            if expected == "refused":
                wrong.append(f"{said.contract}.{said.name} was heard")
            keep(engine, transaction)
            if expected.endswith("anybody"):
                wrong += place.tell_what_is_wrong(said, start)
            elif (after := place.look()) != start:
                shown = {name for (to, name, data), was in start.items() if after[to, name, data] != was}
                wrong.append(f"{said.contract}.{said.name} changed {', '.join(sorted(shown))}")
    assert wrong == []


@pytest.mark.parametrize("name", HOLDINGS)
def test_each_word_is_heard_of_whom_the_table_names(attacked: dict[str, Attacked], name: str) -> None:
    """What is refused to a stranger is refused because he says it."""
    place, unheard = attacked[name], list[str]()
    for said in place.held.said:
        with undone(place.engine):
            place.do_first(said)
            done = try_out(place.engine, write(said.by, said.at, said.data, said.value))
            if done.succeeded == said.is_over:
                unheard.append(f"{said.contract}.{said.name}: {_show(done.output)}")
    assert unheard == []


@pytest.mark.parametrize("name", HOLDINGS)
def test_what_the_holder_says_itself_is_seen(attacked: dict[str, Attacked], name: str) -> None:
    """A look that sees nothing would find nothing wrong."""
    place, unseen = attacked[name], list[str]()
    start = place.look()
    for said in place.held.said:
        if said.by != place.held.safe:
            continue
        with undone(place.engine):
            place.do_first(said)
            before, transaction = start, write(said.by, said.at, said.data, said.value)
            try_out(place.engine, transaction)
            keep(place.engine, transaction)
            if place.look() == before:
                unseen.append(f"{said.contract}.{said.name}")
    assert unseen == []


def test_every_function_of_every_simulated_contract_is_said(attacked: dict[str, Attacked]) -> None:
    """With each of the lists of arguments that it takes."""
    said = [one for place in attacked.values() for one in place.held.said]
    found = {
        (path.stem, b"" if entry["type"] == "receive" else parse_signature(f"function {spell(entry)}").selector)
        for path in OUTPUT_DIR.glob("*.json")
        if path.stem in SIMULATED
        for entry in load_contract(path.stem).abi
        if entry["type"] in ("function", "receive", "fallback") and entry.get("stateMutability") not in ("view", "pure")
    }
    assert {(one.contract, one.selector) for one in said} == found


def test_each_word_is_said_in_the_place_of_whom_the_table_names(attacked: dict[str, Attacked]) -> None:
    """A table that calls the deployer's word anybody's, or the other way round, is noticed."""
    wrong = []
    for place in attacked.values():
        held = place.held
        builders = {held.deployer, held.caged.deployer.address}
        for said in held.said:
            is_right = {
                Whose.DEPLOYER: said.by in builders,
                Whose.PART: said.by in held.contracts,
                Whose.ANYBODY: said.by == held.thief,
            }.get(whose(said), said.by not in builders and said.by != held.thief)
            if not is_right:
                wrong.append(f"{said.contract}.{said.name} is said by {said.by}")
    assert wrong == []


# ---- what a stranger brings along


def address_of(held: Holding, contract: str) -> str:
    return next(at for at, name in held.contracts.items() if name == contract)


def make_up(caged: CagedSafe, says_much_of: str) -> str:
    """A contract that says much when it is asked one thing, and yes to everything else."""
    asked = parse_signature(f"function {says_much_of}").selector.hex()
    code = f"5f3560e01c63{asked}1467{(MUCH - 1).to_bytes(8).hex()}026001015f5260205ff3"
    return deploy_code(caged, bytes.fromhex("601e8060095f395ff3" + code))


def do(place: Attacked, to: str, signature: str, *args: Any, by: LocalAccount | None = None) -> bool:
    """Whether it went through, of the stranger or of somebody else."""
    key = by or place.stranger.key
    return place.engine.send(key, to, encode_call(f"function {signature}", *args)).succeeded


def test_a_made_up_gauge_is_paid_nothing(attacked: dict[str, Attacked]) -> None:
    place = attacked["shares of a pool"]
    held, token = place.held, place.held.coin("WBTC")
    minter = address_of(held, "SimulatedCurveMinter")
    with undone(place.engine):
        made_up, stock = make_up(held.caged, "integrate_fraction(address)"), balance_of(held, token, minter)
        assert stock > MUCH
        assert not do(place, minter, "mint(address)", made_up)
        assert balance_of(held, token, minter) == stock and balance_of(held, token, held.thief) == 0
        weight = "function gauge_relative_weight(address) view returns (uint256)"
        assert held.caged.read(minter, weight, made_up) == (0,)
        gauge = address_of(held, "SimulatedCurveGauge")
        assert held.caged.read(minter, weight, gauge) == (WAD,)


def test_a_made_up_market_is_paid_no_rewards(attacked: dict[str, Attacked]) -> None:
    place = attacked["a loan"]
    held, token = place.held, place.held.coin("WBTC")
    rewards = address_of(held, "SimulatedCometRewards")
    with undone(place.engine):
        made_up, stock = make_up(held.caged, "baseTrackingAccrued(address)"), balance_of(held, token, rewards)
        assert stock > MUCH
        for is_counted in (True, False):
            assert not do(place, rewards, "claim(address,address,bool)", made_up, held.thief, is_counted)
        assert not do(place, rewards, "getRewardOwed(address,address)", made_up, held.thief)
        assert balance_of(held, token, rewards) == stock and balance_of(held, token, held.thief) == 0


@pytest.mark.parametrize("amount", [2**128, 2**128 + 1, 2**255 + 1, 2**256 - 2])
@pytest.mark.parametrize("symbol", ["WETH", "USDC"])
def test_a_market_gives_out_what_was_put_in_however_large_the_number(
    attacked: dict[str, Attacked], symbol: str, amount: int
) -> None:
    """A number that is cut short on its way is another number."""
    place = attacked["a loan"]
    held, token = place.held, place.held.coin(symbol)
    comet = address_of(held, "SimulatedComet")
    with undone(place.engine):
        held.caged.mint(symbol, comet, 2**256 - 1 - int(held.ask(token, "totalSupply() view returns (uint256)")))
        had = balance_of(held, token, comet), balance_of(held, token, held.thief)
        assert not do(place, comet, "withdraw(address,uint256)", token, amount)
        assert (balance_of(held, token, comet), balance_of(held, token, held.thief)) == had


HONEST, FEE_KEPT, ANSWERS_NO, SAID_ALONE = 0, 1, 4, 30
MOOD_SLOT, KEPT_SLOT = 5, 3


def make_moody(place: Attacked, *holders: str) -> str:
    """A token that each of them has ten of; what else it does is its mood, and both are written where it keeps them."""
    token = deploy(place.held.caged, "MoodyToken")
    for account in holders:
        slot = keccak(_raw(account).rjust(32, b"\0") + KEPT_SLOT.to_bytes(32))
        place.engine.chain.state.set_storage(_raw(token), int.from_bytes(slot), 10 * WAD)
    return token


def set_mood(place: Attacked, token: str, mood: int) -> None:
    place.engine.chain.state.set_storage(_raw(token), MOOD_SLOT, mood)


@pytest.mark.parametrize("mood", [ANSWERS_NO, FEE_KEPT, SAID_ALONE], ids=["answers no", "keeps a fee", "lies"])
def test_an_order_that_was_not_paid_in_takes_nothing_of_anothers(attacked: dict[str, Attacked], mood: int) -> None:
    place = attacked["an order"]
    held, orders = place.held, address_of(place.held, "SimulatedTwamm")
    submit = "submit(address,address,uint256,uint256,uint256)"
    with undone(place.engine):
        token = make_moody(place, held.safe, held.thief)
        held.act(token, "approve(address,uint256)", orders, 10 * WAD)
        held.act(orders, submit, token, held.coin("USDC"), 10 * WAD, 1, 86_400)
        assert do(place, token, "approve(address,uint256)", orders, 10 * WAD)
        set_mood(place, token, mood)
        assert not do(place, orders, submit, token, held.coin("USDC"), 10 * WAD, 1, 86_400)
        set_mood(place, token, HONEST)
        held.act(orders, "close(uint256)", 1)
        assert balance_of(held, token, held.safe) == 10 * WAD


def test_what_buys_a_part_of_an_order_is_paid_in(attacked: dict[str, Attacked]) -> None:
    """A token that only says it moved buys nothing, and its owner is not owed what never came."""
    place = attacked["an order"]
    held, orders = place.held, address_of(place.held, "SimulatedTwamm")
    with undone(place.engine):
        token = make_moody(place, held.thief)
        assert do(place, token, "approve(address,uint256)", orders, 10 * WAD)
        held.act(orders, "submit(address,address,uint256,uint256,uint256)", held.coin("WETH"), token, WAD, WAD, 60)
        place.engine.advance(60)
        for mood in (ANSWERS_NO, FEE_KEPT, SAID_ALONE):
            set_mood(place, token, mood)
            assert not do(place, orders, "fill(uint256,uint256,uint256)", 1, WAD, WAD)
        set_mood(place, token, HONEST)
        assert do(place, orders, "fill(uint256,uint256,uint256)", 1, WAD, WAD)


def test_whoever_counts_rewards_again_and_again_does_not_stretch_them(attacked: dict[str, Attacked]) -> None:
    """What is to be paid over a week is paid within it, however often a stranger adds next to nothing."""
    place = attacked["shares of a pool"]
    held, site = place.held, place.held.site
    booster, rewards = (address_of(held, f"SimulatedConvex{part}") for part in ("Booster", "Rewards"))
    earned, week = "earned(address) view returns (uint256)", 7 * 86_400
    with undone(place.engine):
        assert do(place, booster, "earmarkRewards(uint256)", 0)
        place.engine.advance(week)
        site.give("WBTC", 10**8)
        site.transact(held.coin("WBTC"), "approve(address,uint256)", booster, 10**8)
        site.transact(booster, "addRewards(uint256,uint256)", 0, 10**8)
        had = held.ask(rewards, earned, held.safe)
        with undone(place.engine):
            place.engine.advance(week - 3_600)
            alone = held.ask(rewards, earned, held.safe) - had
        for _ in range(30):
            place.engine.advance(3)
            assert do(place, booster, "earmarkRewards(uint256)", 0)
        place.engine.advance(week - 3_600)
        counted = held.ask(rewards, earned, held.safe) - had
    assert counted >= alone > 10**6


def test_whoever_has_a_reward_paid_out_pays_it_to_who_earned_it(attacked: dict[str, Attacked]) -> None:
    place = attacked["shares of a pool"]
    held, token = place.held, place.held.coin("WBTC")
    rewards = address_of(held, "SimulatedConvexRewards")
    with undone(place.engine):
        due, had = held.ask(rewards, "earned(address) view returns (uint256)", held.safe), held.caged.balance("WBTC")
        assert do(place, rewards, "getReward(address,bool)", held.safe, True)
        assert held.caged.balance("WBTC") - had >= due > 0
        assert balance_of(held, token, held.thief) == 0


def test_a_service_that_no_operator_joined_slashes_nobody(attacked: dict[str, Attacked]) -> None:
    place = attacked["restaked ether"]
    held = place.held
    magnitudes = address_of(held, "SimulatedAllocationManager")
    operator, strategy = held.site.account("operator").address, address_of(held, "SimulatedStrategy")
    slash = "slashOperator(address,(address,uint32,address[],uint256[],string))"
    with undone(place.engine):
        assert do(place, magnitudes, "createOperatorSet()")
        assert do(place, magnitudes, "registerForOperatorSet(address,uint32)", held.thief, 0)
        before = place.look()
        assert not do(place, magnitudes, slash, held.thief, (operator, 0, [strategy], [WAD], ""))
        # Who joined is slashed, and nobody else.
        assert do(place, magnitudes, slash, held.thief, (held.thief, 0, [strategy], [WAD], ""))
        assert place.look() == before


def test_a_withdrawal_is_nobody_elses_whatever_is_written_into_it(attacked: dict[str, Attacked]) -> None:
    place = attacked["restaked ether"]
    held = place.held
    complete = next(one for one in held.said if one.name == "completeQueuedWithdrawal")
    staker, *rest = complete.args[0]
    with undone(place.engine):
        before = place.look()
        for changed in ((staker, rest[0], held.thief, *rest[2:]), (held.thief, rest[0], held.thief, *rest[2:])):
            for as_tokens in (True, False):
                assert not do(place, complete.at, complete.signature, changed, [held.coin("WETH")], as_tokens)
        assert place.look() == before
