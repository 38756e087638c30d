import { FatalError } from "../../core/errors.js";
import { RowCounter } from "../../core/row-counter.js";
import type { RowCounts } from "../../core/row-counter.js";
import type { FactsPlace } from "../../outputs/facts-place.js";
import { AuditLines } from "../../pipeline/finish/audit-lines.js";

/** Counts rows of JSON, one a line. */
export class JsonCounter {
  readonly #rows: RowCounter;
  readonly #place: FactsPlace;
  readonly #lines = new AuditLines((line) => this.#count(line));

  constructor(place: FactsPlace, hasVerdicts: boolean) {
    this.#place = place;
    this.#rows = new RowCounter(hasVerdicts);
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  end(): void {
    this.#lines.end();
  }

  found(): RowCounts {
    return this.#rows.found();
  }

  #count(line: string): void {
    const { within, status, verdict } = this.#place;
    let value: unknown = this.#parse(line);
    for (const name of within) value = memberOf(value, name);
    const fault = this.#rows.count(memberOf(value, status), memberOf(value, verdict));
    if (fault !== null) {
      throw new FatalError("output_corrupt", `row ${this.#rows.rows} of the output has ${fault}`);
    }
  }

  #parse(line: string): unknown {
    try {
      return JSON.parse(line);
    } catch (error) {
      const message = `row ${this.#rows.rows + 1} of the output is no JSON`;
      throw new FatalError("output_corrupt", message, { cause: error });
    }
  }
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
}
