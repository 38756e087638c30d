import { hash } from "node:crypto";
import type { EnrichedRow } from "../../core/row.js";
import { FatalError } from "../../core/errors.js";
import type { CountOptions, EncoderOptions, RecordCounter, WritableFormat } from "../types.js";
import { documentFormat } from "./document-format.js";
import { ecs, ecsDocuments } from "./ecs.js";
import { inputMember } from "./item-facts.js";

/**
 * Writes the body of Elasticsearch's and OpenSearch's `_bulk` request: per row an action line and
 * an ECS document. The identifier depends only on the row and its number, or on the item, so loading
 * the file again, or that of another run of the same input, replaces documents instead of adding some.
 */
export const esBulk: WritableFormat = { ...documentFormat([], pairsOf), count: countPairs };

function pairsOf(options: EncoderOptions): (enriched: EnrichedRow) => string {
  const document = ecsDocuments(options);
  const input = inputMember(options.columns);
  const { esIndex, esAction = "index", esId = "row" } = options;
  const index = esIndex === undefined ? "" : `"_index":${JSON.stringify(esIndex)},`;
  const start = `{"${esAction}":{${index}"_id":"`;
  const identity = ({ row, item }: EnrichedRow): string =>
    // A row without an item is identified by its number; a line that is not a record has no columns.
    esId === "item" && item !== null
      ? `${item.kind}\n${item.value}`
      : `${row.number}\n${input(row)}\n${row.extra ?? ""}`;
  return (enriched) => {
    const id = hash("sha256", identity(enriched)).slice(0, 40);
    return `${start}${id}"}}\n${document(enriched)}`;
  };
}

const actionLine = /^\{"(?:index|create)":\{(?:"_index":"[^"]+",)?"_id":"[0-9a-f]{40}"\}\}\n$/;

function countPairs(options: CountOptions): RecordCounter {
  const documents = ecs.count(options);
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
