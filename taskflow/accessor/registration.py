"""`ds.flow` for every dataset and tree of xarray, from `import taskflow` on, without loading xarray.

Where xarray is loaded already, its classes get `flow` at once; else a finder waits for its import, adds them to the end
of it and is gone. The code of `flow` is loaded when it is first used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

XARRAY, NAME, HOME = "xarray", "flow", "taskflow.accessor"


def register() -> None:
    """Give datasets and trees their `flow`, now or when xarray is imported. A second call changes nothing."""
    xarray = sys.modules.get(XARRAY)
    if xarray is None:
        if _FINDER not in sys.meta_path:
            sys.meta_path.insert(0, _FINDER)
    elif not hasattr(xarray.Dataset, NAME):
        xarray.register_dataset_accessor(NAME)(_of_a_dataset)
        xarray.register_datatree_accessor(NAME)(_of_a_tree)


def _of_a_dataset(ds: Any) -> Any:
    return import_module(f"{HOME}.flow").FlowAccessor(ds)


def _of_a_tree(tree: Any) -> Any:
    return import_module(f"{HOME}.charts").ChartsAccessor(tree)


class _Finder(MetaPathFinder):
    """Finds xarray where the other finders do, with a loader that then registers `flow`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != XARRAY:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _RegisteringLoader(spec.loader)
        return spec


class _RegisteringLoader(Loader):
    """The loader of xarray, which it hands back to the module, so that nothing else sees this one."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        if _FINDER in sys.meta_path:
            sys.meta_path.remove(_FINDER)
        register()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)  # whoever only looks for xarray asks its loader for files


_FINDER = _Finder()
