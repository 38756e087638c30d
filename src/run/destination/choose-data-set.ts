import { constants, existsSync } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { UsageError } from "../../core/errors.js";
import { holdsDataSet, partsIn } from "../../outputs/data-set/data-set.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { SinkSettings } from "../../outputs/options.js";
import type { Warehouse } from "../../outputs/registry.js";
import { statePath } from "../state/state-files.js";
import { realPath } from "../../core/files/real-path.js";
import { checkFolder } from "./check-paths.js";
import type { WarehouseOutputTarget } from "./output-target.js";

/**
 * Checks, as far as possible before opening it, that a data set can be written.
 *
 * @throws UsageError `data_set_format`, `data_set_foreign`, `output_no_file`,
 *   `output_folder_missing`, `output_is_input`; FatalError `output_*`
 */
export async function chooseDataSet(
  warehouse: Warehouse,
  { to, gzip }: Pick<SinkSettings, "to" | "gzip">,
  inputPaths: readonly string[],
): Promise<WarehouseOutputTarget> {
  const { display, base } = warehouse.target;
  if (to === undefined || to === "stix" || (to === "parquet" && gzip)) {
    const what =
      to === "stix"
        ? "a STIX bundle is one file, not a data set"
        : to === "parquet"
          ? "Parquet files are already compressed"
          : `${display} needs the format of its files`;
    const hint = to === "parquet" ? "leave out --gzip" : "give --to parquet, csv or another format";
    throw new UsageError("data_set_format", what, { hint });
  }
  const facts = await stat(base).catch(() => null);
  if (
    facts?.isDirectory() === false ||
    (await stat(base.slice(0, -1)).catch(() => null))?.isFile()
  ) {
    throw new UsageError("output_no_file", `${display} is not a folder`, { hint: "name a folder" });
  }
  await checkFolder(base.slice(0, -1));
  if (facts !== null) {
    await access(base, constants.W_OK | constants.X_OK).catch((error: unknown) => {
      throw outputFault(base, error);
    });
  }
  for (const inputPath of inputPaths) {
    if (`${dirname(realPath(inputPath))}/` !== base) continue;
    throw new UsageError("output_is_input", `the input ${inputPath} is in the folder ${display}`, {
      hint: "write to another folder",
    });
  }
  const isOurs = (await holdsDataSet(base)) || existsSync(statePath(base));
  if (!isOurs && (await partsIn(base)).length > 0) {
    throw new UsageError("data_set_foreign", `${display} holds parts of another data set`, {
      hint: "write to another folder, or remove them",
    });
  }
  return { file: null, name: display, base, format: to, gzip, warehouse };
}
