export { listParked, parkWork } from "./parking.js";
export { dropLanded, restoreParked } from "./restore.js";
