"""`python -m tests.benchmarks [NAME]…`: runs all benchmarks, or those named, each in a fresh process."""

import argparse
import subprocess
import sys

from tests.benchmarks import printed

_NAMES = ("ttft_error", "cpu_per_event", "conversation_cost", "memory", "start_up")


def main() -> int:
    """Runs them one after the other; 1 where one could not be measured. No figure changes the exit status."""
    parser = argparse.ArgumentParser("python -m tests.benchmarks", description="Figures, printed and never asserted.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(_NAMES)} (default: all)")
    names = parser.parse_args().names or _NAMES
    if unknown := set(names) - set(_NAMES):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    failed = 0
    for name in names:
        print(f"\n{name}: {printed.machine()}", flush=True)
        failed += subprocess.run([sys.executable, "-m", f"tests.benchmarks.{name}"], check=False).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
