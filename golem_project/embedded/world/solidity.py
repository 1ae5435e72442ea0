"""Compiles our own Solidity with the pinned compiler of `packages.json`, run as JavaScript on any Node.

The compiled output is committed beside the source; a test compiles again and compares byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import Say, fetch_packages, find_node, load_lock, say_to_stderr
from golem_project.embedded.paths import CHECKOUT

SOURCE_DIR = CHECKOUT / "contracts" / "src"
OUTPUT_DIR = CHECKOUT / "contracts" / "out"
LOCK_FILE = Path(__file__).with_name("packages.json")
COMPILE_TIMEOUT_SECONDS = 600
COMPILER = "solc"
SETTINGS: dict[str, object] = {
    "optimizer": {"enabled": True, "runs": 200},
    "evmVersion": "cancun",
    # No hash of the metadata in the code: the same source gives the same bytes wherever the checkout lies.
    "metadata": {"appendCBOR": False, "bytecodeHash": "none"},
}
# These do not fit a contract's size without the intermediate representation, or their locals the stack. Nor do valuers.
VIA_IR_FILES = frozenset(
    {
        "PolicyCage.sol",
        "CageGovernance.sol",
        "CageGate.sol",
        "FuzzVenue.sol",
        "CageWatcher.sol",
        "SimulatedReputationRegistry.sol",
    }
)
# What one transaction creates together; a chain takes no more of it, and gas is saved where it is read and written.
SMALL_FILES = frozenset({"PolicyCage.sol", "CageGovernance.sol", "CageGate.sol"})
SMALL_RUNS = 20
# Whose code is compared with what lies on a chain before owners are asked to sign for it; and so is a valuer's.
PUBLISHED = frozenset({"PolicyCage", "CageGovernance", "CageGate"})
# A valuer is known by what it says of itself: no list here names those of protocols.
VALUER = re.compile(r"^contract (\w+) is (?:\w+, )*IValuer\b", re.MULTILINE)
IMPORT = re.compile(r"""^import [^;]*?"\./([^"]+)";""", re.MULTILINE)
# Emscripten build without callbacks: imports are answered from `sources`, so nothing is read from disk or network.
COMPILE_SCRIPT = """
const compiler = require(process.argv[1]);
const compile = compiler.cwrap("solidity_compile", "string", ["string", "number", "number"]);
process.stdout.write(compile(require("fs").readFileSync(0, "utf8"), 0, 0));
"""


@dataclass(frozen=True)
class Contract:
    """One compiled contract of ours. Bytecodes are 0x-prefixed hex."""

    name: str
    abi: list[dict[str, Any]]  # Any: web3 takes an ABI as JSON, whose entries nest
    bytecode: str
    deployed_bytecode: str
    immutables: tuple[tuple[int, int], ...] = ()
    """Where the constructor writes into the deployed code: (first byte, how many); zeros in `deployed_bytecode`."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the compiler made of one contract, as far as it was asked: codes are hex without 0x, `immutables` are places
    in the deployed code (first byte, how many) by the number of the variable.
    """

    abi: list[dict[str, object]]
    code: str
    link_references: dict[str, object] = field(default_factory=dict)
    deployed_code: str = ""
    immutables: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompilerAnswer:
    """What the compiler answered: the whole of it, what it calls errors, its contracts by file and name."""

    json: Mapping[str, object]
    errors: tuple[str, ...]
    contracts: dict[str, dict[str, Compiled]]


@cache
def load_contract(name: str) -> Contract:
    """The committed output of one contract of `contracts/src`. Raises EmbeddedError when it is not there."""
    path = OUTPUT_DIR / f"{name}.json"
    try:
        output = json.loads(path.read_text())
    except FileNotFoundError:
        raise EmbeddedError(f"{path} is missing. Fix: python -m golem_project.embedded.world compile") from None
    match output:
        case {"abi": list(abi), "bytecode": str(code), "deployedBytecode": str(deployed), **others}:
            return Contract(name, abi, code, deployed, _read_immutables(others))
    raise EmbeddedError(f"{path} is damaged. Fix: python -m golem_project.embedded.world compile")


def _read_immutables(told: object) -> tuple[tuple[int, int], ...]:
    match told:
        case {"immutables": list(places)}:
            return tuple((start, length) for start, length in places)
    return ()


def read_sources() -> dict[str, str]:
    """File name -> text of every Solidity file of ours."""
    return {path.name: path.read_text() for path in sorted(SOURCE_DIR.glob("*.sol"))}


def settings_of(file_name: str) -> dict[str, object]:
    """The compiler's settings for one file of `contracts/src`."""
    settings = {**SETTINGS, "viaIR": True} if needs_intermediate(file_name) else SETTINGS
    return {**settings, "optimizer": {"enabled": True, "runs": SMALL_RUNS}} if file_name in SMALL_FILES else settings


def needs_intermediate(file_name: str) -> bool:
    """Whether it is compiled through the intermediate representation: what `VIA_IR_FILES` name, and every valuer."""
    return file_name in VIA_IR_FILES or bool(VALUER.search((SOURCE_DIR / file_name).read_text()))


def hash_source(sources: dict[str, str], file_name: str) -> str:
    """sha256 over a file and everything it imports, so that a change elsewhere leaves its output alone."""
    needed, queue = set(), [file_name]
    while queue:
        name = queue.pop()
        if name not in needed:
            needed.add(name)
            queue += IMPORT.findall(sources[name])
    digest = hashlib.sha256(f"{file_name}\0".encode())
    for name in sorted(needed):
        digest.update(f"{name}\0{sources[name]}\0".encode())
    return digest.hexdigest()


def compile_contracts(only: Set[str] = frozenset(), *, say: Say = say_to_stderr) -> dict[str, str]:
    """Compile every source, or those named; returns output file name -> its text.

    Raises EmbeddedError on a compiler error, and for a name that no source has.
    """
    package = load_lock(LOCK_FILE)[COMPILER]
    compiler = fetch_packages([package], say=say)[package.name] / "soljson.js"
    sources = read_sources()
    if not only <= set(sources):
        raise EmbeddedError(f"{SOURCE_DIR} has no {', '.join(sorted(only - set(sources)))}.")
    outputs: dict[str, str] = {}
    through = {name for name in sources if needs_intermediate(name)}
    for group in (set(sources) - through, through - SMALL_FILES, SMALL_FILES & set(sources)):
        wanted = group & only if only else group
        if wanted:
            compiled = run_compiler(compiler, sources, wanted)
            outputs |= render_outputs(compiled, sources, package.version)
    return outputs


def run_compiler(
    compiler: Path, sources: dict[str, str], wanted: Set[str], *, timeout_seconds: int = COMPILE_TIMEOUT_SECONDS
) -> dict[str, dict[str, Compiled]]:
    """What the compiler makes of `wanted`, by file and contract; these share their settings.

    Raises EmbeddedError on a compiler error.
    """
    [settings] = {json.dumps(settings_of(name)) for name in wanted}
    parts = ["abi", "evm.bytecode.object", "evm.deployedBytecode.object", "evm.deployedBytecode.immutableReferences"]
    selection = {name: {"*": parts} for name in sorted(wanted)}
    answer = ask_compiler(compiler, sources, {**json.loads(settings), "outputSelection": selection}, timeout_seconds)
    return {name: answer.contracts.get(name, {}) for name in wanted}


def ask_compiler(
    compiler: Path, sources: dict[str, str], settings: dict[str, object], timeout_seconds: int
) -> CompilerAnswer:
    """What the compiler answers, with what `settings` select. Raises EmbeddedError on a compiler error."""
    request = {
        "language": "Solidity",
        "sources": {name: {"content": text} for name, text in sources.items()},
        "settings": settings,
    }
    result = subprocess.run(  # noqa: S603 (the pinned compiler, nothing from outside in the command)
        [find_node(), "-e", COMPILE_SCRIPT, str(compiler)],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
    )
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or [f"exit {result.returncode}"]
        raise EmbeddedError(f"The Solidity compiler did not run ({lines[-1]}). Fix: use Node 16 or newer.")
    answer = read_answer(result.stdout)
    if answer.errors:
        raise EmbeddedError(f"contracts/src does not compile: {answer.errors[0].strip()}")
    return answer


def read_answer(text: str) -> CompilerAnswer:
    """What the compiler wrote. Raises EmbeddedError where it is none of its standard JSON."""
    match json.loads(text):
        case dict(answer):
            return CompilerAnswer(answer, _list_errors(answer), _read_contracts(answer))
    raise EmbeddedError("The Solidity compiler answered no object. Fix: use Node 16 or newer.")


def _list_errors(answer: object) -> tuple[str, ...]:
    match answer:
        case {"errors": list(told)}:
            return tuple(each["formattedMessage"] for each in told if each["severity"] == "error")
    return ()


def _read_contracts(answer: object) -> dict[str, dict[str, Compiled]]:
    match answer:
        case {"contracts": dict(files)}:
            return {file: {name: _read_compiled(each) for name, each in told.items()} for file, told in files.items()}
    return {}


def _read_compiled(told: object) -> Compiled:
    match told:
        case {"abi": list(abi), "evm": {"bytecode": {**made}, "deployedBytecode": {**deployed}}}:
            return Compiled(abi, _read_code(made), {}, _read_code(deployed), _read_places(deployed))
        case {"evm": {"bytecode": {"object": str(code), "linkReferences": dict(links)}}}:
            return Compiled([], code, links)
        case {"abi": list(abi)}:
            return Compiled(abi, "")
    raise EmbeddedError("The Solidity compiler answered a contract without what was asked for. Fix: report it.")


def _read_code(told: object) -> str:
    match told:
        case {"object": str(code)}:
            return code
    raise EmbeddedError("The Solidity compiler answered a contract without its code. Fix: report it.")


def _read_places(told: object) -> dict[str, tuple[tuple[int, int], ...]]:
    match told:
        case {"immutableReferences": dict(groups)}:
            return {key: tuple((at["start"], at["length"]) for at in places) for key, places in groups.items()}
    return {}


def render_outputs(
    compiled: Mapping[str, Mapping[str, Compiled]], sources: dict[str, str], version: str
) -> dict[str, str]:
    """One JSON text per contract that can be deployed, with what is needed to make it again."""
    outputs: dict[str, str] = {}
    for file_name, contracts in compiled.items():
        published = PUBLISHED | set(VALUER.findall(sources[file_name]))
        for name, contract in contracts.items():
            if not contract.code:
                continue
            output: dict[str, object] = {
                "contractName": name,
                "source": f"contracts/src/{file_name}",
                "sourceHash": hash_source(sources, file_name),
                "solc": version,
                "settings": settings_of(file_name),
                "abi": contract.abi,
                "bytecode": "0x" + contract.code,
                "deployedBytecode": "0x" + contract.deployed_code,
            }
            if contract.immutables and name in published:
                places = sorted(place for each in contract.immutables.values() for place in each)
                output |= {"immutables": places}
            outputs[f"{name}.json"] = json.dumps(output, indent=1) + "\n"
    return outputs


def write_outputs(outputs: dict[str, str], *, are_all: bool = True) -> None:
    """Write these files to `contracts/out`; where they are all there are, any other goes."""
    OUTPUT_DIR.mkdir(parents=True, exist_ok=True)
    if are_all:
        for stale in set(OUTPUT_DIR.glob("*.json")) - {OUTPUT_DIR / name for name in outputs}:
            stale.unlink()
    for name, text in outputs.items():
        (OUTPUT_DIR / name).write_text(text)


def check_outputs_match_sources() -> None:
    """Compare the committed hashes with the sources, without a compiler. Raises EmbeddedError."""
    sources = read_sources()
    for path in sorted(OUTPUT_DIR.glob("*.json")):
        match json.loads(path.read_text()):
            case {"sourceHash": str(digest), "source": str(source)} if digest == hash_source(
                sources, Path(source).name
            ):
                continue
        raise EmbeddedError(
            f"{path.name} was not compiled from the source beside it. "
            "Fix: python -m golem_project.embedded.world compile"
        )
