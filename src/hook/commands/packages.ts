import { refuse } from "../refusal.js";
import { type Call, copyState } from "../shell/session.js";
import { type Commands, each } from "./command.js";
import { has, parseOptions } from "./options.js";

/** Tools that install, run and publish packages: what stays in the worktree is fine. */
export const packages: Commands = {
  ...each(["npm", "pnpm", "yarn", "bun"], { judged: false, run: javascript }),
  ...each(
    ["cargo", "gem", "poetry", "uv", "flit", "hatch", "pdm", "dotnet", "mvn", "gradle", "vsce", "ovsx", "lerna", "nx"],
    {
      judged: false,
      run: publisher,
    },
  ),
  twine: { judged: true, run: (call) => (call.args[0] === "check" ? undefined : published(call)) },
  ...each(["pip", "pip3"], { judged: false, run: pip }),
  ...each(
    ["apt", "apt-get", "dpkg", "dnf", "yum", "rpm", "apk", "pacman", "zypper", "brew", "port", "snap", "flatpak"],
    {
      judged: true,
      run: systemPackages,
    },
  ),
  bundle: { judged: false, run: (call) => (call.args[0] === "exec" ? rest(call, call.args.slice(1)) : undefined) },
  pipenv: { judged: false, run: (call) => (call.args[0] === "run" ? rest(call, call.args.slice(1)) : undefined) },
};

function published(call: Call): never {
  return refuse(`${call.name}: packages are published by people, not by a turn`);
}

function rest(call: Call, argv: readonly string[]): string | undefined {
  const words = argv[0] === "--" ? argv.slice(1) : argv;
  return words.length === 0 || words[0]?.startsWith("-")
    ? undefined
    : call.shell.runArgv(words, { ...call, state: copyState(call.state) });
}

const forbidden = new Set([
  "publish",
  "unpublish",
  "deprecate",
  "dist-tag",
  "owner",
  "access",
  "token",
  "login",
  "logout",
  "adduser",
  "whoami",
  "profile",
  "star",
  "hook",
  "org",
  "team",
]);

function javascript(call: Call): string | undefined {
  const options = parseOptions(call.args, {
    short: "Cw",
    long: ["prefix", "dir", "cwd", "workspace", "filter", "registry"],
    leading: true,
  });
  const [action = "", ...args] = options.operands;
  if (forbidden.has(action) || (action === "npm" && args[0] === "publish")) published(call);
  const tail = parseOptions(args);
  if (has(options, "g", "global") || has(tail, "g", "global") || action === "global") {
    refuse(`${call.name}: install into the worktree; leave the global flag away`);
  }
  for (const folder of ["prefix", "dir", "cwd", "C"].flatMap((name) => [...(options.values.get(name) ?? [])])) {
    call.shell.runArgv(["cd", folder], { ...call, state: copyState(call.state) });
    judgeFolder(call, folder);
  }
  if (action === "exec" || action === "x" || action === "dlx")
    return rest(
      call,
      args.filter((arg) => !/^(-y|--yes)$/.test(arg)),
    );
  if (action === "config" && args[0] === "set" && !args.includes("--location=project")) {
    refuse(`${call.name} config: add --location=project, the worktree's own settings`);
  }
  return undefined;
}

function judgeFolder(call: Call, folder: string): void {
  const { paths } = call.shell.session;
  const places = folder.startsWith("/") ? [folder] : call.state.cwds.map((cwd) => `${cwd}/${folder}`);
  for (const place of places)
    if (!paths.isWritableFolder(place)) refuse(`${call.name} would run in ${folder}, outside the worktree`);
}

function publisher(call: Call): string | undefined {
  const words = call.args.filter((arg) => !arg.startsWith("-") && !arg.startsWith("+"));
  const [action = ""] = words;
  if (
    /^(publish|yank|unyank|login|logout|owner|push|deploy|release:perform)$/.test(action) ||
    (action === "nuget" && words[1] === "push")
  ) {
    published(call);
  }
  const at = call.args.indexOf("run");
  const isRunner = ["poetry", "uv", "pdm", "hatch"].includes(call.name) && at >= 0;
  return isRunner ? rest(call, call.args.slice(at + 1)) : undefined;
}

function pip(call: Call): undefined {
  if (call.args.includes("--break-system-packages")) refuse(`${call.name}: use a virtual environment in the worktree`);
  return undefined;
}

const looks =
  /^(list|show|search|info|policy|query|status|outdated|deps|leaves|config|--version|-l|-L|-s|-S|-q.*|-Q.*|madison|depends|rdepends|cat|home|--prefix)$/;

function systemPackages(call: Call): undefined {
  const [action = ""] = call.args;
  if (looks.test(action)) return undefined;
  return refuse(`${call.name} changes the machine for everybody; say in your answer what is missing`);
}
