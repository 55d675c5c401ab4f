export { listParked, parkWork } from "./parking.js";
export { restoreParked } from "./restore.js";
