export { listParked, parkWork } from "./parking.js";
export { dropLanded, findHalfParked, finishParking, restoreParked } from "./restore.js";
