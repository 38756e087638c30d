import { existsSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { FatalError, UsageError } from "../../core/errors.js";
import { replaceFile } from "../../core/files/json-file.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { realPath } from "../../core/files/real-path.js";
import { findConfigFile } from "../options/find-config-file.js";
import { fileFault } from "../terminal/reporter.js";
import { askForAnswers, type InitCall, type InitSettings } from "./questions.js";
import { userConfigFolder } from "../../core/files/user-folders.js";

/**
 * Collects the answers and writes the config file, for its owner alone.
 *
 * @throws UsageError when the file exists or an answer is missing; FatalError when writing fails
 */
export async function writeFirstConfig(call: InitCall): Promise<void> {
  const { reporter } = call.context;
  const path = targetOf(call);
  const answers = await askForAnswers(call);
  try {
    makeFolder(dirname(path), 0o700);
    await replaceFile(realPath(path), configText(answers), 0o600);
  } catch (error) {
    throw new FatalError("config_unwritable", `cannot write ${path}: ${fileFault(error)}`, {
      cause: error,
    });
  }
  const isDefault = path === findConfigFile(call.context.env);
  reporter.print(`repute: wrote ${path}`);
  if (answers["api-key-file"] === undefined) {
    reporter.print(
      "  if the service needs an API key: set REPUTE_API_KEY, or add api-key-file with the path of a file that holds it",
    );
  }
  reporter.print(`  check it with: repute doctor${isDefault ? "" : ` --config ${path}`}`);
}

/** Where to write. Without an operand, an existing config file keeps its name. */
function targetOf({ operands, operand, settings, context: { env } }: InitCall): string {
  if (operands.length > 1) {
    throw new UsageError("too_many_arguments", `init takes one file; got ${operands.join(" ")}`);
  }
  const folder = userConfigFolder(env);
  const usual = findConfigFile(env) ?? (folder && join(folder, "config.yaml"));
  const path = operand === "" ? usual : resolve(operand);
  if (path === null) {
    throw new UsageError("config_place_unknown", "neither XDG_CONFIG_HOME nor HOME is set", {
      hint: "name a file: repute init FILE",
    });
  }
  if (existsSync(path) && !settings.force) {
    throw new UsageError("config_exists", `${path} exists`, {
      hint: "--force replaces it; repute config shows what it sets",
    });
  }
  if (![".yaml", ".yml"].includes(extname(path))) {
    throw new UsageError("config_format_unknown", `init writes YAML, but not to ${path}`, {
      hint: "name a file that ends in .yaml",
    });
  }
  return path;
}

function configText(answers: InitSettings): string {
  return [
    "# Settings of repute. Keys are flags without the dashes: see repute enrich --help.",
    "# The API key never belongs here: set REPUTE_API_KEY, or name its file with api-key-file.",
    // A JSON scalar is the same scalar in YAML.
    ...Object.entries(answers).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
    "",
    "# A profile overrides the settings above. Select it with --profile nightly.",
    "# profiles:",
    "#   nightly:",
    "#     rate: 50/s",
    "",
  ].join("\n");
}
