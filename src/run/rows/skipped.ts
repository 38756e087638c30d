import { unasked } from "../../core/finding.js";

/** The finding of a row that is skipped: its item has a row in the output table already. */
export const skipped = unasked("unsupported", null);
