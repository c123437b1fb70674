"""`python -m locust_agents`: the command, by the interpreter that has the package."""

import sys

from locust_agents import cli

if __name__ == "__main__":
    sys.exit(cli.main())
