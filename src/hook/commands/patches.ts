import { patchedFiles } from "../patch-files.js";
import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { isKnown } from "../shell/unknown.js";
import { mustWrite } from "./access.js";
import { type Commands, each } from "./command.js";

const none = () => [];

/** Codex takes these words for its own tool, wherever they stand, and writes the patch's files itself. */
export const patches: Commands = {
  ...each(["apply_patch", "applypatch"], {
    judged: true,
    reads: none,
    run: (call) => applyPatch(call, call.args.length > 0 ? call.args.join("\n") : call.stdin),
  }),
  codex: {
    judged: false,
    reads: none,
    run: (call) => {
      const at = call.args.indexOf("--codex-run-as-apply-patch");
      return at < 0 ? undefined : applyPatch(call, call.args.slice(at + 1).join("\n"));
    },
  },
};

function applyPatch(call: Call, patch: string | null): string {
  const files = patch === null || !isKnown(patch) ? [] : patchedFiles(patch);
  if (files.length === 0) {
    refuse(`${call.name}: nobody can tell which files the patch changes; write it out in a quoted heredoc (<<'EOF')`);
  }
  for (const file of files) mustWrite(call, file);
  return "";
}
