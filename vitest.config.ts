import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const define = { __RATCHET_VERSION__: JSON.stringify("0.0.0-test") };
// The bundle is loaded as it is: as a module of the tests it would be taken apart for every file.
const server = { deps: { external: [/\/dist-test\//] } };
const takesLong =
  /kill|demo|crash|stop|durable|many-at-once|package|tracker|person-at-work|cli-(run|int)|^gc|^acp|^pi\./;
// Every program that a test starts would read a machine's own certificates first, which takes longer than node's start.
// Nothing but loopback is spoken to.
delete process.env.NODE_EXTRA_CA_CERTS;

/** What takes long begins first, so that at the end nobody waits for one file alone. */
class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isShort = ({ moduleId }: TestSpecification) => Number(!takesLong.test(moduleId.replace(/^.*\//, "")));
    return (await super.sort(files)).sort((a, b) => isShort(a) - isShort(b));
  }
}

export default defineConfig({
  define,
  test: {
    sequence: { sequencer: LongOnesFirst },
    projects: [
      {
        define,
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/architecture.test.ts"],
          // Pure modules keep nothing, so that they are loaded once for all files.
          isolate: false,
          testTimeout: 120_000,
        },
      },
      {
        define,
        test: {
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: ["test/architecture.test.ts", "test/real-agents/**"],
          globalSetup: ["test/setup.ts", "test/setup-memory.ts"],
          server,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        define,
        test: {
          name: "agents",
          include: ["test/real-agents/**/*.test.ts"],
          globalSetup: ["test/setup.ts"],
          server,
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
    ],
    // More than two cores can do at once: most tests wait for processes most of the time.
    maxWorkers: 4,
  },
});
