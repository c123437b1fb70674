"""What travels to workers comes out as it went in."""

from locust_agents import plan
from locust_agents.plan import RunPlan
from locust_agents.prompts.sizing import Calibration

CALIBRATION = Calibration(
    nonce="zone é",
    tokens_per_char=0.31,
    message_tokens=4.5,
    preamble_tokens={"opencode": 9000, "opencode x 0.05": 450},
    system_chars={"opencode": 10_000},
    tool_chars={"opencode": 20_000},
    measured=True,
)
PLAN = RunPlan("run-1", "name: ü\nseed: 1\n", "http://127.0.0.1:8080", CALIBRATION, epoch=2)


def test_a_plan_survives_its_journey() -> None:
    text = plan.to_text(PLAN)
    assert plan.from_text(text) == PLAN
    assert "\n" not in text


def test_an_unmeasured_plan_too() -> None:
    bare = RunPlan("r", "", "http://a", Calibration("n"))
    assert plan.from_text(plan.to_text(bare)) == bare
    assert (bare.model, bare.epoch) == ("default_model", 1)
