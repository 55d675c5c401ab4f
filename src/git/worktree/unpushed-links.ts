import { keepNewest } from "../../lib/keep-newest.js";
import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { type Link, type Linked, readLinked } from "../objects/links.js";
import { type InGit, readSubmodules, resolveUrl, type Submodule } from "../objects/submodules.js";
import { askRemote, type Inside } from "./asked-remote.js";
import { hasFrom, isSamePlace, type Place, placeOf, repositoryAt } from "./submodule-repository.js";

/**
 * A commit holds of a submodule nothing but an id, so once it has landed, others have to come by what that names: from the
 * remote that `.gitmodules` declares, and so on for what that commit links in its turn. What the submodule's own repository
 * here knows of that remote answers at once, else the remote is asked. Whatever nobody can tell counts as not pushed.
 */
export interface UnpushedLink extends Link {
  readonly why: string;
}

export interface LinksAsked {
  readonly head: string;
  /** Those of head that may be new. What one of `known` links, at whatever path, is not. */
  readonly links: readonly Link[];
  readonly known: readonly string[];
}

const deepest = 5;
const atOnce = 4;
const answerWithinMs = 60_000;

export async function unpushedLinks(
  checkout: Checkout,
  { head, links, known }: LinksAsked,
): Promise<readonly UnpushedLink[]> {
  if (links.length === 0) return [];
  const inGit: InGit = (args) => gitIn(checkout, args, { okCodes: [1, 128] });
  const [modules, origin, ...before] = await Promise.all([
    readSubmodules(inGit, head),
    inGit(["config", "remote.origin.url"]),
    ...[...new Set(known)].map((commit) => readLinked(inGit, commit)),
  ]);
  const url = origin.stdout.toString("utf8").trim() || checkout.mirror.repoPath;
  const inside = { now: { links, modules }, before: before.filter((one) => one !== null) };
  const place = { files: Buffer.from(checkout.path), gitDir: checkout.gitDir, path: Buffer.of() };
  return await judgeInside({ checkout, until: Date.now() + answerWithinMs, depth: deepest, inside, url, place });
}

/** A repository, and what a commit of it links. */
interface Around {
  readonly checkout: Checkout;
  readonly until: number;
  readonly depth: number;
  readonly inside: Inside;
  readonly url: string;
  readonly place: Place;
}

async function judgeInside(around: Around): Promise<readonly UnpushedLink[]> {
  const { now, before } = around.inside;
  const known = new Set(before.flatMap(({ links }) => links.map(({ id }) => id)));
  const rest = now.links.filter(({ id }) => !known.has(id)).values();
  const found: UnpushedLink[] = [];
  const judgeRest = async () => {
    for (const link of rest) found.push(...(await judge(around, link)));
  };
  await Promise.all(Array.from({ length: atOnce }, judgeRest));
  return found.sort((a, b) => Buffer.compare(a.path, b.path));
}

/** What a remote had it still has. */
const pushed = new Set<string>();
const pushedKept = 1000;

async function judge(around: Around, link: Link): Promise<readonly UnpushedLink[]> {
  const { checkout, inside, depth } = around;
  const module = inside.now.modules.findLast(({ path }) => path === link.path.toString("latin1"));
  const place = placeOf(around.place, link, module);
  const found = (why: string): UnpushedLink => ({ path: place.path, id: link.id, why });
  if (depth === 0) return [found("it is nested too deep to be looked at")];
  const { remotes, inGit } = await repositoryAt(checkout, place);
  const declared = typeof module?.url === "string" ? resolveUrl(module.url, around.url) : null;
  const remote = remotes.find(({ name, url }) => (declared === null ? name === "origin" : isSamePlace(url, declared)));
  const url = remote?.url ?? declared;
  if (url === null) return [found("nothing says where it is to be had")];
  const key = `${url}\n${link.id}`;
  if (pushed.has(key)) return [];
  const isKnown = remote !== undefined && !isElsewhere(inside, module) && (await hasFrom(inGit, remote, link.id));
  const asked = { url, id: link.id, olds: oldIds(inside, link, module) };
  const unpushed = await judgeAt({ ...around, depth: depth - 1, url, place }, { inGit, isKnown, asked, found });
  if (unpushed.length === 0) pushed.add(key);
  keepNewest(pushed, pushedKept);
  return unpushed;
}

interface Judged {
  readonly inGit: InGit;
  readonly isKnown: boolean;
  readonly asked: { readonly url: string; readonly id: string; readonly olds: readonly string[] };
  readonly found: (why: string) => UnpushedLink;
}

/** The commit itself, and what it links. */
async function judgeAt(around: Around, { inGit, isKnown, asked, found }: Judged): Promise<readonly UnpushedLink[]> {
  const { checkout, until } = around;
  const own = await readInside(inGit, asked.id, asked.olds);
  const within = async (inside: Inside | null) => (inside === null ? [] : await judgeInside({ ...around, inside }));
  const [answer, nested] = await Promise.all([
    isKnown && own !== null
      ? null
      : askRemote(checkout.mirror, { ...asked, olds: own === null ? asked.olds : null, until }),
    within(own),
  ]);
  if (answer === null) return nested;
  return [...(answer.isThere ? await within(answer.inside) : [found(answer.why)]), ...nested];
}

/** The same submodule in what was there before, wherever it was. */
function formerly(before: Linked, module: Submodule | undefined): Submodule | undefined {
  return before.modules.find(({ name }) => name === module?.name);
}

function oldIds({ before }: Inside, { path }: Link, module: Submodule | undefined): readonly string[] {
  const ids = before.flatMap((linked) => {
    const place = Buffer.from(formerly(linked, module)?.path ?? path.toString("latin1"), "latin1");
    return linked.links.filter((link) => link.path.equals(place)).map(({ id }) => id);
  });
  return [...new Set(ids)];
}

/** It had another url: what is known of its remote's branches may be of that one's. */
function isElsewhere({ before }: Inside, module: Submodule | undefined): boolean {
  const urls = before.flatMap((linked) => formerly(linked, module)?.url ?? []);
  return urls.length > 0 && !urls.includes(module?.url ?? "");
}

async function readInside(inGit: InGit, id: string, olds: readonly string[]): Promise<Inside | null> {
  const now = await readLinked(inGit, id);
  if (now === null) return null;
  const before = now.links.length === 0 ? [] : await Promise.all(olds.map((old) => readLinked(inGit, old)));
  return { now, before: before.filter((one) => one !== null) };
}
