import { spawnSync } from "node:child_process";

const patienceMs = 10_000;

/**
 * Where the processes of this user stand, by their numbers, as lsof tells it: for systems without /proc. null: it is not
 * there, hangs or does not see even us, so nobody can tell.
 */
export function readPlaces(env: NodeJS.ProcessEnv = process.env): ReadonlyMap<number, string> | null {
  const uid = String(process.getuid?.() ?? 0);
  // Its usual folder is not in everybody's PATH. In this locale it spells every odd byte out.
  const path = `${env.PATH ?? ""}:/usr/sbin:/usr/bin`;
  const { stdout } = spawnSync("lsof", ["-w", "-n", "-P", "-a", "-u", uid, "-d", "cwd", "-F", "pn"], {
    env: { ...env, PATH: path, LC_ALL: "C" },
    encoding: "latin1",
    timeout: patienceMs,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const places = parsePlaces(stdout ?? "");
  return places.has(process.pid) ? places : null;
}

/** A line `p<pid>`, then one `n<folder>`; others in between. */
function parsePlaces(text: string): ReadonlyMap<number, string> {
  const places = new Map<number, string>();
  let pid = 0;
  for (const line of text.split("\n")) {
    if (line.startsWith("p")) pid = Number(line.slice(1));
    else if (line.startsWith("n")) places.set(pid, readEscapes(line.slice(1)));
  }
  return places;
}

const letters: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

function readEscapes(name: string): string {
  const bytes = name.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_all, hex: string | undefined, letter = "") =>
    hex === undefined ? (letters[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}
