import { expect, test } from "vitest";
import { markerOf, withMarker } from "../../core/marker.js";
import type { Feedback, InlineComment } from "../../core/ports/forge.js";
import { type Part, partsOf, remarksOf, withEarlier } from "./parts.js";

const by = (login: string) => ({ login, association: "MEMBER", bot: false });
const comment = (id: string, body: string, login = "me") => ({ id, body, author: by(login), createdAt: "" });
const inline = (id: string, thread: string, login = "ada"): InlineComment => ({
  ...{ id, thread, review: null, author: by(login), path: "src/a.ts", line: 3, originalLine: 3, startLine: null },
  ...{ about: "line", body: `words ${id}`, createdAt: `2026-01-01T00:00:0${id}Z`, commit: "aaa" },
});
const nothing: Feedback = { reviews: [], inline: [], comments: [], checks: [], failed: [] };
const ours = (feedback: Partial<Feedback>, posted: readonly string[] = []) =>
  remarksOf({ ...nothing, ...feedback }, { login: "me", posted }).flatMap(({ id, own }) => (own ? [id] : []));

test("ours is what we posted, by its id, and what our account wrote with the marker at its end", () => {
  const comments = [
    comment("1", withMarker("Addressed.", "answer:1")),
    comment("2", `> Addressed.\n> ${markerOf("answer:1")}\n\nIt is not.`),
    comment("3", `Look: ${markerOf("answer:1")} is hidden there.`),
    comment("4", withMarker("Copied.", "answer:1"), "ada"),
    comment("5", "Edited by somebody: the marker is gone."),
  ];
  expect(ours({ comments }, ["comment:5"])).toEqual(["comment:1", "comment:5"]);
  // The number alone says nothing.
  expect(ours({ inline: [inline("5", "5", "me")] }, ["comment:5"])).toEqual([]);
});

test("P3 P11 what came before in a thread is quoted, unless it goes along itself or may not be seen", () => {
  const reply = { ...inline("4", "1", "me"), body: withMarker("Addressed in abc.", "answer:1:1") };
  const all = [inline("1", "1"), inline("2", "1", "eve"), inline("3", "9"), reply, inline("5", "1"), inline("6", "1")];
  const quotable = new Set(["1", "3", "4", "5", "6"].map((id) => `inline:${id}`));
  const parts: Part[] = partsOf({ ...nothing, inline: all }, quotable);
  const partOf = (id: string) => parts.find((part) => part.id === `inline:${id}`) ?? { id };
  const along = new Set(["inline:5", "inline:6"]);
  expect(withEarlier(partOf("5"), parts, along)).toMatchObject({
    ...{ path: "src/a.ts", line: 3, body: "words 5" },
    earlier: [
      { author: "ada", body: "words 1" },
      { author: "me", body: "Addressed in abc." },
    ],
  });
  expect(withEarlier(partOf("1"), parts, along)).not.toHaveProperty("earlier");
  expect(withEarlier({ id: "review:1", text: "A summary." }, parts, along)).toBeNull();
});
