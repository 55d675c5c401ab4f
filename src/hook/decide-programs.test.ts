import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "./decide.js";
import { normalise } from "./normalise.js";
import type { Decision } from "./types.js";

const root = realpathSync(mkdtempSync(join(tmpdir(), "ratchet-guard-")));
const worktree = join(root, "wt");
const tmp = join(root, "tmp");
const repository = join(root, "repository");
const outside = join(root, "outside");
const place = { home: join(root, "home"), tmp, env: {}, ownsProcess: () => false };

beforeAll(() => {
  for (const folder of [join(worktree, "sub"), tmp, repository, outside]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(repository, "HEAD"), "");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function shell(line: string, readOnly = false): Decision {
  const guard = { worktree, readOnly, writable: [tmp, repository] };
  const places: Record<string, string> = { OUT: outside, REPO: repository, TMP: tmp };
  const command = line.replaceAll(/OUT|REPO|TMP/g, (name) => places[name] ?? name);
  return decide(guard, { kind: "shell", command, cwd: worktree }, place);
}

const patch = (...headers: string[]) =>
  `*** Begin Patch\n${headers.map((each) => `${each}\n+x\n`).join("")}*** End Patch`;

const hostile = [
  // Patches that codex applies itself.
  `apply_patch <<'P'\n${patch("*** Add File: OUT/x")}\nP`,
  `apply_patch <<'P'\n${patch("*** Add File: a", "*** Delete File: ../x")}\nP`,
  `apply_patch <<'P'\n${patch("*** Update File: a\n*** Move to: OUT/x")}\nP`,
  `apply_patch <<'P'\n${patch("  *** Add File: OUT/x")}\nP`,
  `apply_patch <<'P'\n${patch("*** Add File: a\u2028/../../x")}\nP`,
  `applypatch <<'P'\n${patch("*** Add File: OUT/x")}\nP`,
  `apply_patch '${patch("*** Add File: OUT/x")}'`,
  `bash -lc "apply_patch <<'P'\n${patch("*** Add File: OUT/x")}\nP"`,
  `cd .. && apply_patch <<'P'\n${patch("*** Add File: x")}\nP`,
  `cd sub && apply_patch <<'P'\n${patch("*** Add File: ../../x")}\nP`,
  `echo '${patch("*** Add File: OUT/x")}' | apply_patch`,
  `codex --codex-run-as-apply-patch '${patch("*** Add File: OUT/x")}'`,
  `apply_patch <<P\n${patch("*** Add File: $X/x")}\nP`,
  "apply_patch < p.txt",
  "apply_patch <<'P'\nnot a patch\nP",
  "apply_patch",
  // Programs that git starts later.
  "git checkout-index -a --prefix=OUT/",
  "git checkout-index -a --pre OUT/",
  "git config core.fsmonitor 'touch OUT/x'",
  "git config Core.HooksPath sub",
  "git config set core.sshCommand ./x",
  "git config --add core.pager ./x",
  "git config --replace-all core.pager ./x cat",
  "git config --local --type path core.editor ./x",
  "git config sequence.editor ./x",
  "git config diff.external ./x",
  "git config diff.a.textconv ./x",
  "git config filter.a.clean ./x",
  "git config merge.a.driver ./x",
  "git config credential.helper ./x",
  "git config credential.http://x.helper ./x",
  "git config gpg.program ./x",
  "git config alias.x 'push --force'",
  "git config alias.x '!ls'",
  "git config include.path ./x",
  "git config --file .git/config core.pager ./x",
  "git config -f sub/c core.pager ./x",
  "git config --rename-section user alias",
  "git config edit",
  'git config "$KEY" x',
  "git config $KEY",
  "git -c core.hooksPath=sub commit -m x",
  'git -c core.pager="$X" log',
  "git --config-env=core.pager=X log",
  "git clone -c core.fsmonitor='touch OUT/x' . sub/c",
  "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='touch OUT/x' git log",
  "echo x >> .git/config",
  "cp x .git/hooks/pre-commit",
  "cp x REPO/hooks/post-commit",
  "echo x > REPO/config",
  "git tag -f v1",
  // Other names for a program, and text that becomes one.
  "alias t=touch; shopt -s expand_aliases; eval 't OUT/x'",
  "sh -c 'alias t=touch\nt OUT/x'",
  "BASH_ALIASES[t]=touch; shopt -s expand_aliases; eval 't OUT/x'",
  "hash -p /bin/touch t; t OUT/x",
  "enable -f ./x.so x",
  "mapfile -c 1 -C 'touch OUT/x #' a < list.txt",
  "compgen -C 'touch OUT/x'",
  "let 'a[$(touch OUT/x)]=1'",
  "test -v 'a[$(touch OUT/x)]'",
  "[[ -v 'a[$(touch OUT/x)]' ]]",
  "printf -v 'a[$(touch OUT/x)]' 1",
  "x='a[$(touch OUT/x)]'; echo $((x))",
  // Long options, cut short.
  "cp --targ=OUT a",
  "cp --targ OUT a",
  "sort --outp=OUT/a b",
  "tar xf a.tar --direc=OUT",
  "sed --in-pl 's/a/b/' OUT/a",
  "git archive --outp=OUT/a HEAD",
  "git config --glob user.name x",
  "git branch --del x",
  "timeout --sig KILL 5 rm -rf OUT",
  "git grep -O'touch OUT/x' a",
  "git bugreport -o OUT",
  "git read-tree --index-output=OUT/i HEAD",
  // Programs with a language of their own.
  "sqlite3 OUT/x.db 'create table a(b)'",
  "sqlite3 -cmd '.output OUT/x' a.db 'select 1'",
  "sqlite3 a.db <<'E'\n.once OUT/x\nselect 1;\nE",
  "sqlite3 a.db '.shell touch OUT/x'",
  "sqlite3 a.db '.once |touch OUT/x'",
  "sqlite3 a.db '.sh touch OUT/x'",
  "sqlite3 a.db '.read \"|touch OUT/x\"'",
  "sqlite3 a.db \"attach 'OUT/x.db' as b\"",
  "sqlite3 a.db \"VACUUM INTO 'OUT/x.db'\"",
  "sqlite3 :memory: \"select writefile('OUT/x', 'y')\"",
  "sqlite3 file:OUT/x.db 'create table a(b)'",
  "vim -es -c 'w OUT/v' -c q",
  "printf 'w OUT/x\\n' | ed -s a",
  "ex -s a <<'E'\nw OUT/x\nE",
  "make -f - <<'E'\nall:\n\ttouch OUT/x\nE",
  "make -f /dev/stdin < a",
  "make --file=- < a",
  "make --eval='all:;touch OUT/x'",
  "make -C OUT",
  "make -j -C OUT",
];

const harmless = [
  `apply_patch <<'P'\n${patch("*** Add File: src/x", "*** Update File: a\n*** Move to: sub/b")}\nP`,
  `cd sub && apply_patch <<'P'\n${patch("*** Delete File: ../x")}\nP`,
  `apply_patch '${patch("*** Add File: x")}'`,
  `bash -lc "apply_patch <<'P'\n${patch("*** Add File: x")}\nP"`,
  "git config user.email a@b.c && git config set pull.rebase true",
  "git config merge.conflictStyle diff3; git config branch.main.rebase true; git config core.autocrlf input",
  "git config core.pager cat; git config core.editor true; git config core.hooksPath /dev/null",
  "git config --get core.pager; git config alias.x; git config -l",
  "git config -f .gitmodules submodule.a.path a",
  "git -c core.hooksPath=/dev/null -c user.name=x commit -m x",
  "git checkout-index -a --prefix=sub/",
  "git tag v1 && git tag -d v1",
  "echo build >> .git/info/exclude",
  "alias; hash -r; enable",
  "sqlite3 a.db 'select 1'; sqlite3 TMP/a.db < schema.sql; sqlite3 :memory: 'select 1'",
  "sqlite3 -readonly OUT/x.db 'select 1'",
  "sqlite3 -header -csv a.db '.tables'; sqlite3 a.db '.import --csv /usr/share/x.csv t'; sqlite3 a.db .show",
  "vim --version",
  "git diff --text; git log --format=%H; curl -s --output /dev/null http://x; rsync -a --backup sub/ b/",
  "cp --recursive a b; ls --color=auto; grep --color a b; git commit --amend --no-edit",
  "test -n 'a[0]'; a[0]=1; unset 'a[0]'; printf '%s' 'x[$(y)]'",
  "make; make -j4 test; make -C sub -f ../Makefile all; make -j test",
];

describe("the guard, on programs with ways of their own", () => {
  it.each(hostile)("refuses %s", (line) => expect(shell(line)).toMatchObject({ allow: false }));
  it.each(harmless)("lets pass %s", (line) => expect(shell(line)).toEqual({ allow: true }));

  it("lets no reviewer apply a patch", () => {
    expect(shell(`apply_patch <<'P'\n${patch("*** Add File: x")}\nP`, true)).toMatchObject({ allow: false });
  });

  it("reads the same patch when codex gives the words as a list", () => {
    const guard = { worktree, readOnly: false, writable: [] };
    const may = (...command: string[]) => {
      const call = normalise({ tool: "shell", input: { command }, cwd: worktree });
      return call !== null && decide(guard, call, place).allow;
    };
    for (const name of ["apply_patch", "applypatch"]) {
      expect(may(name, patch("*** Add File: x"))).toBe(true);
      expect(may(name, patch(`*** Add File: ${outside}/x`))).toBe(false);
    }
  });

  it("names $TMPDIR to who writes elsewhere", () => {
    expect(shell("echo x > /tmp/x")).toMatchObject({ allow: false, reason: expect.stringContaining("$TMPDIR") });
  });
});
