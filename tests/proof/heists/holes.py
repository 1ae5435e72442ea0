"""The holes that an attack found in PolicyCage 3, and some of what came later, each put back by one small change.

The changed contract is compiled as ours are and its code put in the place of the real one, with what the constructors
wrote there: the Safe, its rules and all markets stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from golem_project.embedded.npm import fetch_packages, load_lock, say_to_stderr
from golem_project.embedded.world.solidity import (
    LOCK_FILE,
    read_sources,
    run_compiler,
)
from tests.proof.heists.scene import Scene
from tests.proof.heists.steps import Finding
from tools_app.chain.abi import checksum, encode_call

if TYPE_CHECKING:
    from tests.proof.heists.machine import Machine

# A proof may run beside much else.
PATIENCE_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Hole:
    """`file` reads `old` once for each of the changes; `findings` are what the owners would say of it."""

    id: str
    what: str
    file: str
    changes: tuple[tuple[str, str], ...]
    findings: frozenset[Finding]
    contracts: tuple[str, ...] = ("PolicyCage",)


_NONCE = "if (acted != nonce) revert AccountActed(acted, nonce);"
_MEASURE = "Measure memory after_ = _measure();"
_APPLY = "for (uint256 i = 0; i < all.length; ++i) {\n            _apply"
_LAST_DELAY = "return value == 0 || current == 0 ? 0 : LONG_DELAY;\n    }\n\n    function _apply"
HOLES: tuple[Hole, ...] = (
    Hole(
        "H1",
        "what owners signed may be sent in the middle of a batch",
        "PolicyCage.sol",
        # In a batch; a payout asks the same.
        ((f"{_NONCE}\n        {_MEASURE}", f"{_NONCE.replace('!=', '<')}\n        {_MEASURE}"),),
        frozenset({Finding.LOST}),
    ),
    Hole(
        "H2",
        "a debt may be driven to where liquidators wait",
        "CageJudge.sol",
        (("if (cover * BPS >= least * debt) return;", "if (least != 0) return;"),),
        frozenset({Finding.LIQUIDATED}),
    ),
    Hole(
        "M1",
        "what lies in positions leaves under no cap",
        "CageJudge.sol",
        (("return _positive(fall);", "return fall > 0 ? 0 : _positive(fall);"),),
        frozenset({Finding.LEFT}),
    ),
    Hole(
        "M2",
        "a proposal is applied rule by rule",
        "CageGovernance.sol",
        (
            ("delete bundles[change.bundle];\n        " + _APPLY, _APPLY.replace("0; i <", "all.length - 1; i <")),
            ("_apply(all[i].kind, all[i].key);", "_apply(kind, key);"),
        ),
        frozenset({Finding.HALF}),
        ("CageGovernance",),
    ),
    Hole(
        "M3",
        "sixteen positions count, and what comes after them does not",
        "V3PositionValuer.sol",
        (("if (count > MOST_COUNTED) count = MOST_COUNTED;", "if (count > 16) count = 16;"),),
        frozenset({Finding.LOST}),
        ("V3PositionValuer",),
    ),
    Hole(
        "M4",
        "what becomes something else inside a position is taken for leaving",
        "CageJudge.sol",
        (
            ("if (is_ > was && _valueOf(assetList[j], is_ - was) > moves.dust) moves.positionRises = true;", ""),
            ("if (gained > moves.dust + source[i]) moves", "if (gained > type(uint128).max) moves"),
        ),
        frozenset({Finding.RISKED}),
    ),
    Hole(
        "N4",
        "dust that lies in a lender lets everything that leaves it become the same asset",
        "CageJudge.sol",
        (
            (
                "if (before.newest[i] >= MIXES) source[j] += fell * MOST_OF_PROPORTION;\n            }",
                "}\n            if (after_.gross[i] < before.gross[i]) {\n"
                "                for (uint256 j = 0; j < count; ++j) {\n"
                "                    uint256 was = before.held[i * count + j];\n"
                "                    if (was != 0) source[j] += before.gross[i] - after_.gross[i];\n"
                "                }\n            }",
            ),
        ),
        frozenset({Finding.RISKED}),
    ),
    Hole(
        "L1",
        "positions may grow by 3% at each rebalance, paid by the wallet",
        "CageJudge.sol",
        (("uint256 most = moves.baseFalls || moves.otherFalls ? 0 : moves", "uint256 most = moves"),),
        frozenset({Finding.GROWN}),
    ),
    Hole(
        "L2",
        "an asset that broke stays on the list",
        "CageGovernance.sol",
        (
            (
                "        } catch {\n            return (0, true);\n",
                "        } catch {\n            revert BalanceUnreadable(asset);\n",
            ),
        ),
        frozenset({Finding.STUCK}),
        ("CageGovernance",),
    ),
    Hole(
        "L3",
        "the feed of what is not held must be believed too",
        "CagePrices.sol",
        (("if (amount == 0) return 0;\n        (uint256 answer", "(uint256 answer"),),
        frozenset({Finding.STALE}),
        ("PolicyCage", "CageGate"),
    ),
    Hole(
        "L4",
        "what owners signed may be used up by a batch that gains nothing",
        "PolicyCage.sol",
        (
            (
                f"{_NONCE}\n        {_MEASURE}",
                _MEASURE + _NONCE.replace("(acted != nonce)", "(acted != nonce && after_.total > before.total)"),
            ),
        ),
        frozenset({Finding.SIGNED}),
    ),
    Hole(
        "L5",
        "conditions on arguments are not asked",
        "CageGate.sol",
        (
            (
                "if (listed > 1) return _checkConditions(to, selector, value, data, listed - 1);",
                "if (listed > 1) return;",
            ),
        ),
        frozenset({Finding.LOST}),
        ("CageGate",),
    ),
    Hole(
        "L6",
        "a fee earned in the batch makes an opening of an exit",
        "CageJudge.sol",
        (("moves.dust = verdict.moved * DUST_BPS / BPS + DUST;", "moves.dust = 0;"),),
        frozenset({Finding.EXIT, Finding.STALE}),
    ),
    Hole(
        "L7",
        "dust keeps an asset on the list, and dismissing a guardian waits",
        "CageGovernance.sol",
        (
            ("if (isKnown && worth > MOST_LEFT) revert", "if (isKnown && worth > 0) revert"),
            (_LAST_DELAY, _LAST_DELAY.replace("value == 0 || current == 0", "current == 0")),
        ),
        frozenset({Finding.DUST, Finding.GUARDIAN}),
        ("CageGovernance",),
    ),
    Hole(
        "N1",
        "a price that jumped since the last batch is believed",
        "CageFeeds.sol",
        (("if (last == 0 || most == 0) return false;", "if (most < 256) return false;"),),
        frozenset({Finding.JUMPED}),
        ("CageGate",),
    ),
    Hole(
        "N2",
        "nobody asks whether the sequencer is up",
        "CageFeeds.sol",
        (("if (rule == 0) return;", "if (rule >> 255 == 0) return;"),),
        frozenset({Finding.SEQUENCER}),
        ("CageGate",),
    ),
    Hole(
        "N3",
        "a role lets go of whatever the account may",
        "CageJudge.sol",
        (("if (role != 0) _use(", "if (role > MOST_ROLES_OF_CAGE) _use("),),
        frozenset({Finding.ROLE}),
    ),
    Hole(
        "N5",
        "liquidity goes into ranges under the owners' least",
        "CageJudge.sol",
        (("if (uint128(item) > was) revert", "if (was > type(uint128).max) revert"),),
        frozenset({Finding.NARROW}),
    ),
    Hole(
        "N6",
        "the Safe's callback asks nobody who announces",
        "LoanCallback.sol",
        (("if (_caller() != msg.sender) revert NotTheAccount(_caller());", ""),),
        frozenset({Finding.BORROWED}),
        ("LoanCallback",),
    ),
    Hole(
        "N7",
        "a call that no owner listed is let through",
        "CageGate.sol",
        (("if (_limit(ALLOWS_ARBITRARY_CALLS) == 0 || isOwnersOwn) revert", "if (isOwnersOwn) revert"),),
        frozenset({Finding.IDENTITY, Finding.SAID}),
        ("CageGate",),
    ),
    Hole(
        "L9",
        "what the Safe owns may be called",
        "CageGate.sol",
        (("return isOk && output.length == 32 && abi.decode", "return isOk && output.length == 33 && abi.decode"),),
        frozenset({Finding.OWNED}),
        ("CageGate",),
    ),
)


class HoleNotThereError(Exception):
    """The source no longer reads as the change supposes."""


def change_sources(hole: Hole, sources: Mapping[str, str]) -> dict[str, str]:
    """The sources with the hole in them. Raises HoleNotThereError."""
    text = sources[hole.file]
    for old, new in hole.changes:
        if text.count(old) != 1:
            raise HoleNotThereError(f"{hole.id}: {hole.file} holds {old!r} {text.count(old)} times")
        text = text.replace(old, new)
    return {**sources, hole.file: text}


@dataclass(frozen=True, slots=True)
class Code:
    """Runtime code, and where its constructor writes: groups of (first byte, how many), one for each immutable."""

    code: bytes
    places: tuple[tuple[tuple[int, int], ...], ...]

    def fill(self, values: Sequence[bytes]) -> bytes:
        """With what the constructor of the real one wrote: one word for each immutable, in the order of the source."""
        if len(values) != len(self.places):
            raise HoleNotThereError("the change added or removed an immutable")
        code = bytearray(self.code)
        for value, places in zip(values, self.places, strict=True):
            for start, length in places:
                code[start : start + length] = value[-length:]
        return bytes(code)


def compile_part(sources: Mapping[str, str], name: str) -> Code:
    """One contract as it runs. Raises EmbeddedError."""
    package = load_lock(LOCK_FILE)["solc"]
    compiler = fetch_packages([package], say=say_to_stderr)[package.name] / "soljson.js"
    file = f"{name}.sol"
    compiled = run_compiler(compiler, dict(sources), {file}, timeout_seconds=PATIENCE_SECONDS)
    output = compiled[file][name]
    places = tuple(output.immutables[one] for one in sorted(output.immutables, key=int))
    return Code(bytes.fromhex(output.deployed_code), places)


class Carpenter:
    """Opens a hole in the cage of a scene, and closes it."""

    def __init__(self, scene: Scene, machine: Machine | None = None) -> None:
        self.scene, self.machine = scene, machine
        self.sources = read_sources()
        cage = scene.caged.cage
        words = self._words(cage, ("account", "baseAsset", "governance", "gate"))
        parts = [decode_address(word) for word in words[2:]]
        self.places = {"PolicyCage": cage, "CageGovernance": parts[0], "CageGate": parts[1]}
        self.places["V3PositionValuer"] = scene.valuers[scene.v3.npm]
        self.places["LoanCallback"] = scene.callback
        self.written = dict.fromkeys(("CageGovernance", "CageGate"), words[:2])
        self.written["PolicyCage"] = words
        self.written["V3PositionValuer"] = self._words(self.places["V3PositionValuer"], ("manager",))
        self.written["LoanCallback"] = []
        self.deployed = {name: self._code(address) for name, address in self.places.items()}

    def open(self, hole: Hole) -> dict[str, bytes]:
        """Put the holed code in place; returns every code that is now another one, by name."""
        sources = change_sources(hole, self.sources)
        codes = {name: compile_part(sources, name).fill(self.written[name]) for name in hole.contracts}
        for name, code in codes.items():
            self._put(name, code)
        return codes

    def close(self) -> None:
        """The real code everywhere."""
        for name, code in self.deployed.items():
            self._put(name, code)

    def _put(self, name: str, code: bytes) -> None:
        self.scene.engine.rpc.call("anvil_setCode", self.places[name], "0x" + code.hex())
        if self.machine is not None:
            self.machine.put_code(self.places[name], code)

    def _code(self, address: str) -> bytes:
        return bytes.fromhex(self.scene.engine.rpc.call("eth_getCode", address, "latest")[2:])

    def _words(self, address: str, names: Sequence[str]) -> list[bytes]:
        texts = [f"function {name}() view returns (address)" for name in names]
        return [self.scene.engine.read(address, encode_call(text)) for text in texts]


def decode_address(word: bytes) -> str:
    return checksum("0x" + word[-20:].hex())
