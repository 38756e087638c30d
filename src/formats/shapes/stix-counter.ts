import { FatalError } from "../../core/errors.js";
import type { RecordCounter } from "../types.js";

const idPattern = /^indicator--([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Counts the indicators of a STIX bundle and makes sure that it is one: a head, who it is by, one
 * indicator a line with an identifier of its own, an end, and a comma where one belongs.
 */
export function countIndicators(): RecordCounter {
  const ids = new Set<string>();
  let number = 0;
  let comma = true;
  let ended = false;
  const isInPlace = (line: string): boolean => {
    if (number === 1) return isBundle(parsed(`${line}]}`));
    if (line === "]}") {
      ended = true;
      return !comma && number > 2;
    }
    if (!comma) return false;
    comma = line.endsWith(",");
    const object = parsed(comma ? line.slice(0, -1) : line);
    if (number === 2) return object["type"] === "identity";
    const [, uuid] = idPattern.exec(String(object["id"])) ?? [];
    if (object["type"] !== "indicator" || uuid === undefined || ids.has(uuid)) return false;
    ids.add(uuid);
    return true;
  };
  return {
    add(record) {
      number += 1;
      if (!ended && isInPlace(record.toString().slice(0, -1))) return;
      const message = `line ${number} of the output is not what a bundle has there`;
      throw new FatalError("output_corrupt", message);
    },
    counted() {
      if (ended) return { rows: null, statuses: null, verdicts: null, indicators: ids.size };
      throw new FatalError("output_corrupt", "the output is a bundle without an end");
    },
  };
}

function isBundle(value: Readonly<Record<string, unknown>>): boolean {
  return value["type"] === "bundle" && Array.isArray(value["objects"]);
}

/** A line's object; one without members for what is none. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
