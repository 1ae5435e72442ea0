"""Compiles a Django query once, so that later only its parameters change.

Django builds the statement of a query anew each time it is asked, which for one over a handful of joined tables takes
longer than the database needs to answer it. Rows become the same objects that the query itself would give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connection, connections, models

from tools_app.core.prepared_statements import Filled, Prepared, Rows

M = TypeVar("M", bound=models.Model)


class CompiledStatement:
    """A query as a statement whose places are its parameters. Thread-safe.

    `build` is given the stand-ins and gives the query with each of them in its place; they differ from each other and
    from everything else in it, and are of the types their columns have. What else the query compares with stays in the
    text: an index of some states only is found by it.
    """

    def __init__(
        self,
        build: Callable[..., models.QuerySet[Any, Any]],  # Any: rows of any model
        *stand_ins: Any,  # Any: a column's value, of any type
    ) -> None:
        self._build = build
        self._stand_ins = stand_ins
        self._prepared: Prepared | None = None

    def fill(self, *parameters: Any) -> Filled:  # Any: a column's value, of any type
        """The statement with `parameters` in place of the stand-ins, as the database takes them."""
        if len(parameters) != len(self._stand_ins):
            raise ValueError(f"{len(parameters)} parameters for a query of {len(self._stand_ins)}")
        if self._prepared is None:
            self.compile()
        return cast(Prepared, self._prepared).fill(**{f"p{place}": value for place, value in enumerate(parameters)})

    def fetch(self, *parameters: object) -> Rows:
        """The rows as the driver gives them."""
        return self.fill(*parameters).fetch()

    def compile(self) -> Any:  # Any: a column's value, of any type
        """Build the statement; gives Django's compiler of it."""
        compiler = self._build(*self._stand_ins).query.get_compiler(connection=connection)
        sql, values = compiler.as_sql()
        places = [self._find_place(value) for value in values]
        if not set(range(len(self._stand_ins))) <= set(places):
            raise ValueError("a stand-in is not in the statement")
        with connection.cursor() as cursor:
            marks = tuple(
                cursor.mogrify("%s", [value]).replace("%", "%%") if place is None else f"%(p{place})s"
                for place, value in zip(places, values, strict=True)
            )
        # Django doubles what is no place, and so does `Prepared`.
        self._prepared = Prepared(compiler.query.model._meta.db_table, sql.replace("%%", "%%%%") % marks)
        return compiler

    def _find_place(self, value: object) -> int | None:
        for place, stand_in in enumerate(self._stand_ins):
            # The driver has subclasses of its own for integers; a flag is none of them, though it equals 0 or 1.
            if isinstance(value, type(stand_in)) and not isinstance(value, bool) and value == stand_in:
                return place
        return None


@dataclass(frozen=True, slots=True)
class _Joined:
    """The columns of one object in a row, and how the objects that `select_related` joined to it are hung on it."""

    model: type[models.Model]
    names: list[str]
    columns: slice
    key: int
    parts: list[_Joined]
    hang: Callable[[object, object], None]
    hang_back: Callable[[object, object], None]


@dataclass(frozen=True, slots=True)
class _Shape:
    whole: _Joined
    converters: list[tuple[int, Sequence[Callable[[Any, Any, Any], Any]], Any]]  # Any: a column's value, of any type


class CompiledQuery(Generic[M]):
    """Rows of one model, and of what `select_related` joins, on the default database; see `CompiledStatement`.

    No annotations, and no related objects but those of `select_related`.
    """

    def __init__(
        self,
        build: Callable[..., models.QuerySet[M]],
        *stand_ins: Any,  # Any: a column's value, of any type
    ) -> None:
        self._statement = CompiledStatement(build, *stand_ins)
        self._shape: _Shape | None = None

    def fetch(self, *parameters: object) -> list[M]:
        """The objects with `parameters` in place of the stand-ins, as the database takes them."""
        return self.read(self.fill(*parameters).fetch())

    def fill(self, *parameters: Any) -> Filled:  # Any: a column's value, of any type
        """The statement with its parameters, for `fetch_together`; `read` makes objects of its rows."""
        if self._shape is None:
            self._find_shape()
        return self._statement.fill(*parameters)

    def read(self, rows: Iterable[Sequence[Any]]) -> list[M]:  # Any: a column's value, of any type
        """The objects of the rows that the statement gave."""
        shape, database = self._shape or self._find_shape(), connections[DEFAULT_DB_ALIAS]
        return [_as_object(shape, list(row), database) for row in rows]

    def _find_shape(self) -> _Shape:
        compiler = self._statement.compile()
        if compiler.annotation_col_map or compiler.klass_info is None:
            raise TypeError("only whole rows can be compiled")
        select, info = compiler.select, compiler.klass_info
        converters = compiler.get_converters([column[0] for column in select])
        self._shape = _Shape(
            whole=_read_shape(info, select),
            converters=[(place, functions, expression) for place, (functions, expression) in converters.items()],
        )
        return self._shape


def _read_shape(info: dict[str, Any], select: Sequence[Any]) -> _Joined:  # Any: a column's value, of any type
    """What Django's compiler tells of one model in the statement, with those joined to it."""
    if info.get("from_parent"):
        raise TypeError("a child of a model that is joined to it cannot be compiled")
    fields = info["select_fields"]
    columns = slice(fields[0], fields[-1] + 1)
    names = [column[0].target.attname for column in select[columns]]
    return _Joined(
        model=info["model"],
        names=names,
        columns=columns,
        key=names.index(info["model"]._meta.pk.attname),
        parts=[_read_shape(part, select) for part in info.get("related_klass_infos", ())],
        hang=info.get("local_setter", _hang_nowhere),
        hang_back=info.get("remote_setter", _hang_nowhere),
    )


def _hang_nowhere(_one: Any, _other: Any) -> None:  # Any: a column's value, of any type
    pass


def _as_object(shape: _Shape, row: list[object], database: object) -> Any:  # Any: a column's value, of any type
    for place, functions, expression in shape.converters:
        for function in functions:
            row[place] = function(row[place], expression, database)
    return _make(shape.whole, row)


def _make(joined: _Joined, row: list[object]) -> Any:  # Any: a column's value, of any type
    """The object, or None where nothing was joined: its key is NULL then."""
    columns = row[joined.columns]
    if columns[joined.key] is None:
        return None
    found = joined.model.from_db(DEFAULT_DB_ALIAS, joined.names, columns)
    for part in joined.parts:
        other = _make(part, row)
        part.hang(found, other)
        if other is not None:
            part.hang_back(other, found)
    return found
