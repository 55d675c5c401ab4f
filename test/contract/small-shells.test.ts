import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GitError, git, gitText, startGitBySmallShells } from "../../src/git/git.js";
import { SmallShells } from "../../src/lib/process/small-shells.js";
import { makeWorld, sh } from "./git-fixture.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "ratchet-shells-")));
const shells = new SmallShells({ PATH: process.env.PATH, GIVEN: "by us" }, { place: folder });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const odd = `a 'quote' "two" $HOME \`x\` \\ ! * ünïcödé 🦀\nnext line`;
const run = (program: string, args: readonly string[], more: object = {}) =>
  shells.start({ program, args, cwd: folder, env: {}, ...more }).done;

describe("a bounded number of small shells", () => {
  test("runs no more programs at once, the others in their order, and one that is stopped while it waits never", async () => {
    const two = new SmallShells({ PATH: process.env.PATH }, { place: folder, atMost: 2 });
    const begin = (name: string, script: string) =>
      two.start({ program: "sh", args: ["-c", `${script}; echo ${name} >>order`], cwd: folder, env: {} });
    const gate = (name: string) => `until [ -e ${name} ]; do sleep 0.01; done`;
    const running = [begin("one", gate("go-one")), begin("two", gate("go-two"))];
    const [third, stopped, fourth] = [begin("three", ":"), begin("stopped", ":"), begin("four", ":")];
    stopped.stop();
    expect(await stopped.done).toMatchObject({ code: 255 });
    sh(folder, "test ! -e order && touch go-one");
    await Promise.all([third.done, fourth.done]);
    sh(folder, "touch go-two");
    await Promise.all(running.map(({ done }) => done));
    expect(readFileSync(join(folder, "order"), "utf8")).toBe("one\nthree\nfour\ntwo\n");
  });
});

describe("a program that a small shell starts", () => {
  test("gets arguments, variables and its folder byte for byte, and nothing else", async () => {
    const env = { GIVEN: odd, OTHER: "" };
    const script = 'printf "%s|" "$@" "$GIVEN" "$(pwd)"; env | grep -c "^OLDPWD="; cat';
    const output = await run("sh", ["-c", script, "sh", odd, "", "-n"], { env });
    expect(output.stdout.toString()).toBe(`${odd}||-n|${odd}|${folder}|0\n`);
    expect(output.code).toBe(0);
  });

  test("gets input of any bytes, and answers with any bytes and its exit code", async () => {
    const bytes = Buffer.from(Array.from({ length: 1024 }, (_, index) => index % 256));
    const output = await run("sh", ["-c", "cat; echo sorry >&2; exit 7"], { input: bytes });
    expect(output.stdout.equals(bytes)).toBe(true);
    expect(output).toMatchObject({ code: 7, cut: false });
    expect(output.stderr.toString()).toBe("sorry\n");
  });

  test("may print much, beside others, and each answer is its own", async () => {
    const sizes = [0, 1, 70_000, 2_000_000, 5];
    const outputs = await Promise.all(
      sizes.map((size, index) => run("sh", ["-c", `head -c ${size} /dev/zero | tr '\\0' ${index}`])),
    );
    expect(outputs.map(({ stdout }) => stdout.length)).toEqual(sizes);
    for (const [index, { stdout }] of outputs.entries()) expect(stdout.every((byte) => byte === 48 + index)).toBe(true);
  });

  test("is ended when it is stopped or prints too much, and the next one is not hurt by it", async () => {
    const sleeping = shells.start({ program: "sleep", args: ["60"], cwd: folder, env: {} });
    sleeping.stop();
    expect((await sleeping.done).code).not.toBe(0);
    const endless = await run("yes", [], { maxBytes: 1000 });
    expect(endless.stdout).toHaveLength(1000);
    expect(endless.cut).toBe(true);
    expect((await run("echo", ["fine"])).stdout.toString()).toBe("fine\n");
  });
});

describe("what a program says on stderr", () => {
  const one = new SmallShells({ PATH: process.env.PATH }, { place: folder, atMost: 1 });
  const say = (script: string) => one.start({ program: "sh", args: ["-c", script], cwd: folder, env: {} }).done;

  test("is its own, whole up to a limit, and in no file that anybody sees", async () => {
    const before = readdirSync(folder);
    expect(await say("echo out; echo first >&2")).toMatchObject({ code: 0, stderr: Buffer.from("first\n") });
    expect(await say("ls -A; exit 3")).toMatchObject({ code: 3, stderr: Buffer.alloc(0) });
    expect((await say("head -c 1500000 /dev/zero >&2")).stderr).toHaveLength(1_000_000);
    expect(await say("echo last >&2")).toMatchObject({ stderr: Buffer.from("last\n") });
    expect(readdirSync(folder)).toEqual(before);
  });

  test("is told of one whose shell was ended, and the next one has another shell", async () => {
    expect(await say("echo sorry >&2; kill -9 $PPID; sleep 1")).toMatchObject({
      code: 255,
      stderr: Buffer.from("sorry\n"),
    });
    expect(await say("echo fine >&2")).toMatchObject({ code: 0, stderr: Buffer.from("fine\n") });
  });

  test("without a place for it, is why the program is not started, and nobody waits for ever", async () => {
    const none = new SmallShells({ PATH: process.env.PATH }, { place: join(folder, "nowhere"), atMost: 1 });
    const start = () => none.start({ program: "true", args: [], cwd: folder, env: {} }).done;
    await expect(Promise.allSettled([start(), start()])).resolves.toMatchObject([
      { status: "rejected" },
      { status: "rejected" },
    ]);
  });
});

describe("git by small shells", () => {
  beforeAll(() => startGitBySmallShells(folder));

  test("answers, fails, waits out and is stopped as it is without them", async () => {
    const { repo } = await makeWorld();
    expect(await gitText(repo, ["rev-parse", "HEAD"])).toBe(sh(repo, "git rev-parse HEAD"));
    const failed = git(repo, ["rev-parse", "--verify", "nothing"]);
    await expect(failed).rejects.toBeInstanceOf(GitError);
    await expect(failed).rejects.toMatchObject({ code: 128, retryable: false });
    await expect(git("/nowhere/at/all", ["status"])).rejects.toThrow("/nowhere/at/all is not there");
    sh(repo, "git config alias.wait '!sleep 60'");
    await expect(git(repo, ["wait"], { timeoutMs: 100 })).rejects.toThrow("it took too long");
    const stop = new AbortController();
    const waiting = git(repo, ["wait"], { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    const input = "create refs/heads/new\0HEAD\0".replace("HEAD", await gitText(repo, ["rev-parse", "HEAD"]));
    await git(repo, ["update-ref", "-z", "--stdin"], { input });
    expect(sh(repo, "git rev-parse new")).toBe(sh(repo, "git rev-parse HEAD"));
  });
});
