"""Decides what function may be a behaviour, and what of its parameters a scenario may set."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from locust_agents.plugins.agent import Agent
from locust_agents.plugins.steps import Session


@dataclass(frozen=True)
class Behaviour:
    """A named generator function; `parameters` are those that a scenario may set in `with:`."""

    name: str
    function: Callable[..., Session]
    parameters: Mapping[str, inspect.Parameter]

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def __call__(self, agent: Agent, **parameters: Any) -> Session:
        """Starts a session of it."""
        return self.function(agent, **parameters)


def behaviour(function: Callable[..., Session]) -> Behaviour:
    """Makes a behaviour of a generator function whose first parameter is the agent."""
    parameters = dict(inspect.signature(function, eval_str=True).parameters)
    if not inspect.isgeneratorfunction(function) or not parameters:
        raise TypeError(f"{function.__qualname__}: a behaviour is a generator function that takes the agent first")
    parameters.pop(next(iter(parameters)))
    return Behaviour(function.__name__, function, parameters)
