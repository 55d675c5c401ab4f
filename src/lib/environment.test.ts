import { expect, test } from "vitest";
import { allowedEnvironment, commandEnvironment } from "./environment.js";

const env = {
  PATH: "/bin",
  LC_ALL: "C",
  LANG: "C",
  LCX: "no",
  GITHUB_TOKEN: "t",
  my_secret: "s",
  DB_PASSWORD: "p",
  API_KEY: "k",
  KEYBOARD: "de",
  EMPTY: "",
  ABSENT: undefined,
  RATCHET_SESSION_ID: "outer",
  RATCHET_HOME: "/home/x/.ratchet",
  GIT_DIR: "/elsewhere/.git",
  GIT_AUTHOR_NAME: "Jo",
};

test.each([
  [["PATH"], ["PATH"]],
  [["LC_*"], ["LC_ALL"]],
  [
    ["PATH", "EMPTY", "ABSENT", "NOT_THERE"],
    ["EMPTY", "PATH"],
  ],
  [["GITHUB_TOKEN"], ["GITHUB_TOKEN"]],
  [[], []],
])("an agent that may see %j sees %j", (allowed, seen) => {
  expect(Object.keys(allowedEnvironment(env, allowed)).sort()).toEqual(["GIT_NO_REPLACE_OBJECTS", ...seen].sort());
});

const usual = [
  "EMPTY",
  "GIT_AUTHOR_NAME",
  "GIT_NO_REPLACE_OBJECTS",
  "KEYBOARD",
  "LANG",
  "LCX",
  "LC_ALL",
  "PATH",
  "RATCHET_HOME",
];
test.each([
  ["inherit" as const, ["API_KEY", "DB_PASSWORD", "EMPTY", "GITHUB_TOKEN", ...usual.slice(1), "my_secret"]],
  [[], usual],
  [
    ["API_KEY", "GITHUB_*"],
    ["API_KEY", "EMPTY", "GITHUB_TOKEN", ...usual.slice(1)],
  ],
])("commands with commands_env %j see what is no secret and the secrets that it lets through", (listed, seen) => {
  expect(Object.keys(commandEnvironment(env, listed)).sort()).toEqual(seen);
});
