import { version } from "../version.js";

/** Starting fast is a feature: what a command needs is loaded when it is known, and for the version that is nothing. */
const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) process.stdout.write(`${version}\n`);
else void import("./program.js").then(({ runProgram }) => runProgram(args, process));
