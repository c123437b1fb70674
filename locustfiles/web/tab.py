"""The Agents tab in Locust's own page: its routes, behind that page's login and base path, and what it is given."""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gevent
from flask import Blueprint, Response, request, send_from_directory
from gevent import subprocess
from locust.env import Environment
from locust.runners import STATE_INIT, STATE_SPAWNING
from locust.web import WebUI

from locust_agents.locustfiles.conductor import Conductor
from locust_agents.locustfiles.web.feed import Feed

_OURS = Path(__file__).parent
_PUT = '<link rel="stylesheet" href="./agents/tab.css"><script src="./agents/tab.js"></script></body>'
_BOKEH = "bokeh.min.js"
_KEPT_S = 86_400


def install(environment: Environment, part: Conductor, web_ui: WebUI) -> None:
    """To be called before the page is served."""
    tab = _Tab(part)
    base = getattr(environment.parsed_options, "web_base_path", None) or ""
    pages = Blueprint("agents", __name__, url_prefix=f"{base}/agents")
    routes: tuple[tuple[str, str, Callable[..., Response]], ...] = (
        ("/live", "live", tab.live),
        ("/charts/<look>", "charts", tab.charts),
        ("/<any('tab.js', 'tab.css'):name>", "ours", _ours),
        (f"/{_BOKEH}", "bokeh", _bokeh),
    )
    for rule, endpoint, view in routes:
        pages.add_url_rule(rule, endpoint, web_ui.auth_required_if_enabled(view))
    assert web_ui.app is not None
    web_ui.app.register_blueprint(pages)
    web_ui.app.after_request(lambda response: _put_in(response, environment))
    tabs = web_ui.template_args.get("extended_tabs", [])
    web_ui.template_args["extended_tabs"] = [*tabs, {"title": "Agents", "key": "agents"}]
    entries = {} if part.scenario is None else {name: entry.agents for name, entry in part.scenario.swarm.items()}
    web_ui.template_args["agents"] = list(entries.items())


class _Tab:
    """One for each page; its charts are drawn up once for each set of entries."""

    def __init__(self, part: Conductor) -> None:
        self._feed = Feed(part)
        self._drawn: dict[tuple[str, ...], gevent.Greenlet] = {}
        self._draw()

    def live(self) -> Response:
        """What the tab shows at this moment."""
        return _json(self._feed.document())

    def charts(self, look: str) -> Response:
        """Bokeh's documents for a light or a dark page, by name."""
        documents = self._draw().get()
        return _json(json.dumps(documents[look]).encode()) if look in documents else Response(status=404)

    def _draw(self) -> gevent.Greenlet:
        entries = tuple(self._feed.entries())
        if entries not in self._drawn:
            self._drawn = {entries: gevent.spawn(_drawn, entries)}
        return self._drawn[entries]


def _drawn(entries: tuple[str, ...]) -> dict[str, Any]:
    """In a process of its own: Bokeh's import takes a second, in which no stream here could be read.

    In a session of its own: Ctrl-C is not its.
    """
    command = [sys.executable, "-m", "locust_agents.locustfiles.web.charts"]
    made = subprocess.run(
        command, input=json.dumps(entries).encode(), stdout=subprocess.PIPE, check=True, start_new_session=True
    )
    found: dict[str, Any] = json.loads(made.stdout)
    return found


def _ours(name: str) -> Response:
    return send_from_directory(_OURS, name, max_age=0)


def _bokeh() -> Response:
    spec = importlib.util.find_spec("bokeh")  # found, not imported
    assert spec is not None
    assert spec.origin is not None
    return send_from_directory(Path(spec.origin).parent / "server/static/js", _BOKEH, max_age=_KEPT_S)


def _json(body: bytes) -> Response:
    return Response(body, mimetype="application/json", headers={"Cache-Control": "no-store"})


def _put_in(response: Response, environment: Environment) -> Response:
    """Locust's own page gets our script as its last; and both it and its polls learn of a start that takes its time."""
    if response.status_code != 200 or request.endpoint not in ("locust.index", "locust.request_stats"):
        return response
    if request.endpoint == "locust.index":
        before, end, after = response.get_data(as_text=True).rpartition("</body>")
        state = f"<script>window.templateArgs.state = {json.dumps(STATE_SPAWNING)}</script>"
        response.set_data(f"{before}{state if _is_preparing(environment) else ''}{_PUT}{after}" if end else after)
    elif _is_preparing(environment):
        response.set_data(json.dumps({**response.get_json(), "state": STATE_SPAWNING}))
    return response


def _is_preparing(environment: Environment) -> bool:
    """The server starts and is measured: to Locust nothing runs yet, and its page would show the start form again."""
    runner = environment.runner
    return runner is not None and runner.state == STATE_INIT and runner.shape_greenlet is not None
