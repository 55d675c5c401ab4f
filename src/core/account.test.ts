import { describe, expect, it } from "vitest";
import { Account } from "./account.js";

interface Owed {
  readonly key: string;
  readonly told?: true;
}
function accountOf(...keys: string[]) {
  const state: { owed: readonly Owed[] } = { owed: keys.map((key) => ({ key })) };
  const account = new Account<{ readonly key: string }, Owed>({
    read: () => state.owed,
    write: (owed) => {
      state.owed = owed;
    },
  });
  return { state, account, next: () => account.next(state, []) };
}

describe("the account of what is owed", () => {
  it("mirrors an effect in the state until it settles, once", () => {
    const { state, account, next } = accountOf("a");
    account.owe({ key: "b" }, { key: "b" });
    expect(state.owed).toEqual([{ key: "a" }, { key: "b" }]);
    expect(account.settle("a")).toEqual({ key: "a" });
    expect(account.settle("a")).toBeNull();
    expect(state.owed).toEqual([{ key: "b" }]);
    expect(next()).toMatchObject({ effects: [{ key: "b" }], cancel: [] });
  });

  it("cancels only what is owed", () => {
    const { state, account, next } = accountOf("a");
    account.cancel("unknown");
    account.cancel("a");
    expect(state.owed).toEqual([]);
    expect(next().cancel).toEqual(["a"]);
  });

  it("never begins what is owed and dropped in the same step", () => {
    const { account, next } = accountOf();
    account.owe({ key: "mirrored" }, { key: "mirrored" });
    account.owe({ key: "bare" });
    account.cancel("mirrored");
    account.drop("bare");
    expect(next()).toMatchObject({ effects: [], cancel: ["mirrored", "bare"] });
  });

  it("keeps the place of an entry that is replaced", () => {
    const { state, account } = accountOf("a", "b");
    account.replace({ key: "a", told: true });
    expect(state.owed).toEqual([{ key: "a", told: true }, { key: "b" }]);
  });
});
