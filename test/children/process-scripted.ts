import "../../src/agents/scripted/program.js";
