/** For benchmarks: the forge of the tests. */
export { startForge } from "../forge-server/server.js";
