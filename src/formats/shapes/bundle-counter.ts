import { FatalError } from "../../core/errors.js";
import { IdSet } from "./id-set.js";
import { AuditLines } from "../../pipeline/finish/audit-lines.js";

const idPattern = /^indicator--([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Counts the indicators of a STIX bundle and makes sure that it is one: a head, who it is by, one
 * indicator a line with an identifier of its own, an end, and a comma where one belongs.
 */
export class BundleCounter {
  readonly #ids = new IdSet();
  readonly #lines = new AuditLines((line) => this.#take(line));
  #line = 0;
  #comma = true;
  #ended = false;

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  /** @throws FatalError `output_corrupt` when the bundle has no end */
  end(): void {
    this.#lines.end();
    if (!this.#ended)
      throw new FatalError("output_corrupt", "the output is a bundle without an end");
  }

  found(): {
    readonly rows: null;
    readonly statuses: null;
    readonly verdicts: null;
    readonly indicators: number;
  } {
    return { rows: null, statuses: null, verdicts: null, indicators: this.#ids.size };
  }

  #take(line: string): void {
    this.#line++;
    if (this.#ended || !this.#isInPlace(line)) {
      throw new FatalError(
        "output_corrupt",
        `line ${this.#line} of the output is not what a bundle has there`,
      );
    }
  }

  #isInPlace(line: string): boolean {
    if (this.#line === 1) return isBundle(parsed(`${line}]}`));
    if (line === "]}") {
      this.#ended = true;
      return !this.#comma && this.#line > 2;
    }
    if (!this.#comma) return false;
    this.#comma = line.endsWith(",");
    const object = parsed(this.#comma ? line.slice(0, -1) : line);
    if (this.#line === 2) return object["type"] === "identity";
    const [, uuid] = idPattern.exec(String(object["id"])) ?? [];
    return object["type"] === "indicator" && uuid !== undefined && this.#ids.add(uuid);
  }
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
