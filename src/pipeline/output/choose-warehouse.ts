import { stat } from "node:fs/promises";
import { UsageError } from "../../core/errors.js";
import type { SinkSettings } from "../../outputs/options.js";
import type { Warehouse } from "../../outputs/warehouse/registry.js";
import { checkFolder, checkInputIsNot, checkInputIsSafe } from "./check-paths.js";
import { manifestPath } from "./paths.js";
import type { WarehouseOutputTarget } from "./open-output.js";

/**
 * Makes sure that a warehouse can be written to, as far as that is known before it is opened.
 *
 * @throws UsageError `text_option`, `output_is_directory`, `output_no_file`,
 * `output_folder_missing`, `output_is_input`
 */
export async function chooseWarehouse(
  warehouse: Warehouse,
  settings: Pick<SinkSettings, "to" | "shape">,
  inputPath: string | null,
): Promise<WarehouseOutputTarget> {
  const { kind, display, file, base } = warehouse.target;
  refuseTextOptions(display, settings);
  if (file !== null) {
    const facts = await stat(file).catch(() => null);
    if (facts !== null && !facts.isFile()) {
      const what = facts.isDirectory() ? "is a directory" : "is no regular file";
      const code = facts.isDirectory() ? "output_is_directory" : "output_no_file";
      throw new UsageError(code, `the output ${display} ${what}`, { hint: "name a file" });
    }
    await checkFolder(file);
  }
  // Parquet appears by rename; a database is written in place, and never beside itself.
  const appears = file !== null && file === base;
  if (appears) await checkInputIsSafe(display, file, inputPath);
  else await checkInputIsNot(display, [file, manifestPath(base)], inputPath);
  return {
    file: appears ? file : null,
    name: display,
    base,
    format: kind,
    gzip: false,
    warehouse,
  };
}

function refuseTextOptions(
  display: string,
  { to, shape }: Pick<SinkSettings, "to" | "shape">,
): void {
  const given = to !== undefined ? `--to ${to}` : shape === "nested" ? "--shape nested" : null;
  if (given === null) return;
  throw new UsageError("text_option", `${given} is for text files; ${display} has typed columns`, {
    hint: `leave ${given.split(" ", 1)[0]} out, or name another output`,
  });
}
