"""How a page gets to the disk: whole at every moment, or not at all."""

from pathlib import Path

from locust_agents.errors import ScenarioError


def write(path: Path, text: str) -> Path:
    """An older page is replaced at once, or stays; raises ScenarioError where the file cannot be written."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        return part.replace(path)
    except OSError as error:
        raise ScenarioError(f"{path} cannot be written ({error.strerror}); name another file after --html") from None
