import "../../src/reviewers/cerberus/program.js";
