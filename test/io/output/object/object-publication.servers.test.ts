import { promises } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { afterEach, beforeEach, expect, test } from "vitest";
import { failedSuffix, manifestPath } from "../../../../src/core/files/output-names.js";
import { parseOutput } from "../../../../src/io/output/registry.js";
import { type ObjectUpload, openUpload } from "../../../../src/io/output/object/publish.js";
import { type ObjectTests, useObjectStore } from "./object-tests.js";

let tests: ObjectTests;
/** Operations until the process dies: requests and changes of files. */
let left = Number.POSITIVE_INFINITY;

const isAlive = (): boolean => --left > 0;

useObjectStore((given) => (tests = given));

const changing = ["open", "rename", "rm"] as const;
const real = { ...promises };
const folder = process.cwd();

beforeEach(() => {
  process.chdir(tests.cwd);
  left = Number.POSITIVE_INFINITY;
  // The store may have done the last request.
  tests.store.fault = () => (isAlive() ? null : left === 0 ? "lost answer" : "denied");
  for (const name of changing) {
    const method = real[name] as (...args: readonly unknown[]) => unknown;
    const killed = async (...args: readonly unknown[]): Promise<unknown> => {
      if ((name !== "open" || args[1] === "w") && !isAlive()) throw new Error("killed");
      return method(...args);
    };
    Object.assign(promises, { [name]: killed });
  }
  syncBuiltinESMExports();
});

afterEach(() => {
  Object.assign(promises, real);
  syncBuiltinESMExports();
  process.chdir(folder);
});

/** What a run uploads, by name. */
interface Kind {
  readonly output: string;
  readonly bytes?: number;
}

const kinds: readonly (readonly [name: string, kind: Kind])[] = [
  ["rows", { output: "rows.csv" }],
  ["rows in parts", { output: "rows.csv", bytes: 9 * 1024 * 1024 }],
];

const place = (name: string): string => `s3://lake/${tests.key}/${name}`;

/** As a process does that knows nothing of the ones before. */
const opened = ({ output }: Kind): Promise<ObjectUpload> =>
  openUpload(parseOutput(place(output)).object!);

/** A run, whose letter is the content of its files. */
class Run {
  readonly kind: Kind;
  readonly #letter: string;
  /** What is there when it is published: contents by name. */
  readonly objects: Readonly<Record<string, string>>;
  resumed = 0;

  get id(): string {
    return this.#letter;
  }

  constructor(kind: Kind, number: number) {
    this.kind = kind;
    this.#letter = String.fromCodePoint(64 + number);
    this.objects = { [kind.output]: this.#letter };
  }

  manifest() {
    return {
      run_id: this.#letter,
      ended_at: "now",
      exit_reason: "done",
      resumed: this.resumed,
      output: { rows: 1 },
    };
  }

  /** Begins, and writes the local files. */
  async write(): Promise<void> {
    const upload = await opened(this.kind);
    await upload.begin();
    await mkdir(upload.folder, { recursive: true });
    await writeFile(upload.path, this.id.padEnd(this.kind.bytes ?? 0, this.id));
  }

  /** Publishes, in a new process; false if it is killed. */
  async publish(operations = Number.POSITIVE_INFINITY): Promise<boolean> {
    const upload = await opened(this.kind);
    const manifest = this.manifest();
    const options = { suffix: "", signal: undefined, inputs: [], onWarning: undefined };
    await writeFile(manifestPath(upload.path), JSON.stringify(manifest));
    left = operations;
    const isDone = await upload.publish(options).then(
      () => left > 0,
      (error: unknown) => {
        if (left > 0) throw error;
        return false;
      },
    );
    left = Number.POSITIVE_INFINITY;
    if (isDone) upload.clean();
    return isDone;
  }

  async withdraw(): Promise<void> {
    const upload = await opened(this.kind);
    await upload.withdraw();
    upload.clean();
  }
}

/** What is there, which is all of a run and nothing else. */
async function expectThere(run: Run): Promise<void> {
  const { output } = run.kind;
  const { [manifestPath(output)]: manifest, ...others } = await contents(run.kind);
  expect(others).toEqual(run.objects);
  expect(JSON.parse(manifest ?? "null")).toEqual(run.manifest());
  expect(await readdir(tests.cwd)).toEqual([]);
}

/** All objects by name. Text of one letter is that letter. */
async function contents({ bytes }: Kind): Promise<Readonly<Record<string, string>>> {
  const { store, key } = tests;
  const found: Record<string, string> = {};
  for (const each of await store.keys(`${key}/`)) {
    const text = (await store.get(each)).toString();
    const isWhole = text.length === bytes && text === text.charAt(0).repeat(bytes);
    found[each.slice(key.length + 1)] = isWhole ? text.charAt(0) : text;
  }
  return found;
}

test.each(kinds)("%s: published twice, is the same", async (_, kind) => {
  const run = new Run(kind, 1);
  await run.write();
  expect(await run.publish()).toBe(true);
  await expectThere(run);
  await run.write();
  run.resumed++;
  expect(await run.publish()).toBe(true);
  await expectThere(run);
});

/** Puts what an earlier run with too many failures has left. */
async function putFailed({ output }: Kind): Promise<void> {
  const { store, key } = tests;
  const failed = output + failedSuffix;
  const manifest = { exit_reason: "too_many_failed" };
  await store.put(`${key}/${failed}`, "failed");
  await store.put(`${key}/${manifestPath(failed)}`, JSON.stringify(manifest));
}

test.each(kinds)("%s: killed at any operation and published again, is whole", async (_, kind) => {
  let operations = 1;
  for (let isDone = false; !isDone; operations++) {
    await putFailed(kind);
    const run = new Run(kind, operations);
    await run.write();
    isDone = await run.publish(operations);
    if (!isDone) {
      run.resumed++;
      await run.publish();
    }
    await expectThere(run);
  }
  expect(operations).toBeGreaterThan(5);
});
