"""A handler's signature becomes its parameter model and its JSON Schema."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from tools_app.core.errors import InvalidParams
from tools_app.toolkit.params import ChainId


class ToolParams(BaseModel):
    """Base of every generated parameter model: closed and immutable."""

    # A default is spelt as what is given would be.
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


def build_params_model(handler: Callable[..., Any]) -> type[ToolParams]:  # Any: pydantic takes any annotation
    """The parameter model of `handler`: everything after its context (and a local write's `capability`).

    Raises TypeError at import when a parameter lacks a described type of `toolkit/params.py`.
    """
    hints = typing.get_type_hints(handler, include_extras=True)
    signature = inspect.signature(handler)
    members: dict[str, Any] = {}  # Any: pydantic takes any annotation
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        if index == 0 or name == "capability":
            continue
        annotation = hints[name]
        if not _is_described(annotation):
            raise TypeError(f"{handler.__name__}: parameter {name!r} has no described type of toolkit/params.py")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        members[name] = (annotation, default)
    title = "".join(part.capitalize() for part in handler.__name__.split("_")) + "Params"
    return create_model(title, __base__=ToolParams, **members)


def with_chain(model: type[ToolParams]) -> type[ToolParams]:
    """The same parameters, and on which chain: the golem's home where nobody says."""
    return create_model(model.__name__, __base__=model, chain_id=(ChainId | None, None))


def validate_params(
    model: type[ToolParams],
    raw: dict[str, Any],  # Any: pydantic takes any annotation
) -> dict[str, Any]:  # Any: pydantic takes any annotation
    """Validated keyword arguments for the handler. Raises InvalidParams naming every bad field."""
    try:
        checked = model.model_validate(raw)
    except ValidationError as error:
        raise InvalidParams(
            "; ".join(f"{_path(e)}: {_message(e)}" for e in error.errors()),
            fields={_path(e): _message(e) for e in error.errors()},
            allowed=sorted(model.model_fields),
        ) from None
    return {name: getattr(checked, name) for name in model.model_fields}


def json_schema(model: type[ToolParams]) -> dict[str, Any]:  # Any: pydantic takes any annotation
    """JSON Schema (2020-12) of the parameters: closed, every property described."""
    schema = model.model_json_schema()
    schema.pop("title", None)
    for prop in schema.get("properties", {}).values():
        prop.pop("title", None)
    schema.setdefault("properties", {})
    return schema


def _is_described(annotation: object) -> bool:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return all(_is_described(a) for a in typing.get_args(annotation) if a is not type(None))
    if typing.get_origin(annotation) is list:
        return all(_is_described(a) for a in typing.get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return True
    if typing.get_origin(annotation) is not typing.Annotated:
        return False
    return any(getattr(meta, "description", None) for meta in typing.get_args(annotation)[1:])


def _path(error: Any) -> str:  # Any: pydantic takes any annotation
    return ".".join(str(part) for part in error["loc"]) or "body"


def _message(error: Any) -> str:  # Any: pydantic takes any annotation
    if error["type"] == "extra_forbidden":
        return "this parameter does not exist here"
    return str(error["msg"]).removeprefix("Value error, ")
