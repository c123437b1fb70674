"""What Locust's own report says of our run: its verdict, its table, and where the rest is, in a section at the end."""

import os
from pathlib import Path

from flask import Response, request
from locust.env import Environment
from markupsafe import Markup

from locust_agents import verdict
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.pages import figures

_STYLE = """
#locust-agents { background: #fff; color: #1b1f24; padding: 16px 24px; font: 15px/1.5 system-ui, sans-serif; }
#locust-agents table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
#locust-agents th, #locust-agents td { padding: 4px 12px 4px 0; text-align: left; border-bottom: 1px solid #d5dae0; }
#locust-agents .number { text-align: right; }
#locust-agents .wide { overflow-x: auto; }
#locust-agents .note { color: #57606a; }
"""


def install(environment: Environment, part: Conductor) -> None:
    """Adds the section to the report that the web UI offers, and to the file that `--html` names."""
    environment.events.quit.add_listener(lambda **_: add_to_file(environment, part))
    if environment.web_ui is not None and environment.web_ui.app is not None:
        environment.web_ui.app.after_request(lambda response: _answered(response, part))


def section(part: Conductor) -> Markup:
    """HTML; empty where no run has ended yet."""
    if part.summary is None or part.path is None:
        return Markup()
    word = f"{verdict.word(part.exit_status())} (status {part.exit_status()})"
    tables = figures.rows(part.summary) + figures.limits(part.summary)
    where = (part.path / "report.html").absolute()
    return Markup(
        '<section id="locust-agents"><style>{}</style><h2>Coding agents: {}</h2>{}<p>Charts, each turn and the reasons'
        ' are in <a href="{}">{}</a>.</p></section>'
    ).format(Markup(_STYLE), word, tables, where.as_uri(), where)


def added(page: str, part: Conductor) -> str:
    """The page with the section as its last part; as it was where it has no end to be found."""
    before, end, after = page.rpartition("</body>")
    return f"{before}{section(part)}{end}{after}" if end else page


def add_to_file(environment: Environment, part: Conductor) -> None:
    """Locust has written its file by now; one that it could not write is its own complaint."""
    named = getattr(environment.parsed_options, "html_file", None)
    if named and os.path.isfile(named):
        path = Path(named)
        path.write_text(added(path.read_text(encoding="utf-8"), part), encoding="utf-8")


def _answered(response: Response, part: Conductor) -> Response:
    if request.path.endswith("/stats/report") and response.status_code == 200:
        response.set_data(added(response.get_data(as_text=True), part))
    return response
