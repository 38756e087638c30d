import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dated, faultsOf, retries } from "../../../helpers/crash-outputs.js";
import type { CrashCase } from "../../../helpers/crash-points.js";
import { objectTests } from "./object-tests.js";

const tests = await objectTests();
const { store } = tests;

type Objects = ReadonlyMap<string, Buffer>;

/** The objects at each operation of the run. */
const kept = new Map<number, Objects>();

async function objects(): Promise<Objects> {
  const { key } = tests;
  const names = await store.keys(`${key}/`);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await store.get(name)] as const)),
  );
}

/** Keeps the objects when the run that is copied asks for it: `GET /POINT`. */
const keeper = createServer(({ url = "" }, response) => {
  void objects().then((found) => {
    kept.set(Number(url.slice(1)), found);
    response.end();
  });
});

beforeAll(() => new Promise<void>((resolve) => keeper.listen(0, "127.0.0.1", resolve)));
afterAll(() => void keeper.close());

async function restore(point: number): Promise<void> {
  const before = kept.get(point) ?? new Map<string, Buffer>();
  const now = await objects();
  for (const name of now.keys()) if (!before.has(name)) await store.remove(name);
  for (const [name, bytes] of before) {
    if (now.get(name)?.equals(bytes) !== true) await store.put(name, bytes);
  }
}

/** The same output as objects. They are copied to the run's folder when it is compared. */
function stored({ args, retry, read, ...output }: CrashCase): CrashCase {
  const { key } = tests;
  const { port } = keeper.address() as AddressInfo;
  const named = (name: string): string =>
    /^(out|again|left)[.-]/.test(name) ? `s3://lake/${key}/${name}` : name;
  return {
    ...output,
    args: args.map(named),
    ...(retry && { retry: retry.map(named) }),
    commits: "objects",
    database: { keep: ["curl", "-fsS", `http://127.0.0.1:${port}/POINT`], restore },
    async read(folder, run) {
      for (const [name, bytes] of await objects()) {
        const path = join(folder, name.slice(key.length + 1));
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, bytes);
      }
      return read(folder, run);
    },
  };
}

// Rows are staged like those of a file. A single object that is replaced is the same in every format.
test.each([
  ["a run into dated CSV", dated("CSV")],
  ["a retry of Parquet in place", retries["Parquet of typed rows in place"]],
] as const)(
  "%s in object storage resumes after a kill at any point",
  { timeout: 600_000 },
  async (name, output) => {
    kept.clear();
    expect(
      await faultsOf(`${name} in object storage`, stored({ ...output, publishing: true })),
    ).toEqual([]);
  },
);
