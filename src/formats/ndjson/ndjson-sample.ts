import { UsageError } from "../../core/errors.js";
import type { JsonObject } from "../../core/finding.js";
import { memberTexts } from "../../core/json-members.js";
import { limits } from "../reading/limits.js";
import type { Line } from "../reading/lines.js";
import type { MemberPath } from "./ndjson-row.js";
import { parseRecord } from "./ndjson-row.js";
import { type Pauses, Sample } from "../reading/sample.js";

/**
 * The beginning of an NDJSON input, read ahead to learn its columns; the lines stay to be read.
 */
export class NdjsonSample {
  readonly #name: string;
  readonly #ahead: Sample<Line>;
  readonly #objects: JsonObject[] = [];
  #columns: readonly string[] = [];
  /** Lines looked at, and their length in all. */
  #seen = 0;
  #length = 0;

  constructor(name: string, lines: AsyncGenerator<readonly Line[]>, pauses: Pauses | null) {
    this.#name = name;
    this.#ahead = new Sample(lines, pauses);
  }

  /** The member names of the first object, in the order of the input; none before it is read. */
  get columns(): readonly string[] {
    return this.#columns;
  }

  get hasObjects(): boolean {
    return this.#objects.length > 0;
  }

  /** The objects read so far. */
  get objects(): readonly JsonObject[] {
    return this.#objects;
  }

  /** Whether one of the first objects has something at a path. Reads on where it has to. */
  async includes(path: MemberPath): Promise<boolean> {
    const inSample = (): boolean =>
      this.#objects
        .slice(0, limits.objectsSearched)
        .some((object) => path.valueIn(object) !== undefined);
    if (inSample()) return true;
    await this.readObjects(limits.objectsSearched);
    return inSample();
  }

  /**
   * Reads on until there are so many objects, or the input ends.
   *
   * @param enoughInPause whether the objects will do where the input pauses
   * @throws UsageError `input_json_array`, and `input_not_ndjson` when no object comes for long
   */
  async readObjects(count: number, enoughInPause: () => boolean = () => false): Promise<void> {
    await this.#ahead.until(() => {
      this.#look();
      return this.#objects.length >= count || this.#length > limits.recordBytes;
    }, enoughInPause);
    this.#look();
  }

  /** All lines of the input, those read ahead first. */
  lines(): AsyncGenerator<readonly Line[]> {
    this.#objects.length = 0;
    return this.#ahead.all();
  }

  #look(): void {
    for (const line of this.#ahead.read.slice(this.#seen)) this.#add(line);
  }

  #add(line: Line): void {
    const text = line.text.trim();
    if (this.#seen === 0 && arrayBegins.test(text)) throw arrayError(this.#name);
    this.#seen += 1;
    this.#length += text.length;
    const { object } = parseRecord(text);
    if (object !== null) {
      if (!this.hasObjects) this.#columns = [...memberTexts(text).keys()];
      this.#objects.push(object);
    } else if (!this.hasObjects) {
      const tooMany = this.#seen > limits.linesBeforeObject;
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
