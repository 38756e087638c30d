import { readdirSync, rmdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { FatalError, UsageError } from "../../core/errors.js";
import { isObjectAddress, objectAddress, parseObjectAddress } from "../../s3/address.js";
import type { CopiedObjects } from "../../outputs/download-object.js";
import { type StagedOutput, stagedOutput, type PlacedOutput } from "../../outputs/staged-output.js";
import { statePath } from "../state/state-folder.js";
import { manifestPath } from "./check-paths.js";
import type { SinkSettings } from "../../outputs/options.js";
import type { Manifest } from "../types.js";
import type { UploadRunOptions } from "./upload-run.js";

/** A run whose files are uploaded when they are complete. */
export interface StagedRun {
  /** Names the local files instead of the objects. */
  readonly settings: StagedSettings;
  /** Name of the output for messages and the manifest. */
  readonly name: string;
  /** The local folder that the state is in; undefined if only the rejects are uploaded. */
  readonly folder: string | undefined;
  /** Notes which objects the run replaces. Called under the lock of a new run. @throws ReputeError */
  begin(): Promise<void>;
  /**
   * Uploads what the run wrote and removes what it supersedes. May be repeated.
   *
   * @throws ReputeError
   */
  upload(manifest: Manifest, options: UploadRunOptions): Promise<void>;
  /** Rows of the object that will be replaced, by its manifest; 0 for none. @throws ReputeError */
  earlierRows(): Promise<number>;
  /** Withdraws an interrupted upload. @throws ReputeError */
  abort(): Promise<void>;
  /** Removes the local files, except for the state of the run. */
  clean(): void;
  /** Removes the local folders if nothing is in them. */
  cleanEmpty(): void;
}

/** The settings that name the files of a run. */
export type StagedSettings = Pick<SinkSettings, "output" | "rejects">;

/**
 * Prepares the local folders of a run that writes to object storage; null for any other run.
 *
 * @param inputs what the run reads
 * @param copied the files of the data set that the run replaces
 * @throws UsageError `bad_object_address`, `rejects_is_no_file`, `output_is_input`; as `checkStore`;
 *   ReputeError if the data set to replace cannot be read
 */
export async function stageRun(
  { output, rejects }: StagedSettings,
  inputs: readonly string[],
  copied?: CopiedObjects,
): Promise<StagedRun | null> {
  const rows = stagedOutput(output);
  const left = rejects === undefined ? null : stagedOutput(rejects);
  if (rows === null && left === null) return null;
  if (left !== null && output === "-") {
    throw new UsageError("rejects_is_no_file", `--rejects ${rejects} needs an output file`, {
      hint: "write the rows to a file or an object with -o",
    });
  }
  for (const address of [output, rejects]) refuseInput(address, inputs);
  const { checkStore } = await import("../../s3/check-store.js");
  for (const address of [output, rejects]) {
    if (address !== undefined && isObjectAddress(address)) await checkStore(address);
  }
  const folders = [rows, left].filter((staged) => staged !== null);
  for (const { folder } of folders) await mkdir(folder, { recursive: true, mode: 0o700 });
  const { beginUpload, earlierRows, uploadRun, withdrawUpload } = await import("./upload-run.js");
  const objects = { rows: placed(output, rows), rejects: placed(rejects, left) };
  const state = rows === null ? null : basename(statePath(rows.path));
  return {
    settings: {
      output: rows?.path ?? output,
      rejects: left?.path ?? rejects,
    },
    name: output,
    folder: rows?.folder,
    begin: () => beginUpload(objects, copied),
    upload: (manifest, options) =>
      uploadRun(objects, manifest, { ...options, copied }).catch((error: unknown) => {
        throw resumable(error);
      }),
    earlierRows: async () => (rows === null ? 0 : earlierRows(output)),
    abort: () => withdrawUpload(objects),
    clean() {
      for (const { folder } of folders) {
        for (const name of namesIn(folder)) {
          if (name !== state) rmSync(join(folder, name), { recursive: true, force: true });
        }
      }
    },
    cleanEmpty() {
      for (const { folder } of folders) removeIfEmpty(folder);
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something is still in it, or it is gone.
  }
}

/** Credentials and buckets may be gone when a run ends. Its files are kept, and it can be resumed. */
function resumable(error: unknown): unknown {
  if (!(error instanceof UsageError)) return error;
  const { code, message, hint } = error;
  return new FatalError(code, message, { cause: error, ...(hint === null ? {} : { hint }) });
}

/** Refuses an object that is also read, or whose manifest is. @throws UsageError `output_is_input` */
function refuseInput(address: string | undefined, inputs: readonly string[]): void {
  if (address === undefined || !isObjectAddress(address)) return;
  const own = new Set([address, manifestPath(address)].map(plainAddress));
  const isReplaced = (input: string): boolean => {
    const plain = plainAddress(input);
    if (own.has(plain)) return true;
    return (
      address.endsWith("/") && plain.slice(0, plain.lastIndexOf("/") + 1) === plainAddress(address)
    );
  };
  const input = inputs.find((each) => isObjectAddress(each) && isReplaced(each));
  if (input === undefined) return;
  throw new UsageError("output_is_input", `writing ${address} would replace the input ${input}`, {
    hint: "write to another object",
  });
}

/** An address in its only spelling. */
function plainAddress(address: string): string {
  return objectAddress(parseObjectAddress(address));
}

function placed(address: string | undefined, staged: StagedOutput | null): PlacedOutput | null {
  return staged === null || address === undefined || !isObjectAddress(address)
    ? null
    : { ...staged, address };
}
