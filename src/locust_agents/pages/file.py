"""How a page gets to the disk: whole at every moment, or not at all."""

from pathlib import Path

from locust_agents.errors import ScenarioError


def write(path: Path, text: str) -> Path:
    """An older page is replaced at once, or stays; raises ScenarioError where the file cannot be written.

    What is no plain file is written to: to replace /dev/stdout, or a link, would be to destroy it.
    """
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_text(text, encoding="utf-8")
            return path
        return _replaced(path, text)
    except OSError as error:
        raise ScenarioError(f"{path} cannot be written ({error.strerror}); name another file after --html") from None


def _replaced(path: Path, text: str) -> Path:
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        return part.replace(path)
    finally:
        part.unlink(missing_ok=True)  # the half of a page that found no room
