"""The wheel holds one top-level name and every module that the checkout holds; the checkout runs as it is."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("plugins", "scenarios", "cluster", "locustfiles")
SHIPPED = (".py", ".yaml", ".json", ".html", ".css", ".js")


def test_the_wheel_holds_what_the_checkout_holds(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    shipped = {name for name in names if ".dist-info/" not in name}
    ours = {path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SHIPPED}
    wanted = {f"locust_agents/{path.relative_to(ROOT)}" for path in ours}
    core = ROOT / "src/locust_agents"
    inside = {path.relative_to(core) for path in core.rglob("*.*") if path.suffix in SHIPPED}
    wanted |= {f"locust_agents/{path}" for path in inside if path.parts[0] not in FOLDERS}
    assert shipped == wanted | {"locust_agents/py.typed"}


def test_each_folder_is_linked_into_the_package() -> None:
    for folder in FOLDERS:
        assert (ROOT / "src/locust_agents" / folder).resolve() == ROOT / folder
