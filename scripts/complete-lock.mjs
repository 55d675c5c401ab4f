// `npm install` leaves optional packages of other platforms out of package-lock.json when the registry in use does not
// carry them, and `npm ci` then refuses the lock. This adds the missing entries: run it after every `npm install`.
import { readFileSync, writeFileSync } from "node:fs";

const systems = ["android", "darwin", "freebsd", "linux", "openharmony", "win32", "aix", "netbsd", "openbsd", "sunos"];
const processors = ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
let added = 0;
for (const owner of Object.values({ ...lock.packages })) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (lock.packages[path] !== undefined) continue;
    const words = name.split(/[/-]/);
    const os = systems.filter((system) => words.includes(system));
    const cpu = processors.filter((processor) => words.includes(processor)).slice(0, 1);
    const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
    lock.packages[path] = {
      version,
      ...(cpu.length ? { cpu } : {}),
      ...(owner.dev ? { dev: true } : {}),
      ...(libc.length ? { libc } : {}),
      optional: true,
      ...(os.length ? { os } : {}),
    };
    added++;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} entries added`);
