import { startOver } from "./remedies.js";
import type { CodeEntries } from "./entry.js";

export const inputCodes = {
  input_missing: ["there is no input", "name a file, pipe rows in, or give - to type them"],
  input_not_found: ["the input file does not exist", "check the path"],
  input_is_directory: ["the input is a directory", "name the file"],
  input_folder_empty: ["the folder has no file of a known format", "name the files one by one"],
  input_is_work: ["the folder holds the chunks of a divided input", "add --chunk N"],
  inputs_mixed: ["the inputs are both NDJSON and rows", "run once for each kind"],
  input_unreadable: ["the input cannot be opened or read", "check permissions and the disk"],
  input_changed: [
    "the input is not the one the interrupted run read",
    "repeat the command with --resume: a new run starts with the answers so far",
  ],
  input_empty: [
    "the input has no rows, and the output of the run before has some",
    "check the export that makes the input; if it is right, remove OUT first",
  ],
  input_binary: [
    "the input is an image, an archive, XML or other binary data",
    "convert it to CSV, TSV, NDJSON or a list",
  ],
  input_gzip: ["the input is not gzip, is damaged or cut off", "copy it again; check its name"],
  input_json: ["the JSON document is damaged or cut off", "correct the place that is named"],
  input_json_rows: [
    "the JSON document does not have one list of objects",
    "find the items in any text: repute extract FILE",
  ],
  input_encoding: ["the input is not in the encoding of --encoding", "name another one"],
  input_workbook: ["the Excel workbook is damaged or too large", "save the sheet as CSV"],
  sheet_not_found: ["the workbook has no such sheet", "choose one that the message lists"],
  no_workbook: ["--sheet applies only to Excel workbooks", "leave out --sheet"],
  input_not_ndjson: [
    "the input is not NDJSON: one JSON object per line",
    "convert it: jq -c . FILE; or name its format with --from",
  ],
  input_quote: ["a quote opens and never closes", "close the quote on the line named"],
  input_record: ["the input cannot be split into records", "check --from and the line named"],
  input_record_too_long: [
    "a record is longer than repute reads",
    "check --from; remove the line or close its quote",
  ],
  input_row: ["the line is not a record; the row failed", "correct the line"],
  bad_table_input: ["the address of a table does not say what to read", "add ?table= or ?query="],
  table_not_found: ["the database has no such table", "check the name"],
  bad_query: ["the database refuses the input's query", "correct it; only a single SELECT is run"],
  parquet_unreadable: [
    "the Parquet file is damaged, or has a codec or type that repute cannot read",
    "see the message",
  ],
  copy_damaged: ["the copy of the input in the state folder is damaged", startOver],
  too_many_inputs: ["more inputs than the command takes", "join the files, or run once for each"],
  column_not_found: ["no such column, or none holds items", "give --item-column"],
  column_ambiguous: ["several columns may hold the item", "choose one with --item-column"],
  column_clash: ["the input already has a column that would be added", "give another --prefix"],
} as const satisfies CodeEntries;
