import { existsSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { cellRecords } from "../formats/csv/csv.js";
import { openInput, verifyFile } from "./open-input.js";
import { basename, join } from "node:path";
import { systemClock } from "../../core/clock.js";
import { continueRun, FatalError } from "../../core/errors.js";
import type { ChecksumState } from "../../core/files/checksum.js";
import { withoutFailed } from "../../core/files/output-names.js";
import { temporaryFolder } from "../../core/resource-stack.js";
import { counted, formatBytes } from "../../core/wording/quantity.js";
import type { InputType } from "../formats/column-types.js";
import { isObjectAddress } from "../s3/address.js";
import { outputFault } from "../../core/files/system-fault.js";
import type { FileInput, NamedInput, RunInput } from "./types.js";
import type { CopyOptions, CopyShape, TableInput } from "./table-input.js";

/** Where the inputs of a run are copied, and what a run needs meanwhile. */
interface CopyPlace extends CopyOptions {
  /** It must exist. */
  readonly folder: string;
  /** How the rows of tables are read. */
  readonly shape: CopyShape;
  readonly signal: AbortSignal;
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** Whether an input is copied before it is read: a table, a Parquet file or an object. */
export function isCopied({ path, table }: FileInput): boolean {
  return table !== undefined || isObjectAddress(path);
}

/**
 * The copies of the inputs that are no local text. Each is made once; the run reads the copy. Those of
 * several inputs have numbers.
 */
export function copiesOf(given: RunInput, place: CopyPlace) {
  const copies: ReturnType<typeof copyTo>[] = [];
  const local = (named: NamedInput, name: string): NamedInput => {
    const { input } = named;
    if (!("path" in input) || !isCopied(input)) return named;
    const copy = copyTo(join(place.folder, name), place, input);
    copies.push(copy);
    return { ...named, name: input.table?.name ?? named.name, input: copy.input };
  };
  const input: RunInput =
    "inputs" in given
      ? { ...given, inputs: given.inputs.map((named, at) => local(named, `input-${at + 1}`)) }
      : local({ name: "", input: given }, "input").input;
  return {
    input,
    /** Makes the copies, or checks those of an interrupted run. @param known what it kept; null for none */
    async make(known: readonly CopySeal[] | null): Promise<readonly CopySeal[]> {
      const seals: CopySeal[] = [];
      for (const [index, copy] of copies.entries()) {
        seals.push(await copy.make(known?.[index] ?? null));
      }
      return seals;
    },
  };
}

/** What a run keeps of a copy. */
export interface CopySeal {
  readonly content: ChecksumState;
  /** Of a table. */
  readonly types: readonly InputType[];
}

/** The copy of an input, as input, and what makes it or checks that of an interrupted run. */
function copyTo(base: string, place: CopyPlace, { path: address, table }: FileInput) {
  /** Of an object: that of what was copied, else of what is there now. */
  let version: Promise<string | null> | null = null;
  let types: CopySeal["types"] = [];
  const input: FileInput =
    table === undefined
      ? {
          path: base + extensionOf(address),
          copyOf: { name: address, version: () => (version ??= versionOf(address)) },
        }
      : {
          path: `${base}.rows`,
          copyOf: {
            name: table.name,
            kind: table.kind,
            shape: place.shape,
            types: () => types,
          },
        };
  const { path } = input;
  const write = async (): Promise<CopySeal> => {
    const fresh = `${path}.new`;
    try {
      if (table === undefined) version = Promise.resolve(await copyObject(address, fresh, place));
      else {
        const copied = await table.copy(fresh, place);
        place.onNotice?.(`read ${counted(copied.rows, "row")} from ${table.name}`);
        ({ types } = copied);
      }
      const content = await settle(fresh);
      await rename(fresh, path);
      return { content, types };
    } catch (error) {
      await rm(fresh, { force: true });
      place.signal.throwIfAborted();
      const isOfDisk = (error as NodeJS.ErrnoException).syscall !== undefined;
      throw isOfDisk ? outputFault(path, error) : error;
    }
  };
  return {
    input,
    async make(known: CopySeal | null): Promise<CopySeal> {
      if (known === null) return write();
      types = known.types;
      const { content } = known;
      const found = await verifyFile(path, content).catch((error: unknown) => error);
      if ((found as ChecksumState).bytes === content.bytes) return known;
      const what = existsSync(path) ? "damaged" : "gone";
      const message = `the copy of ${input.copyOf?.name} is ${what}: ${path}`;
      const hint = `restore it, or remove it and ${continueRun}: a new run starts with the answers so far`;
      throw new FatalError(`copy_${what}`, message, { cause: found, hint });
    },
  };
}

/** How often the progress of a long copy is told. */
const noticeMs = 10_000;

/** @returns the ETag */
async function copyObject(
  address: string,
  path: string,
  { signal, clock = systemClock, onNotice }: CopyPlace,
): Promise<string> {
  const { downloadObject } = await import("../s3/objects.js");
  let told = clock.monotonic();
  const onBytes = (bytes: number, size: number): void => {
    if (clock.monotonic() - told < noticeMs) return;
    told = clock.monotonic();
    onNotice?.(`copying ${address}: ${formatBytes(bytes)} of ${formatBytes(size)}`);
  };
  const { etag } = await downloadObject(address, path, { signal, onBytes });
  return etag;
}

/** Makes a copy durable. @returns its checksum */
async function settle(path: string): Promise<ChecksumState> {
  await using handle = await open(path, "r+");
  await handle.sync();
  return await verifyFile(path, null);
}

/** The extension of an object, which may tell the format of its copy. */
function extensionOf(address: string): string {
  const name = withoutFailed(basename(address));
  return /(?:\.[a-z0-9]{1,8}){1,2}$/i.exec(name)?.[0] ?? ".object";
}

/** Null if it cannot be found out: the copy goes for it. */
async function versionOf(address: string): Promise<string | null> {
  const { pinObject } = await import("../s3/objects.js");
  return pinObject(address).then(
    ({ etag }) => etag || null,
    () => null,
  );
}

/** The texts of a table's rows, through a temporary copy; "" for null. */
export async function* copiedRows(
  table: Pick<TableInput, "copy">,
): AsyncGenerator<readonly (readonly string[])[]> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "input.rows");
  await table.copy(path, {});
  await using bytes = await openInput({ path }, { gzip: false });
  let headers = 1;
  for await (const records of cellRecords(bytes)) {
    yield records.slice(headers).map(({ cells }) => cells);
    headers = 0;
  }
}
