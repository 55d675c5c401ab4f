import type { ProcessIdentity } from "../lib/process-identity.js";

/** A newer driver has opened the machine: this one must stop at once, its last step was not recorded. */
export class Fenced extends Error {
  override readonly name = "Fenced";
  readonly machine: string;
  constructor(machine: string) {
    super(`another process drives ${machine} now`);
    this.machine = machine;
  }
}

/** The machine has a living driver elsewhere: it was not opened. */
export class Driven extends Error {
  override readonly name = "Driven";
  readonly machine: string;
  readonly driver: ProcessIdentity;
  constructor(machine: string, driver: ProcessIdentity) {
    super(`process ${driver.pid} drives ${machine}`);
    this.machine = machine;
    this.driver = driver;
  }
}
