import { hash } from "node:crypto";
import { jsonLinesEncoder } from "../lines-encoder.js";
import { splitLines } from "../record-splitter.js";
import { countJson } from "../ndjson/ndjson-output.js";
import { FatalError } from "../../core/errors.js";
import type { Encoder, EncoderOptions, RecordCounter, WritableFormat } from "../types.js";
import { ecsDocuments } from "./ecs.js";
import { inputMember } from "./item-facts.js";

/**
 * Writes the body of Elasticsearch's and OpenSearch's `_bulk` request: per row an action line and
 * an ECS document. The identifier depends only on the row and its number, so loading the file
 * again, or that of another run of the same input, replaces documents instead of adding some.
 */
export const esBulk: WritableFormat = {
  extensions: [],
  write: esBulkEncoder,
  split: splitLines,
  count: countPairs,
  keepsReceived: () => true,
};

function esBulkEncoder(options: EncoderOptions): Encoder {
  const document = ecsDocuments(options);
  const input = inputMember(options.columns);
  const { esIndex } = options;
  const start =
    esIndex === undefined
      ? `{"index":{"_id":"`
      : `{"index":{"_index":${JSON.stringify(esIndex)},"_id":"`;
  return jsonLinesEncoder((enriched) => {
    const { row } = enriched;
    // A line that is not a record has no columns; its number alone identifies it.
    const id = hash("sha256", `${row.number}\n${input(row)}\n${row.extra ?? ""}`).slice(0, 40);
    return `${start}${id}"}}\n${document(enriched)}`;
  });
}

const actionLine = /^\{"index":\{(?:"_index":"[^"]+",)?"_id":"[0-9a-f]{40}"\}\}\n$/;

/** Counts the documents. Every other line is an action. */
function countPairs(): RecordCounter {
  const documents = countJson(["repute"]);
  let lines = 0;
  return {
    add(record) {
      lines++;
      if (lines % 2 === 0) documents.add(record);
      else if (!actionLine.test(record.toString())) {
        throw new FatalError("output_corrupt", `line ${lines} of the output is not an action`);
      }
    },
    counted() {
      if (lines % 2 === 0) return documents.counted();
      throw new FatalError("output_corrupt", "the output ends with an action without a document");
    },
  };
}
