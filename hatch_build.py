"""Compiles the packing kernel into the wheel where there is a C compiler; without one the wheel is pure Python."""

from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNEL = Path("ge_dialect/analysis/packing/kernel")


class CustomBuildHook(BuildHookInterface[Any]):
    """Runs for wheels and for editable installs, where the library lies beside its sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; on success add the library and mark the wheel as made for this platform, for any Python 3."""
        if self.target_name != "wheel":
            return
        path = Path(self.root) / KERNEL / "build.py"
        spec = importlib.util.spec_from_file_location("build_kernel", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        library = module.build()
        if library is None:
            self.app.display_warning("no C compiler: plans are searched for in Python, slower")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["artifacts"].append(str(KERNEL / library.name))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
