import { testAcpAgent } from "./acp-suite.js";

testAcpAgent({ program: "claude-agent-acp", command: ["claude-agent-acp"], model: "sonnet", cost: 0.0009375 });

// Its configuration names the model of the server, which is in no list of its own.
testAcpAgent({ program: "codex-acp", command: ["codex-acp"], model: null, cost: null, cutOff: null });
