export { editDistance, nearest } from "../core/suggest.js";
