"""Where scenario files are found: those that ship by name, others by path."""

from importlib import resources
from pathlib import Path

from locust_agents.errors import ScenarioError
from locust_agents.scenarios import suggest


def shipped() -> dict[str, Path]:
    """Return the scenarios that come with the package, by name."""
    folder = Path(str(resources.files("locust_agents.scenarios")))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find(name_or_path: str) -> Path:
    """Return the file that is meant: a path if there is one, else a shipped name; raises ScenarioError for neither."""
    path, names = Path(name_or_path), shipped()
    if path.exists() and not path.is_dir():
        return path  # a pipe of the shell, `<(…)`, is no regular file
    if name_or_path in names:
        return names[name_or_path]
    if path.is_dir():
        raise ScenarioError(f"{name_or_path}: is a folder; name a scenario file in it")
    tail = suggest.instead(path.stem, names, "the shipped ones are")
    raise ScenarioError(f"{name_or_path}: no such file, and no scenario of this name ships; {tail}")


def text_of(path: Path) -> str:
    """Return a file's text; raises ScenarioError when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
