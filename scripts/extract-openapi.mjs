import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Takes out of GitHub's description of its interface what the forge of the tests answers, so that its answers can be
 * checked against it without the 400 MB of the whole: `node scripts/extract-openapi.mjs <folder of @octokit/openapi>`.
 */
const repo = "/repos/{owner}/{repo}";
const issue = `${repo}/issues/{issue_number}`;
const pull = `${repo}/pulls/{pull_number}`;
const wanted = {
  "/user": ["get"],
  [repo]: ["get"],
  [`${repo}/pulls`]: ["get", "post"],
  [pull]: ["get", "patch"],
  [`${pull}/files`]: ["get"],
  [`${pull}/merge`]: ["put"],
  [`${pull}/reviews`]: ["get", "post"],
  [`${pull}/comments`]: ["get", "post"],
  [`${pull}/comments/{comment_id}/replies`]: ["post"],
  [`${repo}/issues`]: ["get", "post"],
  [issue]: ["get", "patch"],
  [`${issue}/comments`]: ["get", "post"],
  [`${repo}/issues/comments/{comment_id}`]: ["patch"],
  [`${issue}/labels`]: ["post"],
  [`${issue}/labels/{name}`]: ["delete"],
  [`${issue}/assignees`]: ["post", "delete"],
  [`${repo}/commits/{ref}/check-runs`]: ["get"],
  [`${repo}/commits/{ref}/status`]: ["get"],
  [`${repo}/check-runs`]: ["post"],
  [`${repo}/check-runs/{check_run_id}`]: ["patch"],
  [`${repo}/statuses/{sha}`]: ["post"],
  [`${repo}/branches/{branch}`]: ["get"],
  [`${repo}/rules/branches/{branch}`]: ["get"],
};
/** What says nothing about whether an answer fits. Below `properties` they are names of fields. */
const words = new Set(["description", "example", "examples", "title", "deprecated", "default", "externalDocs"]);

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node scripts/extract-openapi.mjs <folder of @octokit/openapi>");
const whole = JSON.parse(readFileSync(join(folder, "generated/api.github.com.json"), "utf8"));
const schemas = {};

function trim(value, isNames = false) {
  if (Array.isArray(value)) return value.map((each) => trim(each));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => isNames || !(words.has(key) || key.startsWith("x-")));
  if (typeof value.$ref === "string") keep(value.$ref.split("/").at(-1));
  const rest = Object.fromEntries(kept.map(([key, each]) => [key, trim(each, !isNames && key === "properties")]));
  if (isNames || rest.nullable !== true) return rest;
  // As other validators understand it.
  const { nullable: _, ...kind } = rest;
  return { anyOf: [kind, { type: "null" }] };
}

function keep(name) {
  if (name in schemas) return;
  schemas[name] = {};
  schemas[name] = trim(whole.components.schemas[name]);
}

function answersOf({ responses }) {
  return Object.fromEntries(
    Object.entries(responses).flatMap(([status, response]) => {
      const real = response.$ref ? whole.components.responses[response.$ref.split("/").at(-1)] : response;
      const schema = real.content?.["application/json"]?.schema;
      return schema ? [[status, trim(schema)]] : [];
    }),
  );
}

const paths = Object.fromEntries(
  Object.entries(wanted).map(([path, methods]) => {
    return [path, Object.fromEntries(methods.map((method) => [method, answersOf(whole.paths[path][method])]))];
  }),
);
const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
const file = new URL("../test/forge-server/openapi.json", import.meta.url);
writeFileSync(file, `${JSON.stringify({ paths, components: { schemas: sorted } }, null, 1)}\n`);
