import { testAcpAgent } from "./acp-suite.js";

testAcpAgent({
  program: "opencode",
  command: ["opencode", "acp"],
  model: "local/test-model",
  cost: 0.0009375,
  cutOff: null,
  isSelfReliant: true,
});
