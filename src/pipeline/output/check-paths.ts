import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { UsageError } from "../../core/errors.js";
import { failedSuffix } from "../../core/files/failed-name.js";
import { partPath } from "../../outputs/file-destination.js";
import { checkRejectsName } from "./check-output-name.js";
import { finalPath, manifestPath } from "./paths.js";

/**
 * Makes sure that a file can be put at a path.
 *
 * @param file what `finalPath` says of it
 * @throws UsageError `output_folder_missing`
 */
export async function checkFolder(file: string): Promise<void> {
  const folder = await stat(dirname(file)).catch(() => null);
  if (folder?.isDirectory()) return;
  throw new UsageError("output_folder_missing", `there is no folder ${dirname(file)}`, {
    hint: "create it first",
  });
}

/**
 * Makes sure that neither the output of a run nor the files beside it replace what the run reads.
 *
 * @param output path as given, for the message
 * @throws UsageError `output_is_input`
 */
export async function checkInputIsSafe(
  output: string,
  file: string,
  inputPath: string | null,
): Promise<void> {
  if (inputPath === null) return;
  const input = await finalPath(inputPath);
  if (input === file) {
    throw new UsageError("output_is_input", `the output ${output} would replace the input`, {
      hint: "write to another file",
    });
  }
  await checkInputIsNot(output, [partPath(file), manifestPath(file)], inputPath);
}

/**
 * Makes sure that a run reads none of the files that its output needs for itself.
 *
 * @param output name for the message
 * @throws UsageError `output_is_input`
 */
export async function checkInputIsNot(
  output: string,
  needed: readonly (string | null)[],
  inputPath: string | null,
): Promise<void> {
  if (inputPath === null || !needed.includes(await finalPath(inputPath))) return;
  throw new UsageError(
    "output_is_input",
    `the input ${inputPath} has a name that is needed for the output ${output} itself`,
    { hint: "give the input another name, or write to another file" },
  );
}

/**
 * Makes sure that the file of rejected rows is a file of its own.
 *
 * @param output the run's output file and what its own files begin with, null for a stream
 * @throws UsageError `unknown_output`, `rejects_is_no_file`, `rejects_is_output`,
 * `output_folder_missing`, `output_is_input`
 */
export async function checkRejects(
  rejects: string,
  output: { readonly file: string | null; readonly base: string | null },
  inputPath: string | null,
): Promise<void> {
  const file = await finalPath(rejects);
  const facts = await stat(file).catch(() => null);
  if (facts !== null && !facts.isFile()) {
    throw new UsageError("rejects_is_no_file", `--rejects ${rejects} is no file`, {
      hint: "name a file",
    });
  }
  await checkFolder(file);
  const taken = new Set([
    ...(output.file === null ? [] : [output.file, partPath(output.file)]),
    ...(output.base === null ? [] : [manifestPath(output.base)]),
  ]);
  if ([file, partPath(file), file + failedSuffix].some((path) => taken.has(path))) {
    throw new UsageError("rejects_is_output", `--rejects ${rejects} is the output's own file`, {
      hint: "name another file",
    });
  }
  checkRejectsName(rejects);
  await checkInputIsSafe(`--rejects ${rejects}`, file, inputPath);
  await checkInputIsNot(`--rejects ${rejects}`, [file + failedSuffix], inputPath);
}
