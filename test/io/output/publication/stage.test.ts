import { appendFile, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  openFileDestination,
  partPath,
  type SinkPosition,
} from "../../../../src/io/output/part-file.js";
import {
  plainEscapes,
  stageEncoder,
  stagePath,
  type StagedRow,
  stageUpTo,
} from "../../../../src/io/output/stage.js";
import { textSink } from "../../../../src/io/output/text/text-sink.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const odd = ["", "a\0b", "\uD800", "x\uDC00y", "\u{1F600}", "\u2028\u2029", '\r\n\t"\\', "null"];

/** Every kind of cell. */
const known: readonly StagedRow[] = [
  [null, null],
  ["text", []],
  ["ä".repeat(512 * 1024), odd],
  ...odd.map((text): StagedRow => [text, [text, ""]]),
];

/** Enough of them for several marks in the checksum. */
const many = Array.from({ length: 12_000 }, (_, n): StagedRow => {
  const text = `cell ${n} ${odd[n % odd.length]}`;
  return [text, String(n), "some text", String(-n), [`${n}`, "x"]];
});

/** Opens a stage whose rows are found by their number. */
async function open(folder: string, rows: readonly StagedRow[], resume: SinkPosition | null) {
  const file = await openFileDestination(stagePath(folder), resume);
  const encoder = stageEncoder(({ row }) => rows[row.number] ?? []);
  return textSink(encoder, file, { gzip: false, resumeRows: resume?.rows ?? null });
}

/** Stages rows like a run, whose checkpoint is returned. @param more rows after it */
async function stage(
  folder: string,
  rows: readonly StagedRow[],
  resume: SinkPosition | null = null,
  more = 0,
): Promise<SinkPosition> {
  const sink = await open(folder, many, resume);
  const write = async (from: number, to: number): Promise<void> => {
    for (let first = from; first < to; first += 100) {
      const numbers = Array.from({ length: Math.min(100, to - first) }, (_, n) => first + n);
      await sink.write(numbers.map((number) => anEnrichedRow({ number })));
    }
  };
  await write(resume?.rows ?? 0, rows.length);
  const position = await sink.checkpoint();
  await write(rows.length, rows.length + more);
  await sink.checkpoint();
  await sink.abandon();
  return position;
}

async function read(folder: string, position: SinkPosition): Promise<StagedRow[]> {
  const rows: StagedRow[] = [];
  for await (const some of stageUpTo(stagePath(folder), position).rows()) {
    expect(some.length).toBeLessThan(many.length);
    rows.push(...some);
  }
  return rows;
}

/** The errors of reading, which must give no row, and of going on. */
async function faults(folder: string, position: SinkPosition): Promise<readonly unknown[]> {
  const staged = stageUpTo(stagePath(folder), position).rows();
  const [first] = await Promise.allSettled([staged.next()]);
  // It cuts off what was written after the position.
  const [resumed] = await Promise.allSettled([open(folder, [], position)]);
  return [first, resumed].map((ended) => ("reason" in ended ? (ended.reason as unknown) : ended));
}

describe("staged rows", () => {
  it("come back as they were, in batches, and may be read again", async () => {
    for (const rows of [known, many]) {
      const folder = await temporaryFolder();
      const sink = await open(folder, rows, null);
      await sink.write(rows.map((_, number) => anEnrichedRow({ number })));
      const position = await sink.checkpoint();
      await sink.abandon();
      expect(position.rows).toBe(rows.length);
      for (let times = 0; times < 2; times++) expect(await read(folder, position)).toEqual(rows);
    }
  });

  it("continue at the checkpoint after a torn write", async () => {
    const folder = await temporaryFolder();
    const position = await stage(folder, many.slice(0, 50), null, 10);
    await appendFile(partPath(stagePath(folder)), '["cell 51", tr');
    expect((await faults(folder, position))[0]).toMatchObject({ code: "output_part_damaged" });
    const all = await stage(folder, many.slice(0, 3_000), position);
    expect(all.rows).toBe(3_000);
    expect(await read(folder, all)).toEqual(many.slice(0, 3_000));
  });

  it("may be gone as long as they are none", async () => {
    const folder = await temporaryFolder();
    const position = await stage(folder, []);
    await rm(partPath(stagePath(folder)));
    expect(await read(folder, await stage(folder, many.slice(0, 9), position))).toHaveLength(9);
  });
});

describe("damage to staged rows is found before any of them is read", () => {
  it("as a changed byte, with the place, also after several sessions", async () => {
    const folder = await temporaryFolder();
    const part = partPath(stagePath(folder));
    const position = await stage(folder, many, await stage(folder, many.slice(0, 6_000)));
    const whole = await readFile(part);
    for (const at of [0, Math.floor(whole.length / 2), whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 1;
      await writeFile(part, damaged);
      for (const error of await faults(folder, position)) {
        const hint = expect.stringContaining("--resume") as string;
        expect(error).toMatchObject({ code: "output_part_damaged", hint });
        const [, from, to] = /between byte (\d+) and byte (\d+)$/.exec((error as Error).message)!;
        expect(Number(from)).toBeLessThanOrEqual(at);
        expect(Number(to)).toBeGreaterThan(at);
        expect(Number(to) - Number(from)).toBeLessThan(whole.length / 2);
      }
    }
  });

  it("as a file that is too short, gone, or a symbolic link, whose target stays", async () => {
    const folder = await temporaryFolder();
    const part = partPath(stagePath(folder));
    const position = await stage(folder, many);
    await truncate(part, 1);
    expect((await faults(folder, position))[0]).toMatchObject({
      code: "output_part_gone",
      message: `${part} has 1 bytes; the run wrote ${position.length}`,
    });
    await rm(part);
    for (const error of await faults(folder, position)) {
      expect(error).toMatchObject({ code: "output_part_gone" });
    }
    const other = join(folder, "other");
    await writeFile(other, "mine");
    await symlink(other, part);
    for (const resume of [null, position]) {
      await expect(open(folder, [], resume)).rejects.toMatchObject({
        code: "output_part_link",
        message: `cannot write ${part}: it is a symbolic link`,
      });
    }
    expect(await readFile(other, "utf8")).toBe("mine");
  });
});

it.each([
  ['"\\u0000"', '"\0"'],
  ['"\\\\u0000"', '"\\\\u0000"'],
  ['"\\ud83d\\ude00"', '"\\ud83d\\ude00"'],
  ['"\\ud83d"', '"\ud83d"'],
  ['"\\ude00\\ud83d"', '"\ude00\ud83d"'],
  ['"\\u00e9\\n"', '"\\u00e9\\n"'],
])("turns the escapes of %j into characters where a database refuses them", (json, plain) => {
  expect(plainEscapes(json)).toBe(plain);
});
