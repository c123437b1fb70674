"""The tab's routes as Locust's page serves them, with a base path and with a login; prints answers as JSON."""

import locust  # noqa: F401 (first: it patches the standard library)

# isort: split
import json
import sys
from argparse import Namespace
from typing import Any

import flask_login  # type: ignore[import-untyped]
import gevent
from locust.env import Environment
from locust.event import Events
from locust.web import WebUI

from locust_agents.locustfiles import conductor
from locust_agents.locustfiles.web import tab
from locust_agents.scenarios import with_plugins

HOSTILE = "</script><b>$$x$$"
SCENARIO = f"""
name: "{HOSTILE}"
server: {{attach: "http://127.0.0.1:9"}}
duration: 5s
swarm: {{fixers: {{behaviour: fix_failing_test, agents: 3}}}}
"""
ROUTES = ("/", "/agents/live", "/agents/charts/light", "/agents/charts/sepia", "/agents/tab.js", "/agents/tab.css")


def page(base: str | None, login: bool) -> tuple[Environment, WebUI]:
    options = {"num_users": 1, "spawn_rate": 1, "stats_history_enabled": False, "run_time": None}
    environment = Environment(events=Events(), parsed_options=Namespace(web_base_path=base, **options))
    environment.create_local_runner()
    ui = environment.create_web_ui("127.0.0.1", 0, web_base_path=base, web_login=login, delayed_start=True)
    part = conductor.of(environment)
    part.scenario = with_plugins.parse(SCENARIO, "here")
    tab.install(environment, part, ui)
    assert ui.app is not None
    if login:
        ui.app.secret_key = "k"
        ui.login_manager.user_loader(lambda name: flask_login.UserMixin() if name else None)
    return environment, ui


def asked(ui: WebUI, paths: tuple[str, ...], base: str = "") -> dict[str, Any]:
    assert ui.app is not None
    answers = {path: ui.app.test_client().get(base + path) for path in paths}
    return {path: [answer.status_code, answer.get_data(as_text=True)] for path, answer in answers.items()}


def main() -> None:
    sys.argv = ["locust"]
    environment, ui = page("/load", login=False)
    found = {"based": asked(ui, (*ROUTES, "/agents/bokeh.min.js"), "/load"), "beside": asked(ui, ROUTES[1:])}
    assert environment.runner is not None
    environment.runner.shape_greenlet = gevent.spawn(gevent.sleep, 60)
    found["preparing"] = asked(ui, ("/", "/stats/requests"), "/load")
    found["guarded"] = asked(page(None, login=True)[1], (*ROUTES, "/agents/bokeh.min.js"))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
