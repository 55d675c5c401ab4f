import { reach } from "./graph-index.js";
import { type Rule, suggestStage } from "./rule.js";

/** One way in. */
export const checkStart: Rule = (index, problems) => {
  const { graph, stages } = index;
  const { name, at } = graph.start;
  if (name !== "" && !stages.has(name))
    problems.error({ at, rule: "start", message: `the start "${name}" is no stage`, ...suggestStage(name, index) });
  const starts = index.ofKind("start");
  for (const { id, at: place } of starts.slice(1))
    problems.error({ at: place, rule: "start", message: `"${id}" is a second start, there is exactly one` });
  const ids = new Set(starts.map(({ id }) => id));
  for (const { to, at: place } of graph.transitions)
    if (ids.has(to.name))
      problems.error({ at: place, rule: "start-incoming", message: `nothing may lead back to the start "${to.name}"` });
};

/** At least one way out, and nothing after it. */
export const checkExits: Rule = ({ graph, ofKind, leaving }, problems) => {
  const exits = ofKind("exit");
  if (exits.length === 0) {
    const hint = graph.format === "kdl" ? 'add stage "exit" kind="exit"' : "add a node of shape Msquare";
    problems.error({ at: graph.start.at, rule: "exit", message: "there is no exit", hint });
  }
  for (const { id } of exits)
    for (const { at } of leaving.get(id) ?? [])
      problems.error({ at, rule: "exit-outgoing", message: `nothing can follow the exit "${id}"` });
};

export const checkReachable: Rule = ({ graph, stages, next }, problems) => {
  if (!stages.has(graph.start.name)) return;
  const reached = reach([graph.start.name], next);
  for (const { id, at } of graph.stages)
    if (!reached.has(id)) {
      const hint = `nothing leads to it from "${graph.start.name}"`;
      problems.error({ at, rule: "unreachable", message: `stage "${id}" is unreachable`, hint });
    }
};

/** A stage that can only go round in circles, or nowhere, never ends well. */
export const checkWaysOut: Rule = (index, problems) => {
  const { graph, stages, leaving, next, onward } = index;
  const exits = index.ofKind("exit").map(({ id }) => id);
  if (exits.length === 0 || !stages.has(graph.start.name)) return;
  const reached = reach([graph.start.name], next);
  const back = reverse(reached, onward);
  const ending = reach(exits, (id) => back.get(id) ?? []);
  const stuck = graph.stages.filter(({ id }) => reached.has(id) && !ending.has(id));
  const dead = stuck.filter(({ id }) => onward(id).length === 0);
  for (const { id, at } of dead) {
    // Its ways lead to stages that do not exist, which is told.
    if (leaving.has(id)) continue;
    const problem = {
      at,
      rule: "dead-end",
      message: `stage "${id}" leads nowhere`,
      hint: "add a transition to a next stage",
    };
    if (graph.format === "kdl") problems.error(problem);
    else problems.warning(problem);
  }
  const towardsDead = reach(
    dead.map(({ id }) => id),
    (id) => back.get(id) ?? [],
  );
  const circling = stuck.filter(({ id }) => !towardsDead.has(id));
  const [first] = circling;
  if (first === undefined) return;
  const names = circling.slice(0, 5).map(({ id }) => `"${id}"`);
  const message = `no exit can be reached from ${names.join(", ")}${circling.length > 5 ? " and others" : ""}`;
  problems.error({ at: first.at, rule: "no-way-out", message, hint: "add a way from the cycle to an exit" });
};

function reverse(ids: Iterable<string>, next: (id: string) => readonly string[]): Map<string, string[]> {
  const back = new Map<string, string[]>();
  for (const id of ids)
    for (const to of next(id)) {
      const own = back.get(to);
      if (own === undefined) back.set(to, [id]);
      else own.push(id);
    }
  return back;
}
