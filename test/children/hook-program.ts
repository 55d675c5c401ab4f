import "../../src/hook/program.js";
