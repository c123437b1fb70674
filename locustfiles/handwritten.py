"""From user classes, generated or written by hand, to what a run must know of them."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeGuard

from locust import User
from locust.env import Environment

from locust_agents.errors import ScenarioError
from locust_agents.limits import parse_limit
from locust_agents.plugins import registry
from locust_agents.plugins.api import Behaviour
from locust_agents.profile import Profile
from locust_agents.prompts import roles, scaling
from locust_agents.scenarios.model import Attach, Scenario, Server


class AgentClass(Protocol):
    """A CodingAgent class, as far as it is looked at here."""

    __name__: str
    host: str | None
    behaviour: Behaviour | str
    profile: Profile | str
    parameters: Mapping[str, Any]
    scale: float
    context_tokens: int | None


def profiles_of(user_classes: Iterable[type[User]]) -> list[tuple[Profile, float]]:
    """Each (profile, scale) that these classes send, once; a product in another role is another profile."""
    pairs = [
        (profile, scaling.scale_of(profile, cls.scale, cls.context_tokens))
        for cls in filter(_is_ours, user_classes)
        for profile in roles.used(registry.behaviour(cls.behaviour), registry.profile(cls.profile), cls.parameters)
    ]
    return list({(profile.name, scale): (profile, scale) for profile, scale in pairs}.values())


def scenario_of(environment: Environment) -> Scenario:
    """What a locustfile with hand-written classes says: attach to the host, until Locust's own end."""
    ours = [cls for cls in environment.user_classes if _is_ours(cls)]
    name = " and ".join(cls.__name__ for cls in ours) or "this locustfile"
    host = environment.host or next((cls.host for cls in ours if cls.host), None)
    if host is None:
        raise ScenarioError(f"{name} has no host: give --host http://mac1:8080, or set `host` in the class")
    failures = parse_limit("failures", "0%", ())
    return Scenario(name=name, server=Server(attach=Attach(url=host)), swarm={}, limits=(failures,))


def _is_ours(user_class: object) -> TypeGuard[AgentClass]:
    return hasattr(user_class, "behaviour") and hasattr(user_class, "profile")
