"""Records that a file names: a registered word, ``./mine.py:Name``, an entry point, or the record in place.

A field whose type is the base of such records, a `Named` with a `registry`, takes all of them: ``disc``,
``{disc: {range_m: 20}}`` and ``{kind: disc, range_m: 20}``, with ``./mine.py:Name`` in the place of the word.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError, ValidationInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError, core_schema

from covey.errors import CoveyError, InvalidValueError, UnknownNameError, did_you_mean
from covey.records import Record, hinted_at, located, unknown_key
from covey.registry import Registry, Unread, load_from_file, own_code, stand_in

T = TypeVar("T", bound="Named")


class Named(Record):
    """A record that files refer to by name, with its parameters below: ``{name: {parameter: …}}``.

    A class that sets `registry` is the base of an extension point: a field of this type takes what a file names.
    """

    registry: ClassVar[Registry[Any]]

    _reference: str = PrivateAttr(default="")

    def references(self) -> list[str]:
        """Return the references ``./file.py:Name`` that it stands for, or names itself."""
        return [self._reference] if self._reference else []

    def in_file(self, parameters: dict[str, Any]) -> Any:
        """Return its form in a file, given its parameters as plain data.

        Raises:
            InvalidValueError: no file can name it.
        """
        name = self._named()
        return {name: parameters} if parameters else name

    def _named(self) -> str:
        name = self._reference or self.registry.name_of(type(self))
        if name is None:
            raise InvalidValueError(
                f"{self.registry.kind} {type(self).__name__!r} cannot be written to a file: register it, or put it "
                f"into a file and name it ./file.py:{type(self).__name__}"
            )
        return name

    @classmethod
    def of_function(cls, function: Any, reference: str) -> Any:
        """Return the record for a plain function from a file; most kinds have none."""
        raise InvalidValueError(
            f"{reference!r} is a function; a {cls.registry.kind} is a class derived from {cls.__name__}"
        )

    @classmethod
    def named_in(cls, value: dict[str, Any]) -> tuple[str, Any, tuple[str, ...]]:
        """Return the name in a mapping of a file, the parameters, and the keys that lead to these.

        Raises:
            ValueError: it names nothing.
        """
        if isinstance(value.get("kind"), str):
            return value["kind"], {key: item for key, item in value.items() if key != "kind"}, ()
        if len(value) == 1:
            ((name, parameters),) = value.items()
            if parameters is None or isinstance(parameters, dict):
                return str(name), parameters or {}, (str(name),)
        raise ValueError(f"{cls.forms(value)}; given: {value!r:.60}")

    @classmethod
    def forms(cls, value: Any) -> str:
        """Return what a file must write in the place of a value."""
        return "must be one name, or {name: {parameter: …}}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Return the schema of a field of this type: the base of an extension point takes what a file names."""
        if "registry" not in vars(cls):
            return handler(source)
        return core_schema.with_info_plain_validator_function(lambda value, info: resolve(value, cls, info))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        if "registry" not in vars(cls):
            return handler(schema)
        kinds = cls.registered()
        for kind in kinds.values():
            kind.model_rebuild()
        options = {name: handler(kind.__pydantic_core_schema__) for name, kind in kinds.items()}
        return {"title": cls.__name__, "anyOf": [{"type": "string"}, {"type": "object"}, *options.values()]}

    @classmethod
    def registered(cls) -> dict[str, "type[Self]"]:
        """Return the registered records of this base by name; not the functions that make some of them."""
        found = cls.registry.items().items()
        return {name: kind for name, kind in found if isinstance(kind, type) and issubclass(kind, cls)}


class OfKind(Named):
    """A record with its name in the file among its parameters: ``{kind: name, parameter: …}``.

    A class may have a field ``kind`` with its name; of another one, the kind is the name in the file.
    """

    implied: ClassVar[str] = ""
    """The kind of a mapping without ``kind``, which files leave out."""

    if TYPE_CHECKING:  # what a record has besides is its own
        kind: Any = ""

        def __getattr__(self, name: str) -> Any: ...

    else:

        def __getattr__(self, name: str) -> Any:
            if name == "kind":
                return self._reference or self.registry.name_of(type(self)) or type(self).__name__
            return super().__getattr__(name)

    def in_file(self, parameters: dict[str, Any]) -> Any:
        """Return its form in a file, see `Named.in_file`."""
        name = self._named()
        if name == self.implied:
            return parameters
        given = {**parameters, "kind": name} if "kind" in parameters else {"kind": name, **parameters}  # in its place
        return given if len(given) > 1 else name

    @classmethod
    def named_in(cls, value: dict[str, Any]) -> tuple[str, Any, tuple[str, ...]]:
        """Return the name in a mapping of a file, see `Named.named_in`."""
        if len(value) == 1:
            ((name, parameters),) = value.items()
            if ".py:" in str(name) or (name != "kind" and name in cls.registry.names()):
                return super().named_in({name: parameters})
        kind = value.get("kind", cls.implied)
        if kind == "":
            raise ValueError(f"kind is missing{did_you_mean('', cls.registry.names())}")
        if not isinstance(kind, str):
            raise ValueError(f"kind must be a name; given: {kind!r:.60}")
        return kind, {key: item for key, item in value.items() if key != "kind"}, ()


class ByKey(Named):
    """A record that one of its keys selects, ``{door: …, to: open}``; of another class, ``{kind: name, …}``.

    Attributes:
        form: how a file writes it, for errors.
        choices: what a file must give where this base is wanted, before the forms; ``others`` stands behind them.
    """

    form: ClassVar[str] = ""
    choices: ClassVar[str] = "choose one of"
    others: ClassVar[str] = ""

    @property
    def selector(self) -> dict[str, Any]:
        """What selects it in a file beside its fields: its ``kind``, if no key does."""
        keys = {field.alias or name for name, field in type(self).model_fields.items()}
        names = self.registry.names_of(type(self))
        name = self._reference or next(iter(names), type(self).__name__)
        return {} if self.form or keys & {*names} else {"kind": name}

    def in_file(self, parameters: dict[str, Any]) -> Any:
        """Return its form in a file, see `Named.in_file`."""
        given = (self.selector and {"kind": self._named()}) | parameters
        return given["kind"] if list(given) == ["kind"] else given

    @classmethod
    def key_in(cls, value: dict[str, Any]) -> str | None:
        """Return the name that the keys of a mapping select."""
        return next((name for name in (*cls.registry.items(), *cls.registry.names()) if name in value), None)

    @classmethod
    def named_in(cls, value: dict[str, Any]) -> tuple[str, Any, tuple[str, ...]]:
        """Return the name in a mapping of a file, see `Named.named_in`."""
        name = next(iter(value), "")
        if len(value) == 1 and ".py:" in str(name):
            return super().named_in(value)
        if (key := cls.key_in(value)) is not None:
            fields = getattr(cls.registered().get(key), "model_fields", {})
            if len(value) == 1 and key == name and key not in {field.alias or k for k, field in fields.items()}:
                return super().named_in(value)
            return key, value, ()
        if isinstance(value.get("kind"), str):
            return super().named_in(value)
        raise ValueError(cls.forms(value))

    @classmethod
    def forms(cls, value: Any) -> str:
        """Return what a file must write, with a hint at the nearest key."""
        forms = dict.fromkeys(kind.form for kind in cls.registered().values() if kind.form)
        keys = [str(key) for key in value] if isinstance(value, (dict, list)) else []
        hints = (did_you_mean(key, cls.registry.names()) for key in keys)
        hint = next((hint for hint in hints if hint.startswith(",")), "")
        return f"{cls.choices} {', '.join((*forms, '{kind: ./mine.py:NAME, …}'))}{cls.others}{hint}"


def references_in(value: Any) -> Iterator[str]:
    """Yield each ``./file.py:Name`` that a record, or what it holds, stands for."""
    if isinstance(value, BaseModel):
        yield from getattr(value, "references", list)()
        for name in type(value).model_fields:
            yield from references_in(getattr(value, name))
    elif isinstance(value, tuple) and isinstance(next(iter(value), None), BaseModel):
        for item in value:
            yield from references_in(item)


def refuse_code(name: str, context: Mapping[str, Any]) -> None:
    """Refuse a name of code in a file where only trusted code may run.

    Raises:
        InvalidValueError: it is such a name, and the context of the validation has ``trusted_only``.
    """
    if ".py:" in name and context.get("trusted_only"):
        raise InvalidValueError(f"{name!r} would run code from a file, which --trusted-only refuses")


def find(name: Any, registry: Registry[Any], context: dict[str, Any]) -> Any:
    """Return what a file names: an object of a registry or an installed package, or the object of ``./mine.py:Name``.

    Args:
        name: as the file has it.
        registry: of the kind of object.
        context: of the validation: the ``folder`` of relative paths, and whether ``trusted_only``.

    Raises:
        CoveyError: there is no such object, its code fails, or is not to be run.
    """
    if not isinstance(name, str):
        raise InvalidValueError(
            f"must be the name of a {registry.kind}: {', '.join(registry.names())}; given: {name!r:.60}"
        )
    if ".py:" not in name:
        if name.endswith(".py") or "/" in name:
            raise InvalidValueError(f"{name!r} names a file; write {name}:NAME, the function or class in it")
        try:
            return registry.get(name)
        except UnknownNameError as error:
            folder = Path(context.get("folder", "."))
            meant = own_code(name, folder) or own_code(name, Path())
            raise UnknownNameError(error.kind, name, error.known, meant) from None
    refuse_code(name, context)
    return load_from_file(name, Path(context.get("folder", ".")))


def resolve(value: Any, base: type[T], info: ValidationInfo) -> T:
    """Return the record that a value of a file names.

    Raises:
        ValueError: it names no record, or its parameters are invalid; the error has the place.
    """
    if isinstance(value, base):
        return value
    if isinstance(value, dict) and isinstance(like := value.get("like"), base):  # one of its kind, with other values
        return _made(type(like), {key: item for key, item in value.items() if key != "like"}, like._reference, (), info)
    if isinstance(value, Record):
        raise ValueError(f"must be a {base.registry.kind}; given: {value!r:.60}")
    if not isinstance(value, (str, dict)):
        raise ValueError(f"{base.forms(value)}; given: {value!r:.60}")
    if (
        isinstance(value, str)
        and issubclass(base, ByKey)
        and ".py:" not in value
        and value not in base.registry.names()
    ):
        raise ValueError(base.forms([value]))
    name, parameters, below = (value, {}, ()) if isinstance(value, str) else base.named_in(value)
    kind: Any
    try:
        kind = find(name, base.registry, info.context or {})
        if isinstance(kind, Unread):
            return _unread(base, name, parameters)
        if not isinstance(kind, type) and callable(kind):
            made: Any = base.of_function(kind, name) if ".py:" in name else kind()
            if not parameters:
                return made
            kind, parameters = type(made), {**made.model_dump(), **parameters}
        elif not (isinstance(kind, type) and issubclass(kind, base)):
            what = f"is not a {base.registry.kind}: derive the class from covey's {base.__name__}"
            raise InvalidValueError(f"{name!r} {what}" if ".py:" in name else base.forms(value))
        if lacks := sorted(getattr(kind, "__abstractmethods__", ())):
            raise InvalidValueError(
                f"{base.registry.kind} {name!r} lacks {' and '.join(lacks)}: write def {lacks[0]}(…)"
            )
    except CoveyError as error:
        if isinstance(value, dict) and value.get("kind") == name:
            raise located([(("kind",), str(error), name)]) from None
        raise ValueError(str(error)) from None
    return _made(kind, parameters, name if ".py:" in name else "", below, info)


def _made(kind: Any, parameters: Any, reference: str, below: tuple[str, ...], info: ValidationInfo) -> Any:
    """Return the record of a kind, see `resolve`."""
    try:
        record = kind.model_validate(parameters, context=info.context)
    except ValidationError as error:
        raise _below(error, below, kind) from None
    record._reference = reference
    return record


def _unread(base: type[T], name: str, given: Any) -> T:
    """Return a placeholder for a record that a file names and that has not been loaded."""

    class NotLoaded(base):
        model_config = ConfigDict(extra="allow")

        def in_file(self, parameters: dict[str, Any]) -> Any:
            return super().in_file({**given, **parameters, **(self.model_extra or {})})

    NotLoaded.__abstractmethods__ = frozenset()  # nobody calls them
    stand_in(name)
    record: Any = NotLoaded.model_validate(given)
    record._reference = name
    return record


def _below(error: ValidationError, below: tuple[str, ...], kind: type[Record]) -> ValidationError:
    """Return the same errors with the keys before their places, and with hints from the record."""
    found = error.errors(include_url=False)
    hinted = hinted_at(found, kind)
    lines = [
        InitErrorDetails(type=_type(one, kind), loc=(*below, *one["loc"]), input=one["input"], ctx=one.get("ctx", {}))
        for one in found
        if one["type"] != "missing" or one["loc"] not in hinted
    ]
    return ValidationError.from_exception_data(kind.__name__, lines)


def _type(found: ErrorDetails, kind: type[Record]) -> Any:
    """Return the type of an error, to be raised again."""
    given: dict[str, Any] = found.get("ctx") or {"message": found["msg"]}
    if found["type"] == "extra_forbidden" and "ctx" not in found:
        given = {"message": unknown_key(found, kind)}
    elif found["type"] in _CORE_TYPES:
        return found["type"]
    return PydanticCustomError(found["type"], "{message}", {"message": found["msg"], **given})  # pyright: ignore[reportArgumentType]


_CORE_TYPES = frozenset(get_args(core_schema.ErrorType))
