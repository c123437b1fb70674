"""Hands each record to the run's listeners, in a thread of their own, so that none stands between two reads."""

import dataclasses
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import gevent
from gevent import monkey

from locust_agents.errors import PluginError
from locust_agents.plugins import fault_lines, files, registry
from locust_agents.plugins.api import Listener
from locust_agents.records import TurnRecord
from locust_agents.scenarios.model import Scenario

# A true thread and its queue: what gevent puts in their place would run in the loop that takes the times.
_Queue: Any = monkey.get_original("queue", "SimpleQueue")
_start_thread: Callable[..., int] = monkey.get_original("_thread", "start_new_thread")
# How long the end of a run waits for what listeners have not heard yet.
_LAST_WORDS_S = 5.0
_LOOK_S = 0.02


class Listening:
    """The listeners of one run. One that raises is told of once, and hears nothing more."""

    def __init__(self, scenario: Scenario, fault: Callable[[str], None]) -> None:
        """Makes each listener; raises PluginError for one that cannot be made. `fault` takes one line."""
        self._fault = fault
        self._listeners = {name: _made(name, given) for name, given in chosen(scenario).items()}
        self._records: Any = _Queue()
        self._is_over = not self._listeners
        if self._listeners:
            _start_thread(self._hear, ())

    def take(self, record: TurnRecord) -> None:
        """A turn has ended. Returns at once."""
        if self._listeners:
            self._records.put(record)

    def close(self) -> None:
        """Lets the listeners hear what is left, for some seconds, and closes those that have a `close`."""
        self._records.put(None)
        until = perf_counter() + _LAST_WORDS_S
        while not self._is_over and perf_counter() < until:
            gevent.sleep(_LOOK_S)
        if not self._is_over:
            names = ", ".join(map(repr, self._listeners))
            self._fault(f"still busy {_LAST_WORDS_S:.0f} s after the run, with records not heard (listener {names})")

    def _hear(self) -> None:
        while (record := self._records.get()) is not None:
            shown = _copy(record)
            for name, listener in list(self._listeners.items()):
                self._call(name, listener.on_turn, shown)
        for name, listener in list(self._listeners.items()):
            if callable(close := getattr(listener, "close", None)):
                self._call(name, close)
        self._is_over = True

    def _call(self, name: str, method: Callable[..., object], *arguments: object) -> None:
        try:
            method(*arguments)
        except (Exception, SystemExit) as error:  # noqa: BLE001 (the one fence around all listeners)
            self._listeners.pop(name)
            self._fault(f"{fault_lines.told(error)} (listener {name!r}, which heard nothing more of this run)")


def chosen(scenario: Scenario) -> dict[str, Mapping[str, Any]]:
    """Those that the scenario names, with their parameters, and those of plugin files, which were named themselves."""
    return {**{name: {} for name in files.of_kind("listeners")}, **scenario.listeners}


def _made(name: str, given: Mapping[str, Any]) -> Listener:
    maker = registry.listener(name)
    try:
        return maker.make(**given)
    except PluginError:
        raise  # it says itself what is to be done
    except (Exception, SystemExit) as error:
        raise PluginError(f"{fault_lines.told(error)} (listener {name!r} cannot be made)") from error


def _copy(record: TurnRecord) -> TurnRecord:
    """Nothing that a listener does to it reaches the record that figures are made from."""
    fields = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    own: dict[str, Any] = {name: dict(value) if isinstance(value, Mapping) else value for name, value in fields.items()}
    return TurnRecord(**own)
