import type { Column } from "./columns.js";

/** What a table of issues at work tells of each; the last column is the table's own. */
export const issueColumns: readonly Column[] = [
  { title: "ISSUE", least: 6 },
  { title: "PHASE", least: 8 },
  { title: "TRY", align: "right" },
  { title: "FINDINGS", least: 4 },
  { title: "COST", align: "right", drop: 1 },
  { title: "TIME", align: "right" },
];
