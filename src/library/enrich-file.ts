import type { Readable, Writable } from "node:stream";
import { UsageError } from "../core/errors.js";
import type { FolderSettings } from "../io/input/listing/list-inputs.js";
import type { RunInput } from "../io/input/types.js";
import { inGroups, runOptions } from "../jobs/enrich/options.js";
import type { Manifest } from "../core/manifest/manifest.js";
import { type ClientSettings, type EnrichFileOptions, fileSchema } from "./options.js";
import { checkedOptions } from "./settings.js";
import type { Services } from "./services.js";
import type { ReadingSettings } from "../jobs/enrich/rows/row-handling.js";

/** Runs the main job with a client's settings, pace and cache. */
export async function enrichFile(
  services: Services,
  input: string | readonly string[] | Readable,
  output: string | Writable,
  options: EnrichFileOptions,
): Promise<Manifest> {
  const {
    signal = new AbortController().signal,
    onStart,
    onNotice,
    ...file
  } = checkedOptions("enrichFile()", fileSchema, options);
  checkEnds(input, output);
  const { stateFolder } = services.settings;
  const [session, { enrich }] = await Promise.all([
    services.session("url"),
    import("../jobs/enrich/execute.js"),
  ]);
  const toFile = typeof output === "string";
  return enrich({
    settings: inGroups({
      ...file,
      ...lookupOf(services.settings),
      output: toFile ? output : "-",
      failOn: runOptions.shape.failOn.parse(undefined),
    }),
    input: await runInput(
      input,
      { ...file, output: toFile ? output : undefined },
      onNotice ?? (() => undefined),
      services.onWarning,
    ),
    stdout: toFile ? process.stdout : output,
    session,
    ...(stateFolder !== undefined && { stateFolder }),
    command: ["enrichFile"],
    signal,
    clock: services.clock,
    ...(onStart && { onStart }),
    ...(onNotice && { onNotice }),
    onWarning: services.onWarning,
  });
}

/** Files and folders, or a stream. */
async function runInput(
  input: string | readonly string[] | Readable,
  settings: ReadingSettings & FolderSettings,
  onNotice: (message: string) => void,
  onWarning: (message: string) => void,
): Promise<RunInput> {
  if (typeof input !== "string" && !isList(input)) return { stream: input, name: "the stream" };
  const names = typeof input === "string" ? [input] : input;
  if (names.length === 0) {
    throw new UsageError("input_missing", "enrichFile(): the list of inputs is empty", {
      hint: "name at least one file",
    });
  }
  const { inputNamed } = await import("../jobs/enrich/choose-inputs.js");
  const stdin = () => ({ stream: process.stdin, name: "stdin" });
  return inputNamed(names, stdin, settings, { onNotice, onWarning });
}

function isList(input: readonly string[] | Readable): input is readonly string[] {
  return Array.isArray(input);
}

/** @throws UsageError `invalid_setting` for what is neither a path nor a stream */
function checkEnds(input: unknown, output: unknown): void {
  const isInput =
    isPath(input) ||
    (Array.isArray(input) && input.every(isPath)) ||
    typeof (input as Partial<Readable> | null | undefined)?.pipe === "function";
  const isOutput =
    isPath(output) || typeof (output as Partial<Writable> | null | undefined)?.write === "function";
  if (isInput && isOutput) return;
  const [name, kind] = isInput ? ["output", "writable"] : ["input", "readable"];
  throw new UsageError(
    "invalid_setting",
    `enrichFile(): the ${name} must be a path or a ${kind} stream`,
    { hint: 'for example enrichFile("in.csv", "out.csv")' },
  );
}

function isPath(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** The settings of a client that are also those of a run. Where its pace is, the session knows. */
function lookupOf(settings: ClientSettings) {
  return { ...settings, intelUrl: settings.url, pace: undefined };
}
