"""Decides which line of a plugin's own is named when it fails, and in which words."""

import os
import reprlib
import sysconfig
import traceback
from pathlib import Path
from types import CodeType, GeneratorType

import locust_agents
from locust_agents.errors import PluginError
from locust_agents.plugins.api import Behaviour

_OURS = os.path.dirname(locust_agents.__file__) + os.sep
# Ours too, but written as any plugin is.
_OUR_PLUGINS = tuple(
    os.path.join(_OURS, "plugins", folder) + os.sep for folder in ("behaviours", "profiles", "listeners")
)
_STANDARD = os.path.realpath(sysconfig.get_path("stdlib")) + os.sep
_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 60
_INSTALLED = os.sep + "site-packages"


def told(error: BaseException) -> str:
    """`explore.py:12: NameError: name 'x' is not defined`, in one line; without the place where no line is its own."""
    place, reason = line_of(error), reason_of(error)
    return reason if place is None else f"{place}: {reason}"


def reason_of(error: BaseException) -> str:
    """The class and the words of an error, in one line."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    words = " ".join(text.split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def line_of(error: BaseException) -> str | None:
    """`file:line` of the innermost call that stands in the plugin's own files, None where none does."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return _place(error.filename, error.lineno or 1)
    calls = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    first = next((file for file, _ in calls if _is_a_plugins(file)), None)
    if first is None:
        return None
    return next(_place(file, line) for file, line in reversed(calls) if _is_beside(file, first))


def innermost(error: BaseException) -> str:
    """`file:line: ` of the call that raised, whoever wrote it; nothing for what was never raised."""
    calls = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return f"{_place(*calls[-1])}: " if calls else ""


def is_of_a_call(error: BaseException) -> bool:
    """A behaviour was called with what it does not take, so that none of its own lines has run."""
    names = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return isinstance(error, TypeError) and bool(names) and names[-1] is Behaviour.__call__.__code__


def suspended_at(session: object) -> str | None:
    """`file:line` of the `yield` at which a session waits, inside whatever it yields from; None for no session."""
    while isinstance(session, GeneratorType) and isinstance(session.gi_yieldfrom, GeneratorType):
        session = session.gi_yieldfrom
    if not isinstance(session, GeneratorType) or session.gi_frame is None:
        return None
    return _place(session.gi_code.co_filename, session.gi_frame.f_lineno)


def no_step(behaviour: str, step: object, session: object) -> PluginError:
    """The session waits at the `yield` of something that cannot be done."""
    return PluginError(f"{_at(session)}behaviour {behaviour!r} yielded {_SHORT.repr(step)}, which is no step")


def no_session(behaviour: str, started: object, session: object) -> PluginError:
    """The session waits at the `yield` of a child that is none, such as a function that nobody called."""
    return PluginError(f"{_at(session)}behaviour {behaviour!r} started {_SHORT.repr(started)}, which is no session")


def defined_at(code: CodeType) -> str:
    """`file:line` of a function's `def`, or of its first decorator."""
    return _place(code.co_filename, code.co_firstlineno)


def shown(file: str | Path) -> str:
    """A path as its reader would type it: from the working folder where it lies below."""
    full = os.path.abspath(file)
    here = os.getcwd() + os.sep
    return full.removeprefix(here) if full.startswith(here) else full


def _at(session: object) -> str:
    place = suspended_at(session)
    return "" if place is None else f"{place}: "


def _place(file: str, line: int) -> str:
    return f"{shown(file)}:{line}"


def _is_a_plugins(file: str) -> bool:
    """Neither ours, nor the standard library's, nor what runs us."""
    if file.startswith("<"):
        return False
    if file.startswith(_OURS):
        return file.startswith(_OUR_PLUGINS)
    if _INSTALLED in file:
        return not any(f"{_INSTALLED}{os.sep}{name}{os.sep}" in file for name in ("gevent", "locust"))
    return not os.path.realpath(file).startswith(_STANDARD)


def _is_beside(file: str, first: str) -> bool:
    """In the plugin's own package or folder; what is installed below it is not its own."""
    folder = os.path.dirname(first)
    if file == first or not file.startswith(folder + os.sep) or folder.endswith(_INSTALLED):
        return file == first
    return _INSTALLED not in file[len(folder) :] and (first.startswith(_OURS) or not file.startswith(_OURS))
