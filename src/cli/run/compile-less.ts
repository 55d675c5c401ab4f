import { setFlagsFromString } from "node:v8";

/**
 * A run does a little of everything: thousands of functions, each a few times for an issue. The engine compiles them for
 * speed in threads of its own, which takes a fifth of the processor time of a run of hundreds of issues and wins hardly
 * anything back. So a function must have run about eight times as long before that; one that is busy for long still gets there.
 */
export function compileLess(): void {
  setFlagsFromString("--interrupt-budget=1000000");
}
