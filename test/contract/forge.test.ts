import { testForge } from "./forge-suite.js";
import { githubWorld, memoryWorld } from "./forge-world.js";

testForge("memory", memoryWorld);
testForge("github", githubWorld);
