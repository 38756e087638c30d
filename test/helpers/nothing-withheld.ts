import { Withheld } from "../../src/client/lookup/withheld.js";

/** The addresses of tests are those for documentation, which are reserved. */
export const nothingWithheld = new Withheld({ bogons: "ask", urlQuery: "keep", lists: [] });
