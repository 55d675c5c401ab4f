/**
 * The tables, as one script per version; a database of an older version gets the missing scripts in one transaction.
 *
 * `steps` is the journal: one row per commit, in the order of its run, key = run's number × 2^32 + position. A row holds
 * the arrival, the public events it made and the number of the run's last event so far, and is never written again. What
 * a machine is now is in its row in `machines`: the position of its newest step, its state with what it owes. One that
 * is not small is there as what has changed since the whole of it was last written to `states` (state-text.ts). So a
 * commit is one insert at the end of the run and one update of a short row, whatever the history.
 *
 * Reports, arrivals, states and findings that are long are packed (packed-text.ts).
 *
 * `work_text` and `event_text` are what `search` looks in. Triggers keep them up in the transaction that changes an item,
 * so they cannot differ from it; an item's claims and its status are not in them and cost them nothing. `pr_number`,
 * `cycle` and `escalated` repeat what the payload says, for their indexes.
 */
export const migrations: readonly string[] = [
  `
CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  repo_path TEXT NOT NULL UNIQUE,
  next_item INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL
);
CREATE TABLE streams (
  no INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE
);
CREATE TABLE machines (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  stream INTEGER NOT NULL REFERENCES streams (no),
  epoch INTEGER NOT NULL,
  driver TEXT,
  done INTEGER NOT NULL DEFAULT 0,
  head INTEGER
);
CREATE INDEX machines_of_stream ON machines (stream);
CREATE INDEX machines_unfinished ON machines (kind) WHERE done = 0;
CREATE TABLE steps (
  id INTEGER PRIMARY KEY,
  machine INTEGER NOT NULL,
  at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  heads TEXT NOT NULL,
  reports TEXT,
  arrival TEXT NOT NULL,
  state TEXT,
  owed TEXT
);
CREATE TABLE inbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  machine TEXT NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX inbox_of_machine ON inbox (machine, id);
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id),
  status TEXT NOT NULL,
  started_at TEXT NOT NULL,
  record TEXT NOT NULL,
  settings TEXT NOT NULL,
  options TEXT NOT NULL
);
CREATE INDEX runs_of_project ON runs (project_id, started_at);
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX runs_running ON runs (started_at) WHERE status = 'running';
CREATE TABLE issue_records (
  run_id TEXT NOT NULL REFERENCES runs (run_id),
  issue_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  life INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  record TEXT NOT NULL,
  PRIMARY KEY (run_id, issue_id)
);
CREATE INDEX issue_records_of_issue ON issue_records (project_id, issue_id, started_at);
CREATE TABLE findings (
  no INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL,
  issue_id TEXT NOT NULL,
  id TEXT NOT NULL,
  status TEXT NOT NULL,
  finding TEXT NOT NULL,
  UNIQUE (project_id, issue_id, id)
);
CREATE INDEX findings_open ON findings (project_id, no) WHERE status = 'open';
CREATE TABLE work_items (
  no INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id),
  id TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  type TEXT NOT NULL,
  parent INTEGER REFERENCES work_items (no),
  priority INTEGER NOT NULL,
  status TEXT NOT NULL,
  source TEXT NOT NULL,
  claimed_by TEXT,
  lease_until INTEGER,
  failure_count INTEGER NOT NULL DEFAULT 0,
  failure_reason TEXT,
  payload TEXT,
  waits_for INTEGER NOT NULL DEFAULT 0,
  begun INTEGER NOT NULL DEFAULT 0,
  follows TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, id)
);
CREATE INDEX work_ready ON work_items (project_id, priority, created_at, no)
  WHERE status = 'available' AND waits_for = 0 AND type = 'task';
CREATE INDEX work_begun ON work_items (project_id, priority, created_at, no)
  WHERE begun = 1 AND status IN ('available', 'failed') AND waits_for = 0 AND type = 'task';
CREATE INDEX work_claimed ON work_items (project_id, no) WHERE status = 'claimed';
CREATE INDEX work_by_status ON work_items (status, project_id, no);
CREATE INDEX work_by_project ON work_items (project_id, no);
CREATE INDEX work_children ON work_items (parent) WHERE parent IS NOT NULL;
CREATE UNIQUE INDEX work_follow_up ON work_items (project_id, follows)
  WHERE follows IS NOT NULL AND status <> 'completed';
CREATE TABLE work_deps (
  item INTEGER NOT NULL REFERENCES work_items (no),
  on_item INTEGER NOT NULL REFERENCES work_items (no),
  PRIMARY KEY (item, on_item)
);
CREATE INDEX work_dependents ON work_deps (on_item);
CREATE TABLE work_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id TEXT NOT NULL,
  item_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX work_events_of_item ON work_events (project_id, item_id, id);
`,
  `
CREATE INDEX work_epics ON work_items (project_id, no) WHERE type = 'epic' AND status <> 'completed';
`,
  `
ALTER TABLE projects ADD COLUMN removed_at INTEGER;
ALTER TABLE work_items ADD COLUMN pr_number INTEGER;
ALTER TABLE work_items ADD COLUMN cycle INTEGER;
ALTER TABLE work_items ADD COLUMN escalated INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX work_rework ON work_items (project_id, pr_number, cycle) WHERE source = 'rework';
CREATE INDEX work_of_pull_request ON work_items (project_id, pr_number, no) WHERE pr_number IS NOT NULL;
CREATE INDEX work_in_pull_requests ON work_items (project_id, no)
  WHERE pr_number IS NOT NULL AND status <> 'completed';
CREATE INDEX work_escalated ON work_items (project_id, no) WHERE escalated = 1;
CREATE INDEX work_ready_of_pull_requests ON work_items (project_id, source, priority, created_at, no)
  WHERE status = 'available' AND waits_for = 0 AND type = 'task'
  AND source IN ('code_review', 'rework', 'pr_merge', 'merge_fix');
CREATE TABLE workers (
  run_id TEXT NOT NULL,
  pid INTEGER NOT NULL,
  start TEXT NOT NULL,
  boot TEXT NOT NULL,
  machine TEXT NOT NULL,
  project_id TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, pid, start, boot)
);
CREATE VIRTUAL TABLE work_text USING fts5 (id, title, body, payload,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
INSERT INTO work_text (rowid, id, title, body, payload) SELECT no, id, title, body, '' FROM work_items;
CREATE TRIGGER work_text_added AFTER INSERT ON work_items BEGIN
  INSERT INTO work_text (rowid, id, title, body, payload) VALUES (new.no, new.id, new.title, new.body,
    (SELECT group_concat(atom, ' ') FROM json_tree(new.payload) WHERE atom IS NOT NULL));
END;
CREATE TRIGGER work_text_changed AFTER UPDATE OF title, body, payload ON work_items BEGIN
  INSERT OR REPLACE INTO work_text (rowid, id, title, body, payload) VALUES (new.no, new.id, new.title, new.body,
    (SELECT group_concat(atom, ' ') FROM json_tree(new.payload) WHERE atom IS NOT NULL));
END;
CREATE VIRTUAL TABLE event_text USING fts5 (text,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
CREATE TRIGGER event_text_added AFTER INSERT ON work_events WHEN new.type NOT IN ('added', 'claimed', 'released') BEGIN
  INSERT INTO event_text (rowid, text) SELECT new.id, new.type || ' ' || texts FROM
    (SELECT group_concat(atom, ' ') AS texts FROM json_tree(new.body) WHERE atom IS NOT NULL) WHERE texts IS NOT NULL;
END;
INSERT INTO event_text (rowid, text) SELECT id, type || ' ' || texts FROM (SELECT id, type,
    (SELECT group_concat(atom, ' ') FROM json_tree(body) WHERE atom IS NOT NULL) AS texts
  FROM work_events WHERE type NOT IN ('added', 'claimed', 'released')) WHERE texts IS NOT NULL;
`,
  `
CREATE TABLE states (
  machine INTEGER PRIMARY KEY,
  state TEXT NOT NULL
);
ALTER TABLE machines ADD COLUMN state TEXT;
ALTER TABLE machines ADD COLUMN owed TEXT;
UPDATE machines SET head = (SELECT json_extract(heads, '$."' || machines.no || '"') FROM steps
  WHERE id > stream * 4294967296 AND id < (stream + 1) * 4294967296 ORDER BY id DESC LIMIT 1) WHERE head IS NULL;
UPDATE machines SET (state, owed) = (SELECT state, owed FROM steps WHERE id = stream * 4294967296 + head);
INSERT INTO states (machine, state) SELECT no, (SELECT state FROM steps WHERE id =
  CAST(substr(machines.state, 2, instr(machines.state, ' ') - 2) AS INTEGER)) FROM machines WHERE state LIKE '@%';
UPDATE machines SET state = '@' || substr(state, instr(state, ' ') + 1) WHERE state LIKE '@%';
DROP INDEX findings_open;
ALTER TABLE findings ADD COLUMN stands TEXT;
CREATE TABLE finding_changes (
  finding INTEGER PRIMARY KEY REFERENCES findings (no),
  stands TEXT NOT NULL
);
CREATE TABLE open_findings (
  project_id TEXT NOT NULL,
  finding INTEGER NOT NULL REFERENCES findings (no),
  PRIMARY KEY (project_id, finding)
) WITHOUT ROWID;
INSERT INTO open_findings (project_id, finding) SELECT project_id, no FROM findings WHERE status = 'open';
ALTER TABLE findings DROP COLUMN status;
ALTER TABLE steps DROP COLUMN heads;
ALTER TABLE steps DROP COLUMN state;
ALTER TABLE steps DROP COLUMN owed;
`,
  "-- Nothing of what is there changes. From here on long texts are stored packed, which older programs cannot read.",
  "-- Nor here. From here on what a machine owes is stored with its state, which older programs cannot read.",
];
