"""The three ways to a server, and the benchmark that may go before a launch."""

import pytest

from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Launch, Probe, Scenario, keys_at

SWARM = "swarm: {a: {behaviour: b}}\n"
BENCHMARK = Probe(kind="mlx_lm_benchmark")


def parsed(text: str, *launchers: str) -> Scenario:
    return loader.parse(SWARM + text, "s.yaml", {"b": {}}, ["opencode"], (), launchers or None)


@pytest.mark.parametrize(
    ("text", "probe"),
    [
        ("probe: mlx_lm_benchmark", BENCHMARK),
        ("probe: {kind: mlx_lm_benchmark}", BENCHMARK),
        ("probe: {}", BENCHMARK),
        ("probe: {prompt_tokens: 64k, batch: 4}", Probe(prompt_tokens=64_000, batch=4)),
        (
            "server: {launch: {ranks: 1}}\nprobe: {generation_tokens: 8, trials: 1}",
            Probe(generation_tokens=8, trials=1),
        ),
        ("", None),
    ],
)
def test_the_benchmark_as_it_may_be_written(text: str, probe: Probe | None) -> None:
    assert parsed(text).probe == probe


def test_its_keys() -> None:
    assert keys_at(("probe",)) == ["kind", "prompt_tokens", "generation_tokens", "batch", "trials"]


def test_a_launcher_with_what_it_is_given() -> None:
    server = parsed("server: {launcher: vllm, with: {gpus: 2, quick: true}, port: 9000}", "attach", "vllm").server
    assert (server.launcher, server.parameters, server.port) == ("vllm", {"gpus": 2, "quick": True}, 9000)
    assert (server.launch, server.attach) == (None, None)


def test_without_any_way_the_tiny_model_is_launched() -> None:
    assert parsed("server: {port: 9000}").server.launch == Launch(model="tiny")


@pytest.mark.parametrize(
    "text", ["probe: {trials: 1}", "server: {launcher: vllm, with: {gpus: 2}}", "probe: mlx_lm_benchmark"]
)
def test_what_is_dumped_reads_back_the_same(text: str) -> None:
    scenario = parsed(text)
    dumped = loader.dump(scenario)
    assert loader.parse(dumped, "again.yaml", {"b": {}}, ["opencode"]) == scenario
