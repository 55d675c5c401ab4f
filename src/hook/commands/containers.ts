import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { isKnown, printable } from "../shell/unknown.js";
import { mustRead, placesOf } from "./access.js";
import { type Commands, each } from "./command.js";
import { all, has, parseOptions } from "./options.js";

/** Containers are fine, as long as they do not open a second way to the machine. */
export const containers: Commands = {
  ...each(["docker", "podman", "nerdctl"], { judged: false, run: container }),
  ...each(
    [
      "kubectl",
      "helm",
      "terraform",
      "tofu",
      "pulumi",
      "aws",
      "gcloud",
      "az",
      "flyctl",
      "fly",
      "heroku",
      "vercel",
      "netlify",
    ],
    {
      judged: false,
      run: deployment,
    },
  ),
};

const runSpec = {
  short: "veuwpmhlc",
  long: [
    "volume",
    "mount",
    "env",
    "user",
    "workdir",
    "publish",
    "name",
    "network",
    "pid",
    "ipc",
    "device",
    "entrypoint",
    "env-file",
    "label",
    "platform",
  ],
  leading: true,
};

function container(call: Call): undefined {
  const words = call.args.filter((arg) => !arg.startsWith("-"));
  const [noun = "", verb = ""] = words;
  if (noun === "push" || (noun === "image" && verb === "push") || noun === "login" || noun === "logout") {
    refuse(`${call.name} ${noun}: images are published by people, not by a turn`);
  }
  if (verb === "prune") refuse(`${call.name} ${noun} prune removes what others use; remove your own by name`);
  const at = call.args.findIndex((arg) => arg === "run" || arg === "create");
  if (at >= 0 && noun !== "compose") judgeRun(call, call.args.slice(at + 1));
  return undefined;
}

function judgeRun(call: Call, args: readonly string[]): void {
  const options = parseOptions(args, runSpec);
  if (
    has(options, "privileged", "device") ||
    (all(options, "pid", "ipc", "network").includes("host") && has(options, "pid"))
  ) {
    refuse(`${call.name} run: a container gets no rights over the machine`);
  }
  const mounts = all(options, "mount").map((mount) => ({
    source: /(?:^|,)(?:source|src)=([^,]*)/.exec(mount)?.[1] ?? "",
    isReadOnly: /(?:^|,)(readonly|ro)(?:$|,|=)/.test(mount),
  }));
  const volumes = all(options, "v", "volume").map((volume) => {
    const [source = "", , mode = ""] = volume.split(":");
    return { source: volume.includes(":") ? source : "", isReadOnly: /(^|,)ro(,|$)/.test(mode) };
  });
  for (const mount of [...mounts, ...volumes]) judgeMount(call, mount);
}

function judgeMount(
  call: Call,
  { source, isReadOnly }: { readonly source: string; readonly isReadOnly: boolean },
): void {
  const { paths } = call.shell.session;
  // A plain name is a volume of its own.
  if (!/[/.~\uE000]/.test(source)) return;
  if (!isKnown(source)) refuse(`${call.name} run: nobody can tell which folder ${printable(source)} is; write it out`);
  for (const place of placesOf(call, source)) {
    if (paths.refusesReadBelow(place) !== null) refuse(`${call.name} run: ${source} holds secrets`);
    if (!isReadOnly && !paths.isWritableFolder(place))
      refuse(`${call.name} run: ${source} is outside the worktree; add :ro or mount a folder of the worktree`);
    mustRead(call, source);
  }
}

const looks =
  /^(get|describe|logs|version|explain|api-resources|plan|validate|fmt|init|show|output|list|status|template|lint|help|config|top|diff|providers|graph|)$/;

function deployment(call: Call): undefined {
  const [action = "", second = ""] = call.args.filter((arg) => !arg.startsWith("-"));
  const isCloud = ["aws", "gcloud", "az"].includes(call.name);
  const isReading = isCloud ? /^(ls|list.*|describe.*|get-.*|show|help|info|)$/.test(second) : looks.test(action);
  if (!isReading) refuse(`${call.name} ${action}: nothing is deployed from a turn`);
  return undefined;
}
