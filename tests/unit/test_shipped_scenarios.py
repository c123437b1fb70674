"""Every scenario that ships: it says how to run it and at which scale, is valid with all of its cells, and ends."""

import pytest

from locust_agents.cluster import check_command, launching
from locust_agents.cluster.tiny import recipe
from locust_agents.scenarios import loader, with_plugins
from locust_agents.sweep import cells as sweep_cells

SHIPPED = loader.shipped()
OF_THE_ISSUE = (
    "prefill-step agents-1-2-4-8 giant-among-short prompt-cap cache-size pipeline-or-tensor depth idle-return overnight"
).split()


def test_all_that_were_asked_for_ship() -> None:
    assert {"quickstart", *OF_THE_ISSUE} <= SHIPPED.keys()


@pytest.mark.parametrize("name", OF_THE_ISSUE)
def test_it_says_how_it_is_run_and_at_which_scale(name: str) -> None:
    head = "\n".join(SHIPPED[name].read_text().splitlines()[:4])
    scenario = with_plugins.load(SHIPPED[name])
    command = "run" if scenario.sweep is None else "sweep"
    assert f"locust-agents {command} {name}" in head
    assert f"SCALE 1/{1 / scenario.scale:g}" in head
    assert "embedded model" in head


@pytest.mark.parametrize("name", OF_THE_ISSUE)
def test_it_is_short_on_the_embedded_model_and_has_limits(name: str) -> None:
    scenario = with_plugins.load(SHIPPED[name])
    launch = scenario.server.launch
    assert launch is not None
    assert (launch.model in recipe.VARIANTS, launch.hostfile) == (True, None)
    assert len(scenario.limits) > 1
    assert scenario.load_s is not None
    assert scenario.load_s <= 60 or name == "overnight"


@pytest.mark.parametrize("name", OF_THE_ISSUE)
def test_check_has_nothing_against_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_command.main([name]) == 0
    assert "warning:" not in capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name in OF_THE_ISSUE if name not in ("giant-among-short", "overnight")])
def test_every_cell_of_it_can_be_launched(name: str) -> None:
    sweep = with_plugins.load(SHIPPED[name]).sweep
    assert sweep is not None
    cells = sweep_cells.make(sweep, lambda overrides: with_plugins.load(SHIPPED[name], overrides))
    assert len(cells) > 1
    for cell in cells:
        assert cell.scenario.server.launch is not None
        launching.launchable(cell.scenario, cell.scenario.server.launch, lambda _: None)
