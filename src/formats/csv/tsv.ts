import { delimited } from "./csv.js";

/** Tab-separated values, with the quoting of CSV as spreadsheets write it. */
export const tsv = delimited("\t", ["tsv", "tab"], () => ["\t"]);
