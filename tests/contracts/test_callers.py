"""Each function of our contracts behind each door a stranger has: what the table of callers says comes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from eth_utils.crypto import keccak

from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.world.solidity import OUTPUT_DIR, load_contract
from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.contract import Limit, RuleKind, limit_key, limit_rule
from permits_app.policy_cage.safe_tx import ENABLE_MODULE, OWNERS, SET_HANDLER
from tests.architecture.sources import PACKAGES, list_tracked
from tests.contracts.callers import (
    DOORS,
    FOR_TESTS,
    NOTE,
    ROWS,
    SIMULATED,
    VIEWS,
    Caller,
    Row,
    list_cells,
    render,
    say_cell,
)
from tests.contracts.lent_safe import (
    ANNOUNCE,
    OF_AAVE,
    OF_MORPHO,
    RELAY,
    deploy_code,
    encode_steps,
    give_callback,
)
from tests.contracts.operations import deploy_operations
from tests.contracts.test_prices_that_jump import DOLLAR, asset_rule, bound, touch
from tests.proof.caged.engines import InProcessEngine, Sent, make_account
from tests.proof.caged.safe import USD, CagedSafe, build_caged_safe, deploy, selector
from tools_app.chain.abi import decode_output, decode_revert, encode_call
from tools_app.chain.signatures import parse_signature

ERRORS = (
    "error NotTheAccount(address caller)",
    "error NotSessionKey(address caller)",
    "error MayNotHalt(address caller)",
    "error NotAnnounced(address lender)",
    "error NotTheAccountsLoan(address initiator)",
    "error AccountDoesNotTellWhoCalls(address account)",
)
REFUSALS = {
    Caller.ACCOUNT: {"NotTheAccount"},
    Caller.SESSION: {"NotSessionKey"},
    Caller.STOPPER: {"MayNotHalt"},
    Caller.WHO_ANNOUNCED: {"NotTheAccount", "AccountDoesNotTellWhoCalls"},
    Caller.THE_LENDER: {"NotAnnounced", "NotTheAccountsLoan"},
}
MODULE_CALL = (
    "function execTransactionFromModuleReturnData(address to, uint256 value, bytes data, uint8 operation)"
    " returns (bool success, bytes returnData)"
)
DAY = 86_400
SETTLED_AT = 200
"""Above how many bits of the prices that were seen the time stands from which batches run again."""
# Delegates whatever comes after 20 bytes of an address to that address, as a stranger's contract may.
DELEGATING = bytes.fromhex(
    "602c80600b6000396000f3601436038060146000376000600082600060003560601c5af43d600060003e156027573d6000f35b3d6000fd"
)


class Doors:
    """One caged Safe with a LoanCallback, and what a stranger comes with."""

    def __init__(self, caged: CagedSafe) -> None:
        assert isinstance(caged.engine, InProcessEngine)
        self.caged, self.engine = caged, caged.engine
        self.callback = give_callback(caged).callback
        self.relayer = deploy(caged, "Relayer")
        self.delegator = deploy_code(caged, DELEGATING)
        self.stranger = caged.stranger
        # A key that runs a contract's code; others make it call.
        self.coded_key = make_account("a key with code").address
        code = bytes.fromhex(load_contract("Relayer").deployed_bytecode[2:])
        self.engine.chain.state.set_code(bytes.fromhex(self.coded_key[2:]), code)
        self.operations = deploy_operations(caged)
        self.account, self.maker = self.operations.account.address, self.operations.maker
        self.entry_point = self.operations.entry_point
        self.parts = {
            "PolicyCage": caged.cage,
            "CageGovernance": caged.ask("governance"),
            "CageGate": caged.ask("gate"),
            "LoanCallback": self.callback,
        }

    def send(self, to: str, data: bytes) -> Sent:
        return self.caged.engine.send(self.stranger, to, data)

    def relay(self, by: str, to: str, data: bytes) -> Sent:
        return self.send(by, encode_call(RELAY, to, data))

    def come_through(self, door: str, row: Row, data: bytes) -> Sent:
        """A stranger's call of the row's function. What owners set up for a door is set up."""
        caged, to = self.caged, self.parts[row.contract]
        if door == "plainly":
            return self.send(to, data)
        if door == "multicall":
            return self.relay(self.relayer, to, data)
        if door == "fallback":
            assert caged.owner_call(caged.safe, encode_call(SET_HANDLER, to)).succeeded
            return self.send(caged.safe, data)
        if door == "delegate call":
            return self.send(self.delegator, bytes.fromhex(to[2:]) + data)
        if door == "7702":
            return self.relay(self.coded_key, to, data)
        if door == "operation":
            return self.operations.call(to, data)
        if door == "made account":
            sent = self.send(self.entry_point, self.operations.write_making(to, data))
            # The EntryPoint does not pass on why the call failed.
            return replace(sent, output=self.engine.call(to, data, sender=self.maker).output)
        assert door == "module"
        assert caged.owner_call(caged.safe, encode_call(ENABLE_MODULE, self.relayer)).succeeded
        return self.relay(self.relayer, caged.safe, encode_call(MODULE_CALL, to, 0, data, 0))

    def ask_as_module(self, row: Row, data: bytes) -> tuple[bool, bytes]:
        """What a module of the Safe is answered: whether the call went through, and what it returned."""
        call = encode_call(MODULE_CALL, self.parts[row.contract], 0, data, 0)
        done = self.engine.call(self.caged.safe, call, sender=self.relayer)
        assert done.error is None, "the relayer is no module"
        succeeded, output = decode_output(MODULE_CALL, done.output)
        return bool(succeeded), bytes(output)

    def announced(self) -> int:
        """What LoanCallback holds to be announced by the Safe: its one mapping, in slot 0."""
        slot = int.from_bytes(keccak(bytes(12) + bytes.fromhex(self.caged.safe[2:]) + bytes(32)))
        return self.engine.chain.state.get_storage(bytes.fromhex(self.callback[2:]), slot)

    def look(self) -> tuple[Any, ...]:
        """Everything of the cage and the money that a wrong caller could change."""
        caged = self.caged
        key = limit_key(Limit.MAX_POSITION_BPS)
        return (
            caged.ask("rulesDigest"),
            caged.ask("session"),
            caged.ask("sessionOf", 3),
            caged.ask("isHalted"),
            caged.ask("isDrawdownBreached"),
            caged.ask("seenPrices"),
            self.announced(),
            caged.ask("pending", int(RuleKind.LIMIT), key),
            tuple(caged.balance(symbol) for symbol in caged.coins),
            caged.engine.balance(caged.safe),
            caged.read(caged.safe, OWNERS),
        )


@pytest.fixture(scope="module")
def made() -> Doors:
    return Doors(build_caged_safe(InProcessEngine()))


@pytest.fixture
def doors(made: Doors) -> Iterator[Doors]:
    snapshot = made.caged.engine.snapshot()
    yield made
    made.caged.engine.revert(snapshot)


def name_of(row: Row) -> str:
    return row.function.partition("(")[0]


def write_call(doors: Doors, row: Row) -> bytes:
    """The function with arguments that would do harm, or something, were its caller believed."""
    caged, thief = doors.caged, doors.stranger.address
    ends = caged.engine.now() + 86_400
    steps = encode_steps([caged.transfer("USDC", thief, caged.balance("USDC"))])
    calls: dict[str, Callable[[], bytes]] = {
        "execute": lambda: cage_contract.encode_execute(caged.take("USDC", 10 * USD)),
        "payOut": lambda: cage_contract.encode_pay_out(recipient=1, asset=caged.coins["USDC"].address, amount=1),
        "topUpGas": lambda: cage_contract.encode_top_up_gas(1),
        "worsenPhase": lambda: cage_contract.encode_worsen_phase(3),
        "propose": lambda: cage_contract.encode_propose([limit_rule(Limit.MAX_DRAWDOWN_BPS, 1_000)]),
        "cancelChange": lambda: cage_contract.encode_cancel_change(RuleKind.LIMIT, limit_key(Limit.MAX_POSITION_BPS)),
        "applyChange": lambda: cage_contract.encode_apply_change(RuleKind.LIMIT, limit_key(Limit.MAX_POSITION_BPS)),
        "setSession": lambda: cage_contract.encode_set_session(
            key=thief, expires_at=ends, operations=9, budget_micro_usd=USD
        ),
        "appoint": lambda: cage_contract.encode_appoint(
            3, key=thief, expires_at=ends, operations=9, budget_micro_usd=USD
        ),
        "halt": cage_contract.encode_halt,
        "resume": cage_contract.encode_resume,
        "acknowledgeDrawdown": cage_contract.encode_acknowledge_drawdown,
        "notePrices": cage_contract.encode_note_prices,
        "recordDrawdown": lambda: encode_call("function recordDrawdown()"),
        "begin": lambda: encode_call(
            "function begin(uint256[] initial)", [int(RuleKind.LIMIT) << 248 | int(Limit.PHASE), 3]
        ),
        "checkCalls": lambda: (
            selector("function checkCalls((address,uint256,bytes)[] calls)")
            + cage_contract.encode_execute(caged.take("USDC", 10 * USD))[4:]
        ),
        "announce": lambda: encode_call(ANNOUNCE, thief, steps),
        "onMorphoFlashLoan": lambda: encode_call(OF_MORPHO, 0, steps),
        "executeOperation": lambda: encode_call(OF_AAVE, thief, 0, 0, caged.safe, steps),
    }
    data = calls[name_of(row)]()
    assert data[:4] == parse_signature(f"function {row.function}").selector, row.function
    return data


def prepare(doors: Doors, row: Row) -> None:
    """Have the function something to do: a change that waits, a halt, a fall that is on record."""
    caged, name = doors.caged, name_of(row)
    if name == "cancelChange":
        assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 5_000)).succeeded
    elif name == "resume":
        assert caged.engine.send(caged.guardian, caged.cage, cage_contract.encode_halt()).succeeded
    elif name == "acknowledgeDrawdown":
        assert caged.propose(limit_rule(Limit.HIGH_WATER_MARK_MICRO_USD, 200_000 * USD)).succeeded
        assert doors.send(caged.cage, encode_call("function recordDrawdown()")).succeeded
    elif name == "recordDrawdown":
        assert caged.propose(limit_rule(Limit.HIGH_WATER_MARK_MICRO_USD, 200_000 * USD)).succeeded
    elif name == "applyChange":
        assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 5_000)).succeeded
        caged.engine.advance(2 * DAY)
    elif name == "notePrices":
        bound(caged, asset_rule(caged, "WETH", jump=25))
        assert touch(caged).succeeded
        caged.set_price("WETH", 4_700 * DOLLAR)


@pytest.mark.parametrize(
    ("row", "door"), list_cells(), ids=[f"{row.contract}.{name_of(row)}-{door}" for row, door in list_cells()]
)
def test_a_strangers_call_does_what_the_table_says_behind_every_door(doors: Doors, row: Row, door: str) -> None:
    prepare(doors, row)
    data = write_call(doors, row)
    if name_of(row) == "announce" and door == "module":
        # A module says whatever it likes, so that the Safe called by itself too.
        data += bytes.fromhex(doors.caged.safe[2:])
    before = doors.look()
    sent = doors.come_through(door, row, data)
    after, said = doors.look(), say_cell(row, door)
    if said.startswith(("believed", "as for", "the account's word")):
        assert sent.succeeded and after != before, "the table says that it is believed"
    else:
        assert after == before
    if said.startswith("undone"):
        assert not sent.succeeded
    if row == NOTE and after != before:
        waits = doors.caged.ask("seenPrices") >> SETTLED_AT
        assert (waits == 0) == said.startswith("as for the account")
    if said.startswith("refused") or (said == "nothing of the account" and row.caller is not Caller.ANYBODY):
        output = sent.output
        if door == "module":
            succeeded, output = doors.ask_as_module(row, data)
            assert not succeeded
        else:
            assert not sent.succeeded
        assert decode_revert(output, ERRORS).name in REFUSALS[row.caller]


@pytest.mark.parametrize("door", [door for door in DOORS if door not in ("delegate call", "module")])
def test_a_change_that_waits_is_applied_by_nobody_before_its_time(doors: Doors, door: str) -> None:
    row = next(row for row in ROWS if row.contract == "PolicyCage" and name_of(row) == "applyChange")
    assert doors.caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 5_000)).succeeded
    before = doors.look()
    sent = doors.come_through(door, row, write_call(doors, row))
    assert not sent.succeeded and doors.look() == before
    assert decode_revert(sent.output, ("error NotYet(uint256 time, uint256 readyAt)",)).name == "NotYet"


@pytest.mark.parametrize(
    "ending", ["safe", "stranger", "relayer", "coded_key", "callback", "account", "maker", "entry_point"]
)
@pytest.mark.parametrize("door", [door for door in DOORS if door != "module"])
def test_a_stranger_announces_nothing_whatever_address_the_call_ends_with(doors: Doors, door: str, ending: str) -> None:
    """Who called is read from the last 20 bytes, which a stranger writes as they like."""
    row = next(row for row in ROWS if name_of(row) == "announce")
    address = {"safe": doors.caged.safe, "stranger": doors.stranger.address}.get(ending) or getattr(doors, ending)
    before = doors.look()
    sent = doors.come_through(door, row, write_call(doors, row) + bytes.fromhex(address[2:]))
    assert not sent.succeeded and doors.look() == before
    steps = encode_steps([doors.caged.transfer("USDC", doors.stranger.address, doors.caged.balance("USDC"))])
    assert not doors.send(doors.caged.safe, encode_call(OF_MORPHO, 0, steps)).succeeded
    assert doors.look() == before


def test_every_function_of_every_compiled_contract_has_its_row() -> None:
    """A function that is new, or takes other arguments, has no row until somebody asked who calls it."""
    listed = {(row.contract, parse_signature(f"function {row.function}").selector) for row in ROWS}
    views = {(contract, name) for contract, names in VIEWS.items() for name in names}
    found, seen = set(), set()
    for path in sorted(OUTPUT_DIR.glob("*.json")):
        name = path.stem
        if name in FOR_TESTS or name in SIMULATED:
            continue
        for entry in load_contract(name).abi:
            if entry["type"] not in ("function", "fallback", "receive"):
                continue
            if entry.get("stateMutability") in ("view", "pure"):
                seen.add((name, entry["name"]))
            else:
                found.add((name, parse_signature(f"function {spell(entry)}").selector))
    assert found == listed
    assert seen == views
    assert len(listed) == len(ROWS) and len(views) == sum(map(len, VIEWS.values()))


def test_every_function_of_every_simulated_contract_that_changes_something_says_whose_word_it_takes() -> None:
    found = {
        path.stem: sorted(
            {
                entry.get("name", entry["type"])
                for entry in load_contract(path.stem).abi
                if entry["type"] in ("function", "fallback", "receive")
                and entry.get("stateMutability") not in ("view", "pure")
            }
        )
        for path in sorted(OUTPUT_DIR.glob("*.json"))
        if path.stem in SIMULATED or path.stem.startswith("Simulated")
    }
    assert found == {name: sorted(sum(taken.values(), ())) for name, taken in SIMULATED.items()}


def test_what_is_called_a_tool_of_tests_is_compiled_and_nothing_else_is() -> None:
    compiled = {path.stem for path in OUTPUT_DIR.glob("*.json")}
    assert compiled >= FOR_TESTS
    assert compiled - FOR_TESTS - set(SIMULATED) == set(VIEWS)
    assert not set(SIMULATED) & set(VIEWS) and not FOR_TESTS & {*SIMULATED, *VIEWS}


def test_no_tool_of_tests_is_put_on_a_chain_by_the_product() -> None:
    """What stands where others can call it has rows, also where it is there for the local chain alone."""
    named = re.compile("|".join(rf"[\"'](?:{name})[\"']" for name in sorted(FOR_TESTS)))
    sources = [path for path in list_tracked() if path.endswith(".py") and path.split("/")[0] in PACKAGES]
    found = {path: named.findall((CHECKOUT / path).read_text(encoding="utf-8")) for path in sources}
    assert len(sources) > 500
    assert {path: names for path, names in found.items() if names} == {}


def test_the_page_of_callers_is_written_from_the_table() -> None:
    written = (CHECKOUT / "docs" / "contracts-by-caller.md").read_text(encoding="utf-8")
    assert written == render(), "write it: .venv/bin/python -m tests.contracts.callers"


def spell(entry: dict[str, Any]) -> str:
    return f"{entry.get('name', entry['type'])}({','.join(map(_spell_type, entry.get('inputs', [])))})"


def _spell_type(entry: dict[str, Any]) -> str:
    kind = str(entry["type"])
    if not kind.startswith("tuple"):
        return kind
    return f"({','.join(map(_spell_type, entry['components']))}){kind.removeprefix('tuple')}"
