import fc from "fast-check";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../../src/service/service.js";
import { ChunkedRun, comparable, comparableCounts, type Settings } from "../helpers/chunked-run.js";
import { enrichHere } from "../helpers/enrich-here.js";

let service: Service;
beforeAll(async () => void (service = await startService({ synthetic: 1 })));
afterAll(() => service.close());

/** Rows, rejected rows and counts of an input divided into chunks, and of a single run. */
async function bothWays(
  name: string,
  content: string | Buffer,
  rowsPerChunk: number,
  more: Settings,
  out = "out.csv",
): Promise<Record<"found" | "wanted", unknown>> {
  const settings = { intelUrl: service.intelUrl, ...more };
  const run = await ChunkedRun.of(name, content, settings);
  const { folder } = run;
  const rejects = join(folder, "one.rejects.txt");
  const options = { ...settings, rejects };
  const input = [name, content] as const;
  const one = await enrichHere({
    ...options,
    input,
    folder,
    output: `one.${out}`,
    settings: options,
  });
  await run.split(rowsPerChunk);
  await run.enrichAll();
  const merged = await run.merge(out, { rejects: join(folder, "merged.rejects.txt") });
  return {
    found: [
      comparable(await run.read(out)),
      await run.read("merged.rejects.txt"),
      comparableCounts(merged),
    ],
    wanted: [
      comparable(await run.read(`one.${out}`)),
      await run.read("one.rejects.txt"),
      comparableCounts(one.manifest),
    ],
  };
}

const items = ["192.0.2.1", "example.com", "hxxp://example[.]com/a", "10.0.0.0/8", "", "setup.exe"];
const cell = fc.oneof(
  fc.constantFrom(...items),
  fc.string({ maxLength: 6 }),
  fc.constantFrom('a "quoted" cell', "two\nlines", "\r\n", "#", "ä,;\t|"),
);
const lineEnd = fc.constantFrom("\n", "\r\n");
const chunkSize = fc.integer({ min: 2, max: 9 });

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

const runs = { numRuns: 2, endOnFailure: true };

test("CSV in chunks gives the output of a single run", async () => {
  const csv = fc.record({
    rows: fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 12 }),
    header: fc.boolean(),
    mark: fc.boolean(),
    comment: fc.boolean(),
    gzip: fc.boolean(),
    end: lineEnd,
    lastEnd: fc.boolean(),
    second: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(csv, chunkSize, async (parts, size) => {
      const { rows, header, mark, comment, gzip, end, lastEnd, second } = parts;
      const lines = rows.map((cells) => ["192.0.2.7", ...cells].map(quoted).join(","));
      if (comment) lines.splice(1, 0, "# skipped");
      if (header || lines.length === 0) lines.unshift("ip,note");
      const text = `${mark ? "\ufeff" : ""}${lines.join(end)}${lastEnd ? end : ""}`;
      const names = header || rows.length === 0 ? ["ip", "note"] : ["column_1", "column_2"];
      const itemColumn = names.slice(0, second ? 2 : 1);
      const settings =
        rows.length === 0 ? { itemColumn } : { header: header || rows.length === 0, itemColumn };
      const marked = comment ? { ...settings, comment: "#" } : settings;
      const { found, wanted } = await bothWays(
        gzip ? "in.csv.gz" : "in.csv",
        gzip ? gzipSync(text) : text,
        size,
        marked,
      );
      expect(found).toEqual(wanted);
    }),
    runs,
  );
});

test("NDJSON with broken lines in chunks gives the output of a single run", async () => {
  const line = fc.oneof(
    fc.record({ ip: fc.constantFrom(...items), n: fc.integer() }).map((row) => JSON.stringify(row)),
    fc.constantFrom(
      "{broken",
      "",
      '{"ip":["192.0.2.1","192.0.2.3"],"other":"192.0.2.4"}',
      '{"other":1,"ip":[]}',
      "[]",
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 12 }),
      lineEnd,
      chunkSize,
      async (all, end, size) => {
        const text = ['{"ip":"192.0.2.1","other":null}', ...all].join(end);
        const out = size % 2 === 0 ? "out.ndjson" : "out.csv";
        const itemColumn = size % 3 === 0 ? "ip" : ["ip[]", "other"];
        const settings = { itemColumn, to: size % 2 === 0 ? "ndjson" : "csv" };
        const { found, wanted } = await bothWays("in.ndjson", text, size, settings, out);
        expect(found).toEqual(wanted);
      },
    ),
    runs,
  );
});

test("text in chunks gives the output of a single run", async () => {
  const line = fc.oneof(fc.constantFrom(...items), fc.constantFrom("# comment", "  ", "text"));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 12 }),
      lineEnd,
      chunkSize,
      async (all, end, size) => {
        const { found, wanted } = await bothWays(
          "in.txt",
          all.join(end),
          size,
          { from: "text", to: "csv" },
          "out.csv.gz",
        );
        expect(found).toEqual(wanted);
      },
    ),
    runs,
  );
});
