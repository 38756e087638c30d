import { UsageError } from "../../core/errors.js";
import type { SourceFormat } from "../../formats/types.js";
import { manifestPath } from "../../core/files/output-names.js";
import { isObjectAddress, objectAddress, parseObjectAddress } from "../../s3/address.js";
import { chooseFile, type OutputChoice } from "./open-output.js";
import { localSettings, type OutputTarget } from "./output-target.js";

/**
 * Resolves `-o` to a target. That of objects has their local files.
 *
 * @param inputFormat called only if neither `--to` nor the output's name tells the format
 * @param pattern the names with the words that stand for a run
 * @throws UsageError `output_is_input`, `rejects_is_no_file`; as `chooseFile` and `openUpload`
 */
export async function chooseOutput(
  settings: OutputChoice,
  inputFormat: () => Promise<SourceFormat>,
  inputPaths: readonly string[],
  pattern: Pick<OutputChoice, "output" | "rejects"> = settings,
): Promise<OutputTarget> {
  const { output, rejects = "" } = settings;
  if (![output, rejects].some(isObjectAddress)) {
    return chooseFile(settings, inputFormat, inputPaths);
  }
  const { openUpload } = await import("../../outputs/publish/object.js");
  for (const address of [output, rejects]) refuseInput(address, inputPaths);
  const upload = await openUpload(settings, pattern);
  try {
    const local = localSettings(settings, { upload });
    const target = await chooseFile(local, inputFormat, inputPaths);
    if (target.base !== null) return { ...target, name: output, upload };
    throw new UsageError("rejects_is_no_file", `--rejects ${rejects} needs an output file`, {
      hint: "write the rows to a file or an object with -o",
    });
  } catch (error) {
    upload.cleanEmpty();
    throw error;
  }
}

/** Refuses an object that is also read, or whose manifest is. @throws UsageError `output_is_input` */
function refuseInput(given: string, inputs: readonly string[]): void {
  if (!isObjectAddress(given)) return;
  const address = plainAddress(given);
  const input = inputs.find((each) => {
    if (!isObjectAddress(each)) return false;
    const plain = plainAddress(each);
    const folder = plain.slice(0, plain.lastIndexOf("/") + 1);
    return [address, manifestPath(address)].includes(plain) || folder === address;
  });
  if (input === undefined) return;
  throw new UsageError("output_is_input", `writing ${given} would replace the input ${input}`, {
    hint: "write to another object",
  });
}

/** An address in its only spelling. */
function plainAddress(address: string): string {
  return objectAddress(parseObjectAddress(address));
}
