"""Machine code for what Python calls only: numba optimises and translates each function anew that another one calls."""

from importlib import import_module
from typing import Any

from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.cpu import CPUContext as _CPUContext

CPUContext: Any = _CPUContext
_dynfunc = import_module("numba._dynfunc")
_get_executable = CPUContext.get_executable


def link_late() -> None:
    """Let numba put code together where it is called from Python."""
    JITCPUCodegen._library_class = Library
    CPUContext.get_executable = get_executable


class Library(JITCodeLibrary):
    """The code of one function; what it calls, at any depth, is added when it is translated for the processor."""

    _to_link: Any = None

    def add_linking_library(self, library: Any) -> None:
        """Note what this code calls."""
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        """Link, optimise and translate."""
        for library in self._called({self}):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()

    def _called(self, seen: set) -> list:
        found = []
        for library in self._linking_libraries:
            if library not in seen:
                seen.add(library)
                found.append(library)
                if isinstance(library, Library) and not library._finalized:
                    found += library._called(seen)
        return found

    def _get_module_for_linking(self) -> Any:
        if self._finalized:
            return super()._get_module_for_linking()
        if self._to_link is None:
            self._to_link = self._final_module.clone()
            for function in self._to_link.functions:
                if not function.is_declaration and function.linkage.name == "external":
                    function.linkage = "linkonce_odr"
        return self._to_link

    def _optimize_functions(self, module: Any) -> None:
        """Leave out functions that are only declared."""
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


def get_executable(self: Any, library: Any, description: Any, environment: Any) -> Any:
    """Return what Python calls; for a function without an entry from Python, a mere name, and nothing is translated."""
    if library._finalized or _defines(library, description.llvm_cpython_wrapper_name):
        return _get_executable(self, library, description, environment)
    name = description.qualname.split(".")[-1]
    return _dynfunc.make_function(description.lookup_module(), name, "", 0, environment, (library,))


def _defines(library: Any, name: str) -> bool:
    try:
        return not library._final_module.get_function(name).is_declaration
    except NameError:
        return False
