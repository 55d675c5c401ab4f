export { listParked, type Parked, parkWork } from "./parking.js";
export { type Restored, restoreParked } from "./restore.js";
