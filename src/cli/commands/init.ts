import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { z } from "zod";
import { apiOptions } from "../../api/options.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { replaceFile } from "../../core/files/json-file.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { realPath } from "../../core/files/real-path.js";
import { userCacheFolder, userConfigFolder } from "../../core/files/user-folders.js";
import { explainIssue } from "../../core/option-issue.js";
import { option } from "../../core/options.js";
import { shellWord } from "../../core/text/quantity.js";
import { wrapLines } from "../../core/text/wrap.js";
import { lookupOptions } from "../../lookup/options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { exitCodes, interruptedExitCodes } from "../exit-code.js";
import { findConfigFile } from "../options/settings.js";
import { flagName } from "../options/option-spec.js";
import { fileFault } from "../terminal/reporter.js";

const { intelUrl, apiKeyFile } = apiOptions.shape;
const { rate, concurrency, cache } = lookupOptions.shape;

const groups = {
  Answers: {
    intelUrl,
    apiKeyFile,
    rate: option(rate, {
      description: "Maximum requests per second, minute, hour or day [default 100/s]",
      value: "N/s",
      repeats: true,
    }),
    concurrency: option(concurrency, { description: "Most requests open at once", value: "N" }),
    cache: option(cache, {
      description: "Folder that keeps answers for later runs, or none [default ~/.cache/repute]",
      value: "DIR",
    }),
  },
  Options: {
    yes: option(z.boolean().default(false), {
      description: "Ask nothing: use the default where no flag is given",
      alias: "y",
    }),
    force: option(z.boolean().default(false), { description: "Replace an existing config file" }),
  },
};

export const initCommand = defineCommand({
  name: "init",
  usage: "[FILE] [flags]",
  summary: "ask a few questions and write a first config file",
  description: [
    "Asks for the address of the service, where the API key comes from, the rate, the concurrency and a cache folder. Enter takes the default in brackets. A flag answers its question in advance.",
    "The file is readable by you alone and never holds the API key: keep that in REPUTE_API_KEY, or in a file named with --api-key-file.",
    "Without a terminal, or with --yes, nothing is asked; the address must then come from --intel-url or REPUTE_INTEL_URL.",
  ],
  operands: [
    [
      "FILE",
      "where to write [default $XDG_CONFIG_HOME/repute/config.yaml, or ~/.config/repute/config.yaml]",
    ],
  ],
  operandCount: "at most one",
  isUnconfigured: true,
  groups,
  examples: {
    "repute init": "answer questions, and write ~/.config/repute/config.yaml",
    "repute init --yes --intel-url https://intel.example/beta": "ask nothing, as in a script",
    "repute init ./repute.yaml --yes --intel-url https://intel.example/beta --rate 50/s":
      "write a file for --config",
  },
  exitCodes: [
    ["0", "written"],
    ["1", "the file cannot be written"],
    ["2", "wrong usage, an answer is missing, or the file exists"],
    ...interruptedExitCodes,
  ],
  run: writeFirstConfig,
});

type InitCall = CommandCall<SettingsOf<typeof groups>>;
type Key = keyof typeof groups.Answers;
type Answers = Readonly<Record<string, string | number>>;

/** Collects the answers and writes the config file, for its owner alone. */
async function writeFirstConfig(call: InitCall): Promise<number> {
  const { reporter, stderr, env } = call.context;
  const path = targetOf(call);
  const answers = await askForAnswers(call);
  try {
    makeFolder(dirname(path), 0o700);
    await replaceFile(realPath(path), configText(answers, path), 0o600);
  } catch (error) {
    const message = `cannot write ${path}: ${fileFault(error)}`;
    throw new FatalError("config_unwritable", message, { cause: error });
  }
  reporter.print(`repute: wrote ${path}`);
  if (answers["api-key-file"] === undefined) {
    reporter.print(
      "  if the service needs an API key: set REPUTE_API_KEY, or add api-key-file with the path of a file that holds it",
    );
  }
  reporter.print(
    "  its last line is one for a crontab, which enriches a dump every night\n  next, check it:",
  );
  // To copy, so on one line, however long.
  const flag = path === findConfigFile(env) ? "" : ` --config ${shellWord(call.operand)}`;
  stderr.write(`    repute doctor${flag}\n`);
  return exitCodes.done;
}

/** The file to write: that of the operand, else the one in use, else the usual one. */
function targetOf({ operand, settings, context }: InitCall): string {
  const folder = userConfigFolder(context.env);
  const usual = findConfigFile(context.env) ?? (folder && join(folder, "config.yaml"));
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
  return path;
}

function configText(answers: Answers, path: string): string {
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
    "# A crontab line, for a FOLDER that has dump.csv and a folder nights: each night keeps its",
    "# output and its report, which shows what changed since the night before.",
    "# 0 2 * * * cd FOLDER && repute enrich dump.csv -o 'nights/{date}.csv' --report 'nights/{date}.html'" +
      ` --against previous --resume --quiet --config ${shellWord(path)}`,
    "",
  ].join("\n");
}

const questions: Readonly<Record<Key, string>> = {
  intelUrl: "Address of the service, such as https://intel.example/beta",
  apiKeyFile: "File that holds the API key (empty: none, or the variable REPUTE_API_KEY)",
  rate: "Most requests per second (s), minute (m), hour (h) or day (d)",
  concurrency: "Most requests open at once",
  cache: "Folder that keeps answers for later runs, or none",
};

/** Answers every question: from flags, at the terminal, or with defaults. */
async function askForAnswers({ settings, given, context }: InitCall): Promise<Answers> {
  const { stdin, signal, env } = context;
  const asks = !settings.yes && stdin().isTTY === true;
  // No line editing by Node.js: the terminal does it, and control characters stay visible.
  const lines = asks ? createInterface({ input: stdin(), terminal: false, signal }) : null;
  const typed = lines?.[Symbol.asyncIterator]();
  const cache = userCacheFolder(env) ?? "none";
  const fallbacks = { intelUrl: "", apiKeyFile: "", rate: "100/s", concurrency: "32", cache };
  const answers: Record<string, string | number> = {};
  for (const key of Object.keys(questions) as Key[]) {
    const known = given.get(key);
    const suggested = known === undefined ? fallbacks[key] : String(known.value);
    const isAsked = typed !== undefined && known?.level !== "flag";
    const answer = isAsked ? await ask(key, suggested, typed, context) : suggested;
    const fault = faultOf(key, answer);
    if (fault !== null && suggested === "") {
      const hint = "or run it at a terminal without --yes, and it asks";
      throw new UsageError("answer_missing", `init needs --${flagName(key)}`, { hint });
    }
    if (fault !== null) throw new UsageError("invalid_setting", `${known?.name ?? key} ${fault}`);
    if (answer === "" || (key === "cache" && answer === "none")) continue;
    const isPath = key === "apiKeyFile" || (key === "cache" && !answer.includes("://"));
    const stored = isPath ? resolve(answer) : answer;
    answers[flagName(key)] = key === "concurrency" ? Number(answer) : stored;
  }
  lines?.close();
  return answers;
}

async function ask(
  key: Key,
  suggested: string,
  typed: AsyncIterator<string>,
  { stderr, signal }: InitCall["context"],
): Promise<string> {
  const width = stderr.isTTY === true ? stderr.columns || 80 : Number.POSITIVE_INFINITY;
  const question = suggested === "" ? questions[key] : `${questions[key]} [${suggested}]`;
  for (;;) {
    stderr.write(wrapLines(`${question}: `, width));
    const { value, done } = await typed.next();
    signal.throwIfAborted();
    if (done === true) {
      stderr.write("\n");
      const hint = "nothing was written; run repute init again";
      throw new UsageError("answer_missing", "the input ended before the last answer", { hint });
    }
    const answer = value.trim() || suggested;
    const fault = faultOf(key, answer);
    if (fault === null) return answer;
    stderr.write(`${wrapLines(`  it ${fault}`, width)}\n`);
  }
}

/** What is wrong with an answer; null for nothing. Never repeats it, since it may be a key. */
function faultOf(key: Key, answer: string): string | null {
  if (key === "apiKeyFile") {
    if (answer === "" || statSync(answer, { throwIfNoEntry: false })?.isFile()) return null;
    return "must be the path of a file, never the key itself";
  }
  const issue = groups.Answers[key].safeParse(answer).error?.issues[0];
  return issue === undefined ? null : explainIssue(issue);
}
