import "../../src/agents/acp/program.js";
