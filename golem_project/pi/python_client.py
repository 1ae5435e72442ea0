"""Generates the Python client's operations from the OpenAPI document."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from golem_project.pi.openapi_tools import list_asked
from golem_project.settings.environment import BASE_DIR

PATH: Final = BASE_DIR / "clients" / "python" / "golem_client" / "operations.py"
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
_SPOKEN_BY_HAND: Final = frozenset({"events"})
"""Operations whose answer is no JSON: the client reads them itself."""
_TYPES: Final[Mapping[str, str]] = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_HEAD: Final = '''"""Every operation of a golem's HTTP interface. Written by `manage.py clients` from OpenAPI."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote


class Operations(ABC):
    """One method for each operation. An answer is the JSON of the response; a refusal is raised as GolemProblem."""

    @abstractmethod
    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        has_effect: bool = False,
    ) -> dict[str, Any]:
        """Send one request; what is None is left out."""
'''


def write_operations(document: Mapping[str, Any]) -> str:
    """The text of operations.py for the OpenAPI `document`."""
    methods = [
        _write_method(method, path, operation, document)
        for path, operations in sorted(document["paths"].items())
        for method, operation in sorted(operations.items())
        if operation["operationId"] not in _SPOKEN_BY_HAND
    ]
    return _HEAD + "".join(methods)


def _write_method(method: str, path: str, operation: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    asked = list_asked(operation, document["components"])
    parameters = [each for each in asked if each["name"] != IDEMPOTENCY_KEY]
    has_effect = len(parameters) < len(asked)
    by_place = {place: [each for each in parameters if each["in"] == place] for place in ("path", "query", "header")}
    body = _body_of(operation, document)
    arguments = [f"{_name(each)}: str" for each in by_place["path"]]
    arguments += [*_list_fields(body), *(f"{_name(each)}: {_type(each)} | None = None" for each in _optional(by_place))]
    if has_effect:
        arguments.append("idempotency_key: str | None = None")
    star = ["*"] if arguments[len(by_place["path"]) :] else []
    listed = ["self", *arguments[: len(by_place["path"])], *star, *arguments[len(by_place["path"]) :]]
    if body is not None and not _is_closed(body):
        listed.append("**parameters: Any")
    for each in by_place["path"]:
        # What a caller hands on may be anything; it stays one step of the path.
        path = path.replace(f"{{{each['name']}}}", f"{{quote({_name(each)}, safe='')}}")
    sent = [f'"{method.upper()}"', f'f"{path}"' if by_place["path"] else f'"{path}"']
    for word, place in (("query", "query"), ("headers", "header")):
        pairs = [f'"{each["name"]}": {_name(each)}' for each in by_place[place]]
        if place == "header" and has_effect:
            pairs.insert(0, f'"{IDEMPOTENCY_KEY}": idempotency_key')
        if pairs:
            sent.append(f"{word}={{{', '.join(pairs)}}}")
    if body is not None:
        sent.append(f"body={_write_body(body)}")
    if has_effect:
        sent.append("has_effect=True")
    summary = operation.get("summary", operation["operationId"])
    lines = [
        f"def {operation['operationId']}(",
        *(f"    {each}," for each in listed),
        ") -> dict[str, Any]:",
        f'    """{summary}."""',
        "    return self.send(",
        *(f"        {each}," for each in sent),
        "    )",
    ]
    return "\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def _optional(by_place: Mapping[str, list[Any]]) -> list[Any]:
    return [*by_place["query"], *by_place["header"]]


def _body_of(operation: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    content = operation.get("requestBody", {}).get("content", {})
    if not content:
        return None
    schema: Mapping[str, Any] = content["application/json"]["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _is_closed(schema: Mapping[str, object]) -> bool:
    return schema.get("additionalProperties") is False and bool(schema.get("properties"))


def _list_fields(schema: Mapping[str, Any] | None) -> Iterator[str]:
    """Fields of a closed body, those that have to be there first."""
    if schema is None or not _is_closed(schema):
        return
    needed = schema.get("required", ())
    for name in sorted(schema["properties"], key=lambda name: (name not in needed, name)):
        kind = _type({"schema": schema["properties"][name]})
        yield f"{name}: {kind}" if name in needed else f"{name}: {kind} | None = None"


def _write_body(schema: Mapping[str, Any]) -> str:
    if not _is_closed(schema):
        return "parameters"
    return "{" + ", ".join(f'"{name}": {name}' for name in sorted(schema["properties"])) + "}"


def _type(parameter: Mapping[str, Any]) -> str:
    return _TYPES.get(str(parameter.get("schema", {}).get("type", "string")), "Any")


def _name(parameter: Mapping[str, Any]) -> str:
    name = str(parameter["name"]).lower().replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name
