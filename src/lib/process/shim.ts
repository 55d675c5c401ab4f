import { quoted } from "../quoted.js";

/**
 * The shim: a few lines of sh between the orchestrator and the program, so that a turn outlives its orchestrator.
 *
 * It owns three promises. One program per folder: `pid` is created exclusively, so of two shims in one folder the later
 * one leaves at once. A result whatever happens to the orchestrator: `exit` is written by whoever comes first, shim or
 * stopper. No orphans: when nobody has touched `lease` for the grace, everything that carries the cookie is ended. Its
 * last act ends its own process group: watcher, leftovers and itself. Only while a stop is under way it ends alone: the
 * tree has its grace from the stopper, and the watcher stays in case that one dies.
 *
 * It is written for dash, bash and zsh as sh and forks nothing it does not need. The main shell uses positional
 * parameters only, because a variable of its own could be one that the program was given. `begin` becomes the program; it
 * runs in the foreground: background jobs of a shell ignore SIGINT. The cookie is exported to the program alone, so that
 * looking for it never finds the shim; the shim itself, like its watcher, is known by its arguments, or by where it stands. Time is counted in
 * sleeps, which stand still while a laptop sleeps.
 */
export const shimFunctions = `
reap() {
  while :; do
    if [ -r /proc/self/environ ]; then
      set -- "$1" $(grep -lsaF "RATCHET_TURN=$1" /proc/[0-9]*/environ | sed 's/[^0-9]//g')
    else
      set -- "$1" $(ps -axEww -o pid=,command= | awk -v c="RATCHET_TURN=$1" 'index($0, c) && !/awk -v c=/ { print $1 }')
    fi
    [ $# -gt 1 ] || return 0
    c=$1
    shift
    kill -$signal "$@"
    [ $signal = KILL ] || return 0
    set -- "$c"
    sleep 1
  done
}
watch() {
  cd "$1"
  PATH=$PATH:/usr/bin:/bin
  n=0 last=pid
  while :; do
    sleep $4 || [ $? -gt 128 ] || exit
    if [ "$1/lease" -nt "$1/$last" ]; then n=0 last=stamp; echo >"$1/stamp"; else n=$((n + 1)); fi
    [ $n -gt $3 ] || continue
    echo >"$1/orphaned"
    signal=TERM; reap "$2"
    sleep 2
    signal=KILL; reap "$2"
    sleep 1
    set -C
    echo 137 >"$1/exit"
    kill -KILL 0
  done
}
attend() {
  umask 077
  set -C
  echo $$ >"$1/pid" || kill -KILL 0
  set +C
  watch "$1" "$2" "$3" "$4" </dev/null >/dev/null 2>&1 &
  trap : INT TERM HUP QUIT
  (
    RATCHET_TURN=$2
    export RATCHET_TURN
    shift 5
    begin "$@"
  )
  set -- "$1" "$2" $? "$5"
  exec 2>/dev/null
  set -C
  echo $3 >"$1/exit"
  if [ -e "$1/stopping" ] && read -r p <"$1/stopping" && kill -0 "$p"; then kill -KILL $$; fi
  if [ -e "$1/orphaned" ] || ! kill -0 $4; then
    PATH=$PATH:/usr/bin:/bin
    signal=KILL; reap "$2"
  fi
  kill -KILL 0
}
`;

/** What `ps` and /proc show of a shim. One with the cookie behind it, or that stands in the attempt's folder, is that attempt's. */
export const shimName = "ratchet-shim";

export interface ShimCall {
  readonly folder: string;
  readonly cookie: string;
  readonly graceSeconds: number;
  readonly argv: readonly [string, ...string[]];
}

/** Arguments of a shell that is the shim of one program from its start, and has the program's folder, environment and files. */
export function shimArguments(call: ShimCall): string[] {
  const begin = 'begin() { umask "$1"; shift; exec "$@"; }';
  return ["-c", `${shimFunctions}${begin}\nattend "$@"`, shimName, ...attendArguments(call)];
}

export interface ShimOrder extends ShimCall {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * What makes a shell that knows the functions the shim of one program. Its files are opened, and made for the owner
 * alone, before the program's own umask holds. A shell tells its programs where it was and is; these were told what they need.
 */
export function shimOrder(order: ShimOrder): string {
  const variables = Object.entries(order.env).filter(([name]) => name !== "RATCHET_TURN");
  const given = variables.map(([name, value]) => `export ${name}=${quoted(value)}`);
  const steps = [`cd ${quoted(order.cwd)}`, "unset OLDPWD PWD", 'umask "$1"', "shift", ...given, 'exec "$@"'];
  const files = `<${quoted(order.stdin)} >>${quoted(order.stdout)} 2>>${quoted(order.stderr)}`;
  const attend = ["attend", ...attendArguments(order).map(quoted)].join(" ");
  return `begin() { { ${steps.join(" && ")}; } ${files}; }\ncd ${quoted(order.folder)} || kill -KILL 0; ${attend}\n`;
}

function attendArguments({ folder, cookie, graceSeconds, argv }: ShimCall): string[] {
  const stepSeconds = Math.min(10, Math.max(1, Math.floor(graceSeconds / 6)));
  const steps = Math.ceil(graceSeconds / stepSeconds);
  const umask = process.umask().toString(8).padStart(4, "0");
  return [folder, cookie, String(steps), String(stepSeconds), String(process.pid), umask, ...argv];
}
