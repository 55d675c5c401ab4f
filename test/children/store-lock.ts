import { writeSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";

/** A foreign program on the same database: `reading` or `writing`, in a transaction held open until stdin ends. */
const [path = "", how = "reading"] = process.argv.slice(2);
const database = new DatabaseSync(path);
database.exec(how === "writing" ? "BEGIN IMMEDIATE" : "BEGIN");
database.prepare("SELECT count(*) FROM projects").get();
writeSync(1, "holding\n");
for await (const _chunk of process.stdin);
database.exec("ROLLBACK");
database.close();
