"""What runs in the analyser's own environment: takes the compiler's answer, tells what every detector finds.

Reads standard input (`sources` and `contracts` as the compiler answers them) and writes JSON. Imported by nobody: the
product's environment has none of these packages. Runs in the folder of the sources, which the findings quote.
"""

from __future__ import annotations

import inspect
import json
import sys
from typing import Any

from crytic_compile import CryticCompile
from crytic_compile.compilation_unit import CompilationUnit
from crytic_compile.compiler.compiler import CompilerVersion
from crytic_compile.platform.solc_standard_json import SolcStandardJson, parse_standard_json_output
from slither import Slither
from slither.detectors import all_detectors
from slither.detectors.abstract_detector import AbstractDetector


class Compiled(SolcStandardJson):
    """What the compiler said already, so that none is started."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__({})
        self._answer = answer

    def compile(self, crytic_compile: CryticCompile, **_: Any) -> None:
        """Hand the answer on. Detectors read syntax trees, none of them bytecode."""
        unit = CompilationUnit(crytic_compile, "contracts")
        unit.compiler_version = CompilerVersion(compiler="solc", version=self._answer["version"], optimized=True)
        nothing = {"object": "", "sourceMap": ""}
        for contracts in self._answer["contracts"].values():
            for contract in contracts.values():
                contract["evm"] = {"bytecode": nothing, "deployedBytecode": nothing}
        parse_standard_json_output(self._answer, unit)


def list_detectors() -> list[type[AbstractDetector]]:
    """Every detector that comes along, none left out."""
    found = vars(all_detectors).values()
    return [one for one in found if inspect.isclass(one) and issubclass(one, AbstractDetector)]


def find_place(elements: list[dict[str, Any]]) -> dict[str, str]:
    """The contract, and the function or variable in it, of the first thing that a finding is about."""
    contract, place = "", ""
    element = elements[0] if elements else {}
    if element.get("type") == "variable":
        place = element["name"]
    while element:
        fields = element.get("type_specific_fields", {})
        if element["type"] == "function":
            place = fields["signature"]
        if element["type"] == "contract":
            contract = element["name"]
        element = fields.get("parent")
    return {"contract": contract, "place": place}


def main() -> None:
    """Analyse and tell."""
    slither = Slither(CryticCompile(Compiled(json.load(sys.stdin))), disable_plugins=True)
    detectors = list_detectors()
    for detector in detectors:
        slither.register_detector(detector)
    findings = [
        {"check": found["check"], **find_place(found["elements"]), "description": found["description"]}
        for results in slither.run_detectors()
        for found in results
    ]
    told = {one.ARGUMENT: one.IMPACT.name.lower() for one in detectors}
    json.dump({"detectors": told, "findings": findings}, sys.stdout)


if __name__ == "__main__":
    main()
