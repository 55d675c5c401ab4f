import { defineConfig } from "vitest/config";

const define = { __RATCHET_VERSION__: JSON.stringify("0.0.0-test") };
export default defineConfig({
  define,
  test: {
    projects: [
      {
        define,
        test: { name: "unit", include: ["src/**/*.test.ts", "test/architecture.test.ts"], testTimeout: 30_000 },
      },
      {
        define,
        test: {
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: ["test/architecture.test.ts", "test/real-agents/**"],
          globalSetup: ["test/setup.ts"],
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
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
    ],
    maxWorkers: 2,
  },
});
