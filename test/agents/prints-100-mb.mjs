// 100 MB on stdout, with the last line at the very end.
import { writeSync } from "node:fs";

const line = `${"x".repeat(1023)}\n`;
const block = Buffer.from(line.repeat(1024));
for (let n = 0; n < 100; n++) for (let at = 0; at < block.length; ) at += writeSync(1, block, at);
writeSync(1, "the end\n");
