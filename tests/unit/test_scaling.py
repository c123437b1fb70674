"""By how much a run shrinks a profile's prompts."""

import dataclasses

import pytest

from locust_agents.plugins import registry
from locust_agents.prompts import scaling

PROFILE = dataclasses.replace(registry.profile("opencode"), window_tokens=64_000)


@pytest.mark.parametrize(
    ("scale", "context", "wanted"),
    [
        pytest.param(1.0, None, 1.0, id="as it is"),
        pytest.param(0.05, None, 0.05, id="the scenario's own"),
        pytest.param(1.0, 16_000, 0.25, id="a smaller window"),
        pytest.param(0.5, 16_000, 0.125, id="both"),
        pytest.param(1.0, 128_000, 1.0, id="a window does not grow"),
        pytest.param(0.5, 128_000, 0.5, id="nor what the scale made of it"),
    ],
)
def test_scale(scale: float, context: int | None, wanted: float) -> None:
    assert scaling.scale_of(PROFILE, scale, context) == wanted
