import { type Asked, notFound, ok, optional, pageOf, Refused, type Route, text, texts } from "./answer.js";
import { closeIssue, newIssue } from "./items.js";
import type { Comment, Issue } from "./state.js";

function findIssue({ state, params }: Asked): Issue {
  const issue = state.repo.issues.get(Number(params.issue_number));
  if (!issue) throw notFound();
  return issue;
}

function findComment({ state, params }: Asked): Comment {
  const comment = state.repo.comments.find(({ id }) => id === Number(params.comment_id));
  if (!comment) throw notFound();
  return comment;
}

const listIssues: Route = ({ state, shapes, query }) => {
  const wanted = query.get("state") ?? "open";
  const labels = (query.get("labels") ?? "").split(",").filter((label) => label !== "");
  const found = [...state.repo.issues.values()].filter(
    (issue) => (wanted === "all" || issue.state === wanted) && labels.every((label) => issue.labels.includes(label)),
  );
  if (query.get("direction") !== "asc") found.reverse();
  const { page, total } = pageOf(query, found);
  return { status: 200, body: page.map((issue) => shapes.issue(issue)), total };
};

const openIssue: Route = ({ state, shapes, who, body, tell }) => {
  if (text(body.title) === "") throw new Refused(422, "Validation Failed", [{ field: "title", code: "missing_field" }]);
  const made = { author: who.login, title: text(body.title), body: optional(body.body), pull: null };
  const issue = newIssue(state, made);
  issue.labels = texts(body.labels);
  issue.assignees = texts(body.assignees);
  tell("issues", { action: "opened", issue: shapes.issue(issue) });
  return ok(shapes.issue(issue), 201);
};

const changeIssue: Route = (asked) => {
  const issue = findIssue(asked);
  const { state, shapes, body } = asked;
  if (typeof body.title === "string") issue.title = body.title;
  if (typeof body.body === "string") issue.body = body.body;
  if (Array.isArray(body.labels)) issue.labels = texts(body.labels);
  if (Array.isArray(body.assignees)) issue.assignees = texts(body.assignees);
  issue.updatedAt = state.time();
  if (body.state === "closed") closeIssue(state, issue, optional(body.state_reason) ?? "completed");
  if (body.state === "open") Object.assign(issue, { state: "open", stateReason: "reopened", closedAt: null });
  return ok(shapes.issue(issue));
};

const listComments: Route = (asked) => {
  const { number } = findIssue(asked);
  const { state, shapes, query } = asked;
  const { page, total } = pageOf(
    query,
    state.repo.comments.filter((comment) => comment.issue === number),
  );
  return { status: 200, body: page.map((comment) => shapes.comment(comment)), total };
};

const addComment: Route = (asked) => {
  const issue = findIssue(asked);
  const { state, shapes, who, body, tell } = asked;
  if (text(body.body).trim() === "") throw new Refused(422, "Validation Failed", [{ field: "body", code: "missing" }]);
  if (text(body.body).length > 65_536) throw new Refused(422, "Validation Failed", ["body is too long"]);
  const at = state.time();
  const written = { author: who.login, body: text(body.body), createdAt: at, updatedAt: at };
  const comment: Comment = { id: state.nextId(), issue: issue.number, ...written };
  state.repo.comments.push(comment);
  state.touch(issue.number);
  const payload = { issue: shapes.issue(issue), comment: shapes.comment(comment) };
  tell("issue_comment", { action: "created", ...payload });
  return ok(shapes.comment(comment), 201);
};

const changeComment: Route = (asked) => {
  const comment = findComment(asked);
  Object.assign(comment, { body: text(asked.body.body), updatedAt: asked.state.time() });
  return ok(asked.shapes.comment(comment));
};

const deleteComment: Route = (asked) => {
  const { comments } = asked.state.repo;
  comments.splice(comments.indexOf(findComment(asked)), 1);
  return { status: 204, body: null };
};

const addLabels: Route = (asked) => {
  const issue = findIssue(asked);
  issue.labels = [...new Set([...issue.labels, ...texts(asked.body.labels)])];
  asked.state.touch(issue.number);
  return ok(issue.labels.map((name) => asked.shapes.label(name)));
};

const removeLabel: Route = (asked) => {
  const issue = findIssue(asked);
  const name = asked.params.name ?? "";
  if (!issue.labels.includes(name)) throw new Refused(404, "Label does not exist");
  issue.labels = issue.labels.filter((label) => label !== name);
  asked.state.touch(issue.number);
  return ok(issue.labels.map((label) => asked.shapes.label(label)));
};

const assign: Route = (asked) => {
  const issue = findIssue(asked);
  issue.assignees = [...new Set([...issue.assignees, ...texts(asked.body.assignees)])];
  asked.state.touch(issue.number);
  return ok(asked.shapes.issue(issue), 201);
};

const unassign: Route = (asked) => {
  const issue = findIssue(asked);
  const gone = texts(asked.body.assignees);
  issue.assignees = issue.assignees.filter((login) => !gone.includes(login));
  asked.state.touch(issue.number);
  return ok(asked.shapes.issue(issue));
};

export const issueRoutes: Readonly<Record<string, Route>> = {
  "GET /repos/{owner}/{repo}/issues": listIssues,
  "POST /repos/{owner}/{repo}/issues": openIssue,
  "GET /repos/{owner}/{repo}/issues/{issue_number}": (asked) => ok(asked.shapes.issue(findIssue(asked))),
  "PATCH /repos/{owner}/{repo}/issues/{issue_number}": changeIssue,
  "GET /repos/{owner}/{repo}/issues/{issue_number}/comments": listComments,
  "POST /repos/{owner}/{repo}/issues/{issue_number}/comments": addComment,
  "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": changeComment,
  "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}": deleteComment,
  "POST /repos/{owner}/{repo}/issues/{issue_number}/labels": addLabels,
  "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}": removeLabel,
  "POST /repos/{owner}/{repo}/issues/{issue_number}/assignees": assign,
  "DELETE /repos/{owner}/{repo}/issues/{issue_number}/assignees": unassign,
};
