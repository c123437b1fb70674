"""What a process has loaded: the core knows no Locust and no gevent, the load process no mlx. Each in a fresh one."""

import subprocess
import sys
from pathlib import Path

import locust_agents

# A listener may talk to Locust, and is loaded where Locust runs; everything else of the plugins is pure.
CORE = """
import importlib, pkgutil, sys
import locust_agents, locust_agents.plugins, locust_agents.scenarios

FOLDERS = {"plugins", "scenarios", "cluster", "locustfiles"}
names = [found.name for found in pkgutil.walk_packages(locust_agents.__path__, "locust_agents.")
         if found.name.split(".")[1] not in FOLDERS]
for package in (locust_agents.plugins, locust_agents.scenarios):
    names += [found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
              if ".listeners" not in found.name]
"""
LOAD = """
import locust, importlib, pkgutil, sys
import locust_agents.locustfiles

LOCUSTFILES = {"coding_agents", "agents_ttft"}
names = [found.name for found in pkgutil.walk_packages(locust_agents.locustfiles.__path__, "locust_agents.locustfiles.")
         if found.name.rpartition(".")[2] not in LOCUSTFILES]
"""
IMPORT = """
for name in names:
    importlib.import_module(name)
print(len(names), *sorted({name.partition(".")[0] for name in sys.modules}))
"""


def loaded(code: str) -> tuple[int, set[str]]:
    """How many modules a fresh interpreter imported, and the top-level names that it had loaded then."""
    printed = subprocess.run([sys.executable, "-c", code + IMPORT], capture_output=True, text=True, check=True)
    count, *names = printed.stdout.split()
    return int(count), set(names)


def test_the_core_knows_no_locust_no_gevent_and_no_model() -> None:
    count, names = loaded(CORE)
    files = list(Path(locust_agents.__file__).parent.glob("[!_]*.py"))
    assert count > 2 * len(files) > 100
    assert names & {"locust", "gevent", "requests", "urllib3", "flask", "mlx", "mlx_lm", "transformers"} == set()


def test_the_load_process_knows_no_model() -> None:
    count, names = loaded(LOAD)
    assert count > 15
    assert {"locust", "gevent"} <= names
    assert names & {"mlx", "mlx_lm", "transformers", "tokenizers", "torch", "numpy"} == set()
