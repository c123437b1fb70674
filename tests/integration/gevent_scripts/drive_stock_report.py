"""Locust's report of a run of ours, as its web UI serves it and as --html writes it; prints what is in them as JSON."""

import locust  # noqa: F401 (first: it patches the standard library)

# isort: split
import json
import sys
from argparse import Namespace
from pathlib import Path

from locust.env import Environment
from locust.event import Events

from locust_agents import stored_run
from locust_agents.locustfiles import conductor, stock_report


def main(folder: Path) -> None:
    page = folder / "locust.html"
    environment = Environment(events=Events())
    environment.create_local_runner()
    ui = environment.create_web_ui("127.0.0.1", 0, delayed_start=True)
    environment.parsed_options = Namespace(html_file=str(page))
    part = conductor.of(environment)
    stock_report.install(environment, part)
    assert ui.app is not None
    client = ui.app.test_client()
    before = client.get("/stats/report").get_data(as_text=True)
    page.write_text(before)
    part.path, part.summary = folder, stored_run.summary(stored_run.read(folder))
    after = client.get("/stats/report").get_data(as_text=True)
    other = client.get("/stats/requests").get_data(as_text=True)
    environment.events.quit.fire(exit_code=0)
    print(json.dumps({"before": before, "after": after, "other": other, "file": page.read_text()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
