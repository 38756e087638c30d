import { open } from "node:fs/promises";
import { FatalError, UsageError } from "../core/errors.js";
import type { ChecksumState } from "../core/files/running-checksum.js";
import type { CellValue } from "../formats/typed-column.js";
import type { InputReading } from "../formats/types.js";
import type { OpenedSource } from "../inputs/types.js";
import { verifyInput } from "../inputs/verify-input.js";
import { isObjectAddress } from "../s3/address.js";
import { type CopiedFile, openCopiedFile } from "../outputs/parquet/copied-file.js";
import { findWarehouse } from "../outputs/registry.js";
import { savedRecord } from "../outputs/warehouse/saved-rows.js";
import { execute } from "../run/execute.js";
import type { EnrichJob, Manifest } from "../run/types.js";
import { earlierFinding, earlierItem, type EarlierRow } from "./earlier-record.js";
import { retryStart } from "./retry-start.js";

/**
 * Looks up the failed and partial rows of a Parquet output again and writes a new file. Its rows keep
 * their run and number. Every other row, and every row that does not improve, keeps all its cells.
 *
 * @param isSynthetic whether the output holds invented answers
 * @throws UsageError `retry_keeps_format`, `not_an_output`; as `enrich`
 */
export async function retryParquet(
  job: EnrichJob,
  path: string,
  isSynthetic: boolean,
): Promise<Manifest> {
  const { output, prefix } = job.settings.output;
  if (output === "-" || findWarehouse(output)?.target.kind !== "parquet") {
    throw new UsageError(
      "retry_keeps_format",
      `${path} is Parquet, and so is the output of its retry`,
      {
        hint: "give another file: -o FILE.parquet",
      },
    );
  }
  const copy = isObjectAddress(path)
    ? await (await import("./local-copy.js")).copyOutput(path)
    : null;
  try {
    const file = await openCopiedFile(copy?.path ?? path, prefix);
    return await execute(job, {
      inputFormat: () => Promise.resolve("csv"),
      options: { retry: true },
      synthetic: isSynthetic,
      optional: file.optional,
      runId: file.runId,
      // Retry exists to complete partial answers.
      partialsFromCache: false,
      async open(resume) {
        const checksum = await verifyFile(copy?.path ?? path, path, resume?.input ?? null);
        const rows = openRows(path, file, prefix, resume?.row ?? 0);
        return { ...rows, checksum: () => checksum };
      },
      start: retryStart,
    });
  } finally {
    await copy?.remove();
  }
}

/** Compares a file with what earlier sessions read. @throws FatalError `input_changed` */
async function verifyFile(
  path: string,
  name: string,
  before: ChecksumState | null,
): Promise<ChecksumState> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    return (await verifyInput({ name, handle }, before, size)).state();
  } finally {
    await handle.close();
  }
}

/** Opens the rows of a file behind the first `before` ones. */
function openRows(path: string, file: CopiedFile, prefix: string, before: number): OpenedSource {
  let read = before;
  const rows = async function* (): AsyncGenerator<readonly EarlierRow[]> {
    const rowOf = rowReader(path, file, prefix);
    for await (const cells of file.cells(before)) yield cells.map((row) => rowOf(row, ++read));
  };
  return {
    columns: file.own,
    kind: "parquet",
    reading: rejectsReading(prefix),
    rows: rows(),
    bytesTotal: file.bytes,
    bytesRead: () => (file.rows === 0 ? file.bytes : Math.round((file.bytes * read) / file.rows)),
    checksum: () => undefined,
    warnings: new Map(),
    close: () => Promise.resolve(),
  };
}

/** How the rows of Parquet are told: rejected rows are written as CSV. */
export function rejectsReading(prefix: string): InputReading {
  return {
    format: "csv",
    delimiter: ",",
    comment: null,
    spaced: false,
    header: "record",
    item: { name: `${prefix}item`, index: -1, by: "format", sample: null },
    kind: null,
  };
}

/** Makes rows of the cells of a file. */
export function rowReader(
  path: string,
  { schema, own, optional }: CopiedFile,
  prefix: string,
): (saved: readonly CellValue[], number: number) => EarlierRow {
  const added = schema.columns.filter(({ from }) => from.kind === "added");
  const columns = { added: added.map(({ name }) => name.slice(prefix.length)), own };
  const indexOf = (name: string): number =>
    schema.columns.findIndex((column) => column.name === name);
  const places = [...added.map(({ name }) => name), ...own].map(indexOf);
  return (saved, number) => {
    const record = savedRecord(
      columns,
      places.map((place) => saved[place]),
    );
    const earlier = earlierFinding(record);
    if (earlier === null) {
      throw new FatalError("output_corrupt", `${path}, row ${number}: not a row of an output`);
    }
    return {
      ...(optional.file === true ? { file: record.text("file") } : {}),
      number,
      line: number,
      cells: record.cells,
      extra: record.extra,
      json: null,
      itemText: record.text("item"),
      kindText: record.text("kind"),
      fault: null,
      end: number,
      endLine: number,
      text: "",
      saved,
      record,
      item: earlierItem(record),
      earlier,
    };
  };
}
