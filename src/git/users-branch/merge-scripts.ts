import type { Script } from "../git.js";
import { quietFetch } from "../mirror/mirror-refs.js";
import { ends, tellBegun } from "./begun-merge.js";
import { lockingShell } from "./index-lock.js";

/** A file that the user has git ignore may be the only one of its kind. */
export const mergeFlags = [
  ...["--ff-only", "--quiet", "--no-stat"],
  ...["--no-autostash", "--no-verify-signatures", "--no-overwrite-ignore"],
];

/**
 * For `sh`: `merge_noted LINE` brings `$checkout` forward. Before it locks the index it notes what is begun, unless something is
 * noted already; what was looked at before that, `is_as_seen` looks at again. What the user's branch has as options of its
 * own for merges, such as a strategy or a squash, is for theirs.
 */
const merging = `
hooks=$mirror/ratchet/hooks
${lockingShell(tellBegun)}
merge_noted() {
  set -C; ${tellBegun} >"$begun" || exit ${ends.notBegun}; set +C
  lock_index
  is_as_seen || exit ${ends.late}
  with_index -c "branch.\${branch#refs/heads/}.mergeOptions=" merge ${mergeFlags.join(" ")} "$1" || exit
}`;

/**
 * The usual case as one program: the repository's own checkout is on the branch, which is where the landed line has it,
 * nothing is begun there, no file is gone that the merge would write, and the landing before was followed. Whatever is
 * otherwise, whatever git refuses, and where not the branch has moved in the end, it is done and said step by step.
 */
export const usualMerge: Script = {
  name: "merge",
  text: `
mirror=$1 line=$2 branch=$3 followed=$4 commit=$5 given=$6 behind=$7 begun=$8 checkout=$9
index=$checkout/.git/index
is_here() { read -r head <.git/HEAD && [ "$head" = "ref: $branch" ]; }
is_usual() {
  is_here && [ -e ".git/$branch" ] && [ ! -e "$behind" ] && [ ! -e "$begun" ] || return
  [ -e "$given" ] && [ -x "$hooks/post-index-change" ] || return
  for left in worktrees rebase-merge rebase-apply BISECT_START sequencer REVERT_HEAD CHERRY_PICK_HEAD; do
    [ ! -e ".git/$left" ] || return
  done
}
is_as_seen() { is_here && read -r now <".git/$branch" && [ "$now" = "$from" ]; }
is_there() {
  case $1 in \\"*) return 1 ;; esac
  [ -e "$1" ] || [ -L "$1" ] || return
  above=$1
  while [ "$above" != "\${above%/*}" ]; do
    above=\${above%/*}
    [ ! -L "$above" ] || return
  done
}
are_there() {
  set -f; IFS='
'
  for path in $changed; do is_there "$path" || return; done
  unset IFS; set +f
}
${merging}
is_usual && read -r from <".git/$branch" && read -r known <"$mirror/$followed" && [ "$from" = "$known" ] || exit ${ends.notBegun}
changed=$(
  { cd "$mirror" && git diff-tree -r --name-only --no-renames --diff-filter=MT "$from" "$commit"; } &
  git fetch ${quietFetch.join(" ")} --refmap= --update-shallow "$mirror" "+$line:$line" && wait $!
) || exit ${ends.notBegun}
is_usual && read -r landed <".git/$line" && [ "$landed" = "$commit" ] && are_there || exit ${ends.notBegun}
merge_noted "$line"
read -r now <".git/$branch" && [ "$now" = "$commit" ] || exit ${ends.untold}
is_here || exit ${ends.strayed}
unlock_index &
trap - EXIT
cd "$mirror" && git update-ref --no-deref "$followed" "$commit"
told=$?
wait
[ $told = 0 ] || exit ${ends.untold}`,
};

/** One step of it, in whichever checkout the branch is. */
export const mergeAnywhere: Script = {
  name: "merge",
  text: `
begun=$1 commit=$2 checkout=$3 branch=$4 mirror=$5
is_as_seen() {
  [ "$(git rev-parse HEAD --symbolic-full-name HEAD)" = "$from
$branch" ]
}
${merging}
index=$(git rev-parse --path-format=absolute --git-path index) && from=$(git rev-parse HEAD) && is_as_seen || exit ${ends.notBegun}
merge_noted "$commit"
[ "$(git rev-parse "$branch" --symbolic-full-name HEAD)" = "$commit
$branch" ] || [ "$(git rev-parse "$branch")" != "$commit" ] || exit ${ends.strayed}`,
};
