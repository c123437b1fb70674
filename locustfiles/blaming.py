"""What a run knows beforehand of its server's prompt cache, for the causes of misses."""

from collections.abc import Mapping
from pathlib import Path

from locust_agents.cluster.options import model_facts
from locust_agents.cluster.options.cache_entries import prompt_cache
from locust_agents.cluster.tiny import model
from locust_agents.misses.blame import Blamer
from locust_agents.prompts.sizing import Calibration
from locust_agents.scenarios.model import Launch, Scenario


def blamer_of(scenario: Scenario, measured: Calibration) -> Blamer:
    """Knows the entries that the server was told to keep, and whether its model's cache can be cut back."""
    launch = scenario.server.launch
    facts = None if launch is None else model_facts.read(_folder(launch))
    return Blamer(prompt_cache(scenario.server.options, launch is not None, facts), _starts(measured))


def _folder(launch: Launch) -> Path:
    """Where the model lies on this machine; a folder that is not here tells nothing."""
    if launch.model in model.VARIANTS:
        return model.ensure(launch.model, lambda _: None)
    return Path(launch.model).expanduser()


def _starts(measured: Calibration) -> Mapping[str, int]:
    """The measured tokens of each profile's preamble, by the profile's name alone."""
    return {key.partition(" x ")[0]: tokens for key, tokens in measured.preamble_tokens.items()}
