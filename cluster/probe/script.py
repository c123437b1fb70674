"""Decides what a probe asks of a host: one POSIX sh script for macOS and Linux, which answers in `key value` lines.

It goes to `sh -s` over stdin, so that no shell on the way has to be quoted for. What the platform lacks is answered
with `key skipped REASON`. It writes nothing on the host.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

BEGIN = "locust-agents-probe"
"""The first line of an answer: what stands before it is a greeting of the host's own."""
END = "end"

PYTHON_S = 8
"""How long the host's Python may take to find two packages; a folder on a network disk can hang it."""

_WORDS = r"""
LC_ALL=C; export LC_ALL
say() { printf '%s\n' "$*"; }
has() { command -v "$1" >/dev/null 2>&1; }
home() { case $1 in "~"|"~/"*) say "$HOME${1#"~"}";; *) say "$1";; esac; }
go() {  # where the ranks would run: mlx.launch tries the folder of the launch first
  cd "$asked_here" 2>/dev/null
  [ -z "$asked_folder" ] || cd "$(home "$asked_folder")" 2>/dev/null
}
"""

_SYSTEM = r"""
about_system() {
  system=$(uname -s)
  say "system $system"
  case $system in
    Darwin) boot=$(sysctl -n kern.bootsessionuuid 2>/dev/null); memory=$(sysctl -n hw.memsize 2>/dev/null);;
    Linux) boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
      memory=$(awk '$1 == "MemTotal:" { printf "%.0f", $2 * 1024 }' /proc/meminfo 2>/dev/null);;
  esac
  say "boot ${boot:-skipped $system does not tell}"
  say "memory ${memory:-skipped $system does not tell}"
}
"""

_PYTHON = r"""
versions='
import signal
signal.alarm(PYTHON_S)
import platform
from importlib import metadata
print("python_version", platform.python_version())
for name in ("mlx", "mlx-lm"):
    try:
        print(name, metadata.version(name))
    except metadata.PackageNotFoundError:
        print(name, "missing")
'
about_python() {
  if [ -d "$python" ] || [ ! -x "$python" ]; then say "python missing"; return; fi
  say "python $python"
  said=$("$python" -c "$versions" 2>&1) && { say "$said"; return; }
  status=$?
  [ $status != 142 ] || said="no answer in PYTHON_S s"  # 128 + SIGALRM
  said=$(say "$said" | tail -n 1)
  say "python_broken ${said:-exit status $status}"
}
""".replace("PYTHON_S", str(PYTHON_S))

_MODEL = r"""
cached() {  # the snapshot that huggingface_hub would load
  case $asked_model in [/~.-]*) return;; esac
  hub=${HF_HUB_CACHE:-${HUGGINGFACE_HUB_CACHE:-${HF_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/huggingface}/hub}}
  folder=$(home "$hub")/models--$(say "$asked_model" | sed 's,/,--,g')
  commit=$(cat "$folder/refs/main" 2>/dev/null) && say "$folder/snapshots/$commit"
}
about_model() {
  folder=$(home "$asked_model")
  [ -d "$folder" ] || folder=$(cached)
  if [ ! -d "$folder" ]; then say "model missing"; return; fi
  say "model $folder"
  [ -f "$folder/config.json" ] || say "model_config missing"
  say "weights $(ls -lnL "$folder"/model*.safetensors 2>/dev/null |
    awk '{ files += 1; bytes += $5 } END { printf "%.0f %.0f", files, bytes }')"
}
"""

_PORTS = r"""
listeners() {  # port and address of everybody who listens on a port that is asked for
  if [ "$system" = Linux ] && has ss; then ss -ltn; else netstat -an; fi 2>/dev/null | awk -v asked=" $asked_ports " '
    $1 == "LISTEN" || (/^tcp/ && $6 == "LISTEN") {
      count = split($4, part, /[.:]/)
      if (index(asked, " " part[count] " ")) print part[count], $4
    }'
}
holder() {  # the pid behind a port, where the system shows it
  if has lsof; then lsof -nP -iTCP:"$1" -sTCP:LISTEN -t 2>/dev/null | head -n 1
  elif has ss; then ss -ltnp 2>/dev/null | awk -v port="$1" '
    $4 ~ "[:]" port "$" && match($0, /pid=[0-9]+/) { print substr($0, RSTART + 4, RLENGTH - 4); exit }'; fi
}
about_ports() {
  if ! has ss && ! has netstat; then say "ports skipped neither ss nor netstat"; return; fi
  say "ports $asked_ports"
  listeners | while read -r port address; do
    pid=$(holder "$port")
    say "listener $port $address ${pid:-?} $([ -z "$pid" ] || ps -ww -o args= -p "$pid" | cut -c 1-120)"
  done
}
about_servers() {
  if ! list=$(ps -A -ww -o pid= -o user= -o args= 2>/dev/null); then say "servers skipped no ps"; return; fi
  say "servers listed"
  say "$list" | awk '/mlx_lm[. \/]server/ && $3 !~ /(^|\/)([bdksz]*a*sh|awk)$/ { print "server", $1, $2 }'
}
"""

_MAC = r"""
about_mac() {
  if [ "$system" != Darwin ]; then say "sleep skipped not macOS"; say "firewall skipped not macOS"; return; fi
  power=$(pmset -g 2>/dev/null)
  sleep=$(say "$power" | awk '$1 == "sleep" { print $2 }')
  say "sleep ${sleep:-skipped pmset does not tell}"
  say "low_power $(say "$power" | awk '$1 == "lowpowermode" { print $2 }')"
  state=$(socketfilterfw --getglobalstate 2>/dev/null |
    sed -n 's/.*State = \([0-9]\).*/\1/p')
  say "firewall ${state:-skipped socketfilterfw does not tell}"
}
about_rdma() {
  if ! has ibv_devices; then say "rdma skipped no ibv_devices"; return; fi
  say "rdma $(ibv_devices 2>/dev/null | awk '$2 ~ /^[0-9a-f:]+$/ { printf "%s ", $1 }')"
}
"""

_MAIN = r"""
main() {
  say BEGIN
  go || say "folder missing"
  python=$(command -v "$(home "$asked_python")" 2>/dev/null)
  # for our tools alone: a shell over ssh may have fewer folders
  PATH=$PATH:/usr/bin:/bin:/usr/sbin:/sbin:/usr/libexec/ApplicationFirewall
  about_system; about_python; about_model; about_ports; about_servers; about_mac; about_rdma
  say END
}
main
""".replace("BEGIN", BEGIN).replace("END", END)

_ABOUT = _SYSTEM + _PYTHON + _MODEL + _PORTS + _MAC + _MAIN


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one host; python, model and folder may begin with `~`, `env` is what the ranks will have.

    `here` is the folder from which the launch would be made; the host may have none of that name.
    """

    python: str
    model: str
    folder: str | None = None
    here: str = "/"
    ports: tuple[int, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def script(question: Question) -> str:
    """The text for `sh -s`; the function at its end runs only when all of it has arrived."""
    return opening(question) + _ABOUT


def opening(question: Question) -> str:
    """The first lines of any script for that host: the ranks' environment, what is asked, the functions home and go."""
    asked = {
        "asked_python": question.python,
        "asked_model": question.model,
        "asked_here": question.here,
        "asked_folder": question.folder or "",
        "asked_ports": " ".join(map(str, question.ports)),
    }
    # as in a launch, where python -m would else take a user's mlx.py from the folder
    env = [f"export {line}" for line in _assigned({"PYTHONSAFEPATH": "1", **question.env})]
    return "\n".join([*env, *_assigned(asked)]) + _WORDS


def _assigned(values: Mapping[str, str]) -> Iterator[str]:
    return (f"{name}={shlex.quote(value)}" for name, value in values.items())
