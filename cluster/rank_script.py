"""Decides what happens on a rank's host before its server begins: the words' `~`, where it logs, in which folder.

A POSIX sh one-liner that mlx.launch runs there as `/bin/sh -c SCRIPT sh [FOLDER] PYTHON …`, and that ends in `exec`, so
that the pid which mlx.launch wrote down stays the server's.
"""

LOGS = "LOCUST_AGENTS_LOGS"
"""The environment variable that tells each rank in which folder its log lies."""

ALONE = "unset MLX_HOSTFILE; "
"""For one rank mlx.launch (0.32.4) names a hostfile that is empty, over which the ring backend fails."""

HOME = 'for word do shift; case $word in "~"|"~/"*) word=$HOME${word#"~"};; esac; set -- "$@" "$word"; done; '
"""mlx.launch quotes every word, and inside quotes no shell expands `~`: each host puts its own home there."""

LOG = (
    "rank=${MLX_RANK:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}}; "  # mpirun numbers them itself
    f'if [ -d "${LOGS}" ] && [ -w "${LOGS}" ]; then exec >"${LOGS}/rank-$rank.log" 2>&1; echo "pid $$"; '
    'else echo "rank $rank pid $$"; fi; '
)
"""A log of its own where this run's folder is at hand: mlx.launch merges what all ranks say, unlabelled.

On another machine it is not, and the output stays in the launcher's stream, after one line with rank and pid.
"""

FOLDER = 'cd "$1" || exit 1; shift; '
"""mlx.launch's own --cwd expands no `~`, and goes on in another folder when that one is missing."""

EXEC = 'exec "$@"'


def rank_script(is_alone: bool, has_folder: bool) -> str:
    """The script for one of one or of several ranks; with a folder, the first word is where to run."""
    return (ALONE if is_alone else "") + HOME + LOG + (FOLDER if has_folder else "") + EXEC
