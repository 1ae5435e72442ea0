"""A stranger at an honest Safe's holdings: the ways in which he comes, and all of the holder's that there is to see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from golem_project.embedded.world.solidity import load_contract
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
from tests.contracts.holdings_in_simulated_contracts import HOLDINGS, Holding, Said, views_of
from tests.contracts.lent_safe import RELAY, deploy_code
from tests.contracts.operations import deploy_operations, read_carried
from tests.contracts.site_in_process import add_coins
from tests.contracts.test_callers import DELEGATING, MODULE_CALL, spell
from tests.proof.caged.engines import CHAIN_ID, COINS_WEI, GAS, InProcessEngine, make_account
from tests.proof.caged.safe import CagedSafe, build_caged_safe, deploy, sign_digest
from tools_app.chain.abi import checksum, decode_output, encode_args, encode_call
from tools_app.chain.signatures import parse_signature
from tools_app.simulation.pyevm.transaction import Executed, Transaction, execute
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import LogEntry

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

HANDLER_SLOT: Final = 0x6C9A6C4A39284E37ED1CF53D337577D14212A4870FB976A4366C693B939918D5
"""Where a Safe keeps its fallback handler."""
MODULES: Final = ("module", "module's delegate call")
ROUNDED_OFF: Final = 1
"""Base units by which a figure may fall that is counted again."""
Seen = dict[tuple[str, str, bytes], bytes | None]


class Stranger:
    """Who comes: a key, a contract that calls for anybody, one that delegates, a key with code, a Safe, an account."""

    def __init__(self, caged: CagedSafe) -> None:
        assert isinstance(caged.engine, InProcessEngine)
        self.caged, self.engine, self.key = caged, caged.engine, caged.stranger
        self.relayer = deploy(caged, "Relayer")
        self.delegator = deploy_code(caged, DELEGATING)
        self.coded_key = make_account("a key with code").address
        code = bytes.fromhex(load_contract("Relayer").deployed_bytecode[2:])
        self.engine.chain.state.set_code(_raw(self.coded_key), code)
        self.operations = deploy_operations(caged)
        self.engine.give_coins(self.operations.account.address, COINS_WEI)
        self.safe = self._make_safe()
        self._do_as_safe(self.safe, encode_call(ENABLE_MODULE, self.relayer))
        self.everything = [self.key.address, self.relayer, self.delegator, self.coded_key, self.safe]
        self.everything.append(self.operations.account.address)

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
        elif door == "operation":
            to, value = self.operations.entry_point, 0
            data = self.operations.write(Call(said.at, said.data, said.value, ""))
        elif door in MODULES:
            to, data, value = self.relayer, encode_call(RELAY, self.safe, self._ask_as_module(door, said)), 0
        return write(self.key.address, to, data, value)

    def is_heard(self, door: str, said: Said, transaction: Transaction) -> bool:
        """Whether it would go through. A Safe goes on when its module's call fails, and says so to the module alone."""
        done = try_out(self.engine, transaction)
        if door == "operation":
            carried = read_carried(done.succeeded, done.output, read_logs(done))
            assert not carried.refusal, carried.refusal
            return carried.succeeded
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
            is_less = was is not None and len(was) == 32 and (is_now is None or _is_less(is_now, was))
            if name not in said.may_show or is_less:
                wrong.append(f"{said.contract}.{said.name} changed {name}: {show(was)} -> {show(is_now)}")
        return wrong

    def list_unasked(self) -> list[str]:
        """Views that the look could not call: a place of theirs is filled from `items` alone, which has nothing."""
        asked = {(to, name) for to, name, _ in self.questions}
        return [
            f"{contract}.{spell(view)}: put what belongs there into held.items[{contract!r}]"
            for at, contract in self.held.contracts.items()
            for view in views_of(contract)
            if view["inputs"] and (at, view["name"]) not in asked
            if f"{contract}.{view['name']}" not in self.held.of_nobody
        ]

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
                if f"{contract}.{view['name']}" in held.of_nobody:
                    continue
                types = [str(each["type"]) for each in view["inputs"]]
                choices = [_choose(kind, held.holders, others, items) for kind in types]
                if view["name"] == "allowance":
                    choices = [held.holders, spenders]
                signature = parse_signature(f"function {spell(view)}")
                for args in product(*choices):
                    if any(arg in held.holders or arg in items for arg in args):
                        yield at, signature.name, signature.selector + encode_args(signature.input_types, args)


def _is_less(now: bytes, before: bytes) -> bool:
    """By more than the base unit that is lost where interest is counted in two steps instead of one."""
    return int.from_bytes(now) + ROUNDED_OFF < int.from_bytes(before)


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


def read_logs(done: Executed) -> list[LogEntry]:
    """As a node tells them."""
    return [
        LogEntry(
            checksum("0x" + at.hex()), tuple(f"0x{topic:064x}" for topic in topics), "0x" + data.hex(), 0, "", index
        )
        for index, (at, topics, data) in enumerate(done.logs)
    ]


def _raw(address: str) -> bytes:
    return bytes.fromhex(address.removeprefix("0x"))


def show(output: bytes | None) -> str:
    return "refused" if output is None else output.hex()[:192]


def build_attacked(*names: str) -> dict[str, Attacked]:
    """The holdings of these names, or all of them, one beside the other on one chain."""
    caged = build_caged_safe(InProcessEngine())
    add_coins(caged)
    stranger = Stranger(caged)
    held = {name: hold(caged) for name, hold in HOLDINGS.items() if not names or name in names}
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


def do(place: Attacked, to: str, signature: str, *args: Any, by: LocalAccount | None = None) -> bool:
    """Whether it went through, of the stranger or of somebody else."""
    key = by or place.stranger.key
    return place.engine.send(key, to, encode_call(f"function {signature}", *args)).succeeded


def address_of(held: Holding, contract: str) -> str:
    return next(at for at, name in held.contracts.items() if name == contract)
