"""The outline of a controller in a file that is not run: whether it is a function or a class, and its parameters."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from covey.registry import names_bound

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def outline_of(path: Path, name: str) -> Any:
    """Return an empty function or class with the parameters of the one in the file, or a plain value.

    Its methods are empty, its defaults are the literals in the file; no expression of the file is evaluated.

    Returns:
        None if it cannot be determined: the name is bound more than once, or its object is decorated or derived.
    """
    tree = ast.parse(path.read_bytes(), path.name)
    found = [node for node in tree.body if name in names_bound([node])]
    node = found[0] if len(found) == 1 else None
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and _is_literal(node.value):
        return ast.literal_eval(node.value)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and _is_plain(node):
        emptied = _empty_class(node) if isinstance(node, ast.ClassDef) else _empty_function(node, keeps=())
        space: dict[str, Any] = {"__name__": path.stem}
        exec(compile(ast.Module([emptied], []), path.name, "exec"), space)
        return space[name]
    return None


def _is_plain(node: _Function | ast.ClassDef) -> bool:
    """Return whether its parameters depend only on its own body."""
    decorators = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    if any(ast.unparse(d) not in ("covey.controller", "controller", "controllers.controller") for d in decorators):
        return False
    if not isinstance(node, ast.ClassDef):
        return True
    sets = {target.attr for target in ast.walk(node) if isinstance(target, ast.Attribute)}
    other = [one for one in node.body if not isinstance(one, _Function)]
    return not (node.bases or node.keywords or "step" in sets or names_bound(other) & {"*", "step", "__init__"})


def _empty_class(node: ast.ClassDef) -> ast.ClassDef:
    methods = [_empty_function(one, keeps=("staticmethod", "classmethod")) for one in node.body if _is_function(one)]
    node.body, node.decorator_list = [*methods, ast.Pass()], []
    return ast.fix_missing_locations(node)


def _empty_function(node: Any, keeps: tuple[str, ...]) -> Any:
    yields = any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in _own(node.body))
    node.body = [ast.Expr(ast.Yield()) if yields else ast.Pass()]
    node.decorator_list = [d for d in node.decorator_list if isinstance(d, ast.Name) and d.id in keeps]
    node.returns, taken = None, node.args
    positional = [*taken.posonlyargs, *taken.args]
    by_default = positional[len(positional) - len(taken.defaults) :]
    taken.defaults = [_default(a, d) for a, d in zip(by_default, taken.defaults, strict=True)]
    taken.kw_defaults = [_default(a, d) for a, d in zip(taken.kwonlyargs, taken.kw_defaults, strict=True)]
    for argument in [*positional, *taken.kwonlyargs, taken.vararg, taken.kwarg]:
        if argument is not None:
            argument.annotation = None
    return ast.fix_missing_locations(node)


def _default(argument: ast.arg, value: ast.expr | None) -> ast.expr | None:
    """Return a default that shows the type as far as known: a literal's, unless an annotation tells more."""
    if value is None or (argument.annotation is None and _is_literal(value)):
        return value
    return ast.Constant(None)


def _own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes of a body, except those of functions and classes within it."""
    queue: list[ast.AST] = list(body)
    while queue:
        node = queue.pop()
        yield node
        if not (_is_function(node) or isinstance(node, (ast.ClassDef, ast.Lambda))):
            queue += ast.iter_child_nodes(node)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
