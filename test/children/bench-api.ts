/** What bench/ measures, bundled so that plain programs can import it. */
export { drive } from "../../src/durable/drive.js";
export { ratchetHome } from "../../src/lib/home.js";
export { openStore } from "../../src/store/store.js";
