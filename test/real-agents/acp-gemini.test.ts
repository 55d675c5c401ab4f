import { testAcpAgent } from "./acp-suite.js";

// In a file of its own: most of its time it waits for the next minute.
testAcpAgent({
  program: "gemini",
  command: ["gemini", "--acp"],
  model: "gemini-2.5-pro",
  cost: null,
  cutOff: null,
  losesYoungSessions: true,
});
