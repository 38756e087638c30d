import type { SourceFormat } from "../../../../src/io/formats/types.js";

/** A messy input of one format and what every source must read from it. */
export interface SourceSample {
  readonly content: string;
  readonly columns: readonly string[];
  readonly items: readonly string[];
}

const bom = "\ufeff";

/** BOM, mixed line ends, blank lines, comments, non-ASCII text, no line end at the end. */
export const sourceSamples: Record<Exclude<SourceFormat, "json">, SourceSample> = {
  csv: {
    content:
      `${bom}# made by hand\r\n\r\nid, item ,note\r\n` +
      "1,192.0.2.1,plain\n" +
      '2,"192.0.2.2","two\r\nlines, ""quoted"""\r\n' +
      "\n# in between\n" +
      "3,192.0.2.3\n" +
      "4,192.0.2.4,Übersicht 😀,surplus\n" +
      '5,"192.0.2.5",5" disk',
    columns: ["id", " item ", "note"],
    items: ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"],
  },
  tsv: {
    content:
      `${bom}# made by hand\r\n\r\nid\t item \tnote\r\n` +
      "1\t192.0.2.1\tplain, with a comma\n" +
      '2\t"192.0.2.2"\t"two\nlines\tin a cell"\r\n' +
      "\n# in between\n" +
      "3\t192.0.2.3\n" +
      "4\t192.0.2.4\tÜbersicht 😀\tsurplus\n" +
      "5\t192.0.2.5\tlast",
    columns: ["id", " item ", "note"],
    items: ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"],
  },
  ndjson: {
    content:
      `${bom}# made by hand\r\n\r\n` +
      '{"id":1,"item":"192.0.2.1"}\r\n' +
      ' {"id":2,"item":"192.0.2.2","note":"beyond"}\n' +
      "\n# in between\n" +
      "this is broken\n" +
      '{"item":"192.0.2.4","id":4.0,"note":"Übersicht 😀"}\n' +
      '{"id":5,"item":"192.0.2.5"}',
    columns: ["id", "item"],
    items: ["192.0.2.1", "192.0.2.2", "", "192.0.2.4", "192.0.2.5"],
  },
  text: {
    content:
      `${bom}# made by hand\r\n\r\n192.0.2.1\r\n  192.0.2.2\n\n  # in between\n   \n` +
      "hxxp://example[.]com/ü 😀\n192.0.2.4\n192.0.2.5",
    columns: ["item"],
    items: ["192.0.2.1", "  192.0.2.2", "hxxp://example[.]com/ü 😀", "192.0.2.4", "192.0.2.5"],
  },
};
