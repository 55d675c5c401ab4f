import type { Command } from "commander";
import type { Choose } from "../context.js";
import { withExample } from "./example.js";

interface Json {
  readonly json?: boolean;
}

export function declarePullRequests(program: Command, choose: Choose): void {
  const commands = () => import("../commands/pr.js");
  const pr = program.command("pr").description("pull requests that Ratchet has opened and follows");
  withExample(pr, "ratchet pr list");
  const list = pr
    .command("list")
    .description("each with its cycle and what is open in it")
    .option("--untrusted", "remarks of people who are not trusted, for you to let through")
    .option("--json", "print JSON");
  withExample(list, "ratchet pr list --untrusted").action((options: Json & { readonly untrusted?: boolean }) =>
    choose(async (context) => (await commands()).listPullRequests(context, options)),
  );
  const sync = pr
    .command("sync [number]")
    .description("look at the forge once: make and settle items, post answers, merge what may be merged")
    .option("--json", "print JSON");
  withExample(sync, "ratchet pr sync").action((number: string | undefined, options: Json) =>
    choose(async (context) => (await commands()).syncNow(context, number, options), 3),
  );
  const rework = pr
    .command("rework <number>")
    .description("ask for a rework cycle; prints its item, the same every time")
    .option("--cycle <n>", "this one (default: the one under way, or the next)")
    .option("--feedback <text>", "your own words, besides what is open in the pull request")
    .option("--json", "print JSON");
  withExample(rework, 'ratchet pr rework 42 --feedback "Keep the old name as an alias."').action(
    (number: string, options: Json & { readonly cycle?: string; readonly feedback?: string }) =>
      choose(async (context) => (await commands()).askForRework(context, number, options), 3),
  );
  const escalations = pr
    .command("escalations")
    .description("pull requests that wait for a person, and why")
    .option("--json", "print JSON");
  withExample(escalations, "ratchet pr escalations").action((options: Json) =>
    choose(async (context) => (await commands()).listEscalations(context, options)),
  );
  const admit = pr
    .command("admit <comment>")
    .description("let an untrusted remark reach the agent, with the next cycle")
    .option("--json", "print JSON");
  withExample(admit, "ratchet pr admit 1234567").action((comment: string, options: Json) =>
    choose(async (context) => (await commands()).admitRemark(context, comment, options)),
  );
}
