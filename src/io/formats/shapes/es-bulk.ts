import { hash } from "node:crypto";
import { systemClock, timestamp } from "../../../core/clock.js";
import { nestedFacts, nestedText } from "../../../core/row.js";
import { jsonLinesEncoder } from "../lines-encoder.js";
import { cellMembers, memberKeys } from "../ndjson/ndjson-output.js";
import type { Encoder, EncoderOptions, WritableFormat } from "../types.js";

/**
 * Writes the body of Elasticsearch's and OpenSearch's `_bulk` request: per row an action line and a
 * document with all data under `repute`. The identifier depends only on the row and its number, or on
 * the item, so loading the file again, or that of another run of the same input, replaces documents
 * instead of adding some.
 */
export const esBulk: WritableFormat = {
  extensions: [],
  write: pairEncoder,
  keepsReceived: () => true,
};

function pairEncoder({
  columns,
  esAction = "index",
  esId = "row",
  clock = systemClock,
}: EncoderOptions): Encoder {
  const keys = memberKeys(columns);
  return jsonLinesEncoder(({ row, item, finding }) => {
    // A line that is not a record has no columns.
    const input = row.json ?? (row.fault === null ? `{${cellMembers(row, keys)}}` : "null");
    const identity =
      esId === "item" && item !== null
        ? `${item.kind}\n${item.value}`
        : `${row.number}\n${input}\n${row.extra ?? ""}`;
    const id = hash("sha256", identity).slice(0, 40);
    const time = finding.lookedUpAt ?? timestamp(clock.now());
    const facts = nestedText(nestedFacts(item, finding), finding).slice(1, -1);
    // `extra` of a cell-based source is already JSON; an NDJSON record has all its members.
    const extra = row.json === null && row.extra !== null ? `,"extra":${row.extra}` : "";
    const repute = `{"row":${row.number},${facts},"input":${input}${extra}}`;
    return `{"${esAction}":{"_id":"${id}"}}\n{"@timestamp":${JSON.stringify(time)},"repute":${repute}}\n`;
  });
}
