import { appendFile, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStage, type StagedSink } from "./publishing.js";
import type { Publisher } from "../../../../src/io/output/publisher.js";
import {
  stageEncoder,
  stagePath,
  type StagedRow,
  stageUpTo,
} from "../../../../src/io/output/stage.js";
import type { SinkPosition } from "../../../../src/io/output/types.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const hostile = [
  "",
  "a\0b",
  "\uD800",
  "x\uDC00y",
  "\u{1F600}",
  "\u2028\u2029",
  '\r\n\t"\\',
  "null",
];

/** Every kind of cell. */
const known: readonly StagedRow[] = [
  [null, null],
  ["text", []],
  ["ä".repeat(512 * 1024), hostile],
  ...hostile.map((text): StagedRow => [text, [text, ""]]),
];

/** Enough of them for several marks in the checksum. */
const many = Array.from({ length: 12_000 }, (_, n): StagedRow => {
  return [
    `cell ${n} ${hostile[n % hostile.length]}`,
    String(n),
    "some text",
    String(-n),
    [`${n}`, "x"],
  ];
});

/** Stages rows like a run, whose checkpoint is returned. */
async function stage(
  folder: string,
  rows: readonly StagedRow[],
  resume: SinkPosition | null = null,
) {
  const sink = await openStage(publication(rows), folder, resume);
  for (let from = resume?.rows ?? 0; from < rows.length; from += 100) {
    await write(sink, rows, from, from + 100);
  }
  const position = await sink.checkpoint();
  await sink.abandon();
  return position;
}

async function write(
  sink: StagedSink,
  rows: readonly StagedRow[],
  from: number,
  to: number,
): Promise<void> {
  await sink.write(rows.slice(from, to).map((_, index) => anEnrichedRow({ number: from + index })));
}

/** Its rows are found by their number. */
function publication(rows: readonly StagedRow[]): Publisher {
  return {
    check: async () => ({ encoder: stageEncoder(({ row }) => rows[row.number] ?? []) }),
    publish: () => Promise.reject(new Error("not published")),
    takesParts: false,
  };
}

async function read(folder: string, position: SinkPosition): Promise<StagedRow[]> {
  const rows: StagedRow[] = [];
  for await (const some of stageUpTo(stagePath(folder), position).rows()) {
    expect(some.length).toBeLessThan(many.length);
    rows.push(...some);
  }
  return rows;
}

/** The error of reading, which must give no row. */
async function fault(folder: string, position: SinkPosition): Promise<unknown> {
  const staged = stageUpTo(stagePath(folder), position).rows();
  return staged.next().then(
    ({ value }) => value as unknown,
    (error: unknown) => error,
  );
}

const part = (folder: string): string => join(folder, "rows.part");

describe("staged rows", () => {
  it.each([known, many])(
    "come back as they were, in batches, and may be read again",
    async (...rows) => {
      const folder = await temporaryFolder();
      const position = await stage(folder, rows);
      expect(position.rows).toBe(rows.length);
      for (let times = 0; times < 2; times++) expect(await read(folder, position)).toEqual(rows);
    },
  );

  it("continue at the checkpoint after a torn write", async () => {
    const folder = await temporaryFolder();
    const sink = await openStage(publication(many), folder, null);
    await write(sink, many, 0, 50);
    const position = await sink.checkpoint();
    await write(sink, many, 50, 60);
    await sink.checkpoint();
    await sink.abandon();
    await appendFile(part(folder), '["cell 51", tr');
    expect(await fault(folder, position)).toMatchObject({ code: "output_part_damaged" });

    const again = await openStage(publication(many), folder, position);
    await write(again, many, 50, 3_000);
    const all = await again.checkpoint();
    await again.abandon();
    expect(all.rows).toBe(3_000);
    expect(await read(folder, all)).toEqual(many.slice(0, 3_000));
  });
});

describe("damage to staged rows is found before any of them is read", () => {
  it("as a changed byte, with the place, also after several sessions", async () => {
    const folder = await temporaryFolder();
    const first = await stage(folder, many.slice(0, 6_000));
    const position = await stage(folder, many, first);
    const whole = await readFile(part(folder));
    for (const at of [0, Math.floor(whole.length / 2), whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 1;
      await writeFile(part(folder), damaged);
      const errors = [
        await fault(folder, position),
        await openStage(publication([]), folder, position).catch((error: unknown) => error),
      ];
      for (const error of errors) {
        expect(error).toMatchObject({
          code: "output_part_damaged",
          hint: expect.stringContaining("--resume") as string,
        });
        const [, from, to] = /between byte (\d+) and byte (\d+)$/.exec((error as Error).message)!;
        expect(Number(from)).toBeLessThanOrEqual(at);
        expect(Number(to)).toBeGreaterThan(at);
        expect(Number(to) - Number(from)).toBeLessThan(whole.length / 2);
      }
    }
  });

  it("as a file that is too short or gone", async () => {
    const folder = await temporaryFolder();
    const position = await stage(folder, many);
    await truncate(part(folder), 1);
    expect(await fault(folder, position)).toMatchObject({
      code: "output_part_gone",
      message: `${part(folder)} has 1 bytes; the run wrote ${position.length}`,
    });
    await rm(part(folder));
    expect(await fault(folder, position)).toMatchObject({ code: "output_part_gone" });
    await expect(openStage(publication([]), folder, position)).rejects.toMatchObject({
      code: "output_part_gone",
    });
  });
});
