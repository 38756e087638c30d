import { UsageError } from "../core/errors.js";
import type { JsonObject } from "../core/finding.js";
import { memberTexts } from "../core/json-members.js";
import { limits } from "./limits.js";
import type { Line } from "./lines.js";
import type { MemberPath } from "./member-path.js";
import { parseRecord } from "./parse-record.js";

/**
 * The beginning of an NDJSON input, read ahead to learn its columns; the lines stay to be read.
 */
export class NdjsonSample {
  readonly #name: string;
  readonly #rest: AsyncGenerator<readonly Line[]>;
  readonly #lines: Line[] = [];
  readonly #objects: JsonObject[] = [];
  #columns: readonly string[] = [];
  #length = 0;

  constructor(name: string, lines: AsyncGenerator<readonly Line[]>) {
    this.#name = name;
    this.#rest = lines;
  }

  /** The member names of the first object, in the order of the input; none before it is read. */
  get columns(): readonly string[] {
    return this.#columns;
  }

  get hasObjects(): boolean {
    return this.#objects.length > 0;
  }

  /** Whether one of the first objects has something at a path. Reads on where it has to. */
  async includes(path: MemberPath): Promise<boolean> {
    const inSample = (): boolean =>
      this.#objects.slice(0, limits.objectsSearched).some((object) => path.isIn(object));
    if (inSample()) return true;
    await this.readObjects(limits.objectsSearched);
    return inSample();
  }

  /**
   * Reads on until there are so many objects, or the input ends.
   *
   * @throws UsageError `input_json_array`, and `input_not_ndjson` when no object comes for long
   */
  async readObjects(count: number): Promise<void> {
    while (this.#objects.length < count) {
      const next = await this.#rest.next();
      if (next.done === true) return;
      for (const line of next.value) this.#add(line);
    }
  }

  /** All lines of the input, those read ahead first. */
  async *lines(): AsyncGenerator<readonly Line[]> {
    if (this.#lines.length > 0) yield this.#lines.splice(0);
    this.#objects.length = 0;
    yield* this.#rest;
  }

  #add(line: Line): void {
    const text = line.text.trim();
    if (this.#lines.length === 0 && arrayBegins.test(text)) throw arrayError(this.#name);
    this.#lines.push(line);
    this.#length += text.length;
    const { object } = parseRecord(text);
    if (object !== null) {
      if (!this.hasObjects) this.#columns = [...memberTexts(text).keys()];
      this.#objects.push(object);
    } else if (!this.hasObjects) {
      const tooMany = this.#lines.length > limits.linesBeforeObject;
      if (tooMany || this.#length > limits.recordBytes) throw notNdjson(this.#name, line.number);
    }
  }
}

/** `[` alone, `[{` and `[]`: the beginning of a JSON file that holds all objects in one array. */
const arrayBegins = /^\[\s*(?:\{|\]?$)/;

function arrayError(name: string): UsageError {
  const message = `${name} is one JSON array; repute reads NDJSON, one object a line`;
  return new UsageError("input_json_array", message, {
    hint: "Convert it on the way: jq -c '.[]' FILE | repute enrich --from ndjson",
  });
}

function notNdjson(name: string, line: number): UsageError {
  const message = `${name} has no JSON object up to line ${line}: it does not seem to be NDJSON`;
  return new UsageError("input_not_ndjson", message, {
    hint: "Say with --from csv|tsv|text what it is.",
  });
}
