"""What a finished run prints: the table or its JSON, then whatever a person must act on."""

import json
import sys

from locust_agents import cli, headline, table
from locust_agents.cluster import peaks, restart
from locust_agents.locustfiles.conductor import Conductor


def show(conductor: Conductor, as_json: bool = False) -> None:
    """The figures to stdout, complaints to stderr. Says nothing of a run that never began."""
    summary, scenario, status = conductor.summary, conductor.running, conductor.exit_status()
    if as_json:
        print(json.dumps(conductor.as_json()))
    elif summary is not None and scenario is not None and summary.turns:
        print(table.render(summary, headline.lines(scenario, summary)))
        if (gaps := restart.words(conductor.gaps)) is not None:
            print(gaps)
        for line in () if conductor.lookout is None else peaks.lines(conductor.lookout.peaks()):
            print(line)
    if summary is not None and conductor.path is not None and not as_json:
        print(f"all of it: {conductor.path}")
    if conductor.interrupted:
        print("interrupted: turns that were open are recorded as cut", file=sys.stderr)
    for fault in sorted(set(conductor.plugin_faults)):
        print(fault, file=sys.stderr)
    if conductor.untrusted is not None:
        print(f"not to be trusted: {conductor.untrusted}", file=sys.stderr)
    if conductor.error is not None:
        print(cli.complaint(conductor.error), file=sys.stderr)
    elif status == 3:
        print("no turn was ok: look at `outcome` and `error` in turns.jsonl", file=sys.stderr)
