import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { z } from "zod";
import { apiOptions } from "../../api/options.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { replaceFile } from "../../core/files/json-file.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { realPath } from "../../core/files/real-path.js";
import { userCacheFolder, userConfigFolder } from "../../core/files/user-folders.js";
import { explainIssue } from "../../core/option-issue.js";
import { shellWord, wrapLines } from "../../core/text/quantity.js";
import { lookupOptions } from "../../lookup/options.js";
import type { CommandCall } from "../command.js";
import { findConfigFile } from "../options/find-config-file.js";
import { flagName } from "../options/option-spec.js";
import { fileFault } from "../terminal/reporter.js";

type InitCall = CommandCall<{ readonly yes: boolean; readonly force: boolean }>;

/** Settings by the keys of a config file. */
type Answers = Readonly<Record<string, string | number>>;

/**
 * Collects the answers and writes the config file, for its owner alone.
 *
 * @throws UsageError when the file exists or an answer is missing; FatalError when writing fails
 */
export async function writeFirstConfig(call: InitCall): Promise<void> {
  const { reporter, stderr } = call.context;
  const path = targetOf(call);
  const answers = await askForAnswers(call);
  try {
    makeFolder(dirname(path), 0o700);
    await replaceFile(realPath(path), configText(answers, path), 0o600);
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
  reporter.print("  its last line is one for a crontab, which enriches a dump every night");
  reporter.print("  next, check it:");
  // To copy, so on one line, however long.
  stderr.write(`    repute doctor${isDefault ? "" : ` --config ${shellWord(call.operand)}`}\n`);
}

/** Arguments of the nightly command. */
const nightly =
  "dump.csv -o 'nights/{date}.csv' --report 'nights/{date}.html' --against previous --resume --quiet";

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
    `# 0 2 * * * cd FOLDER && repute enrich ${nightly} --config ${shellWord(path)}`,
    "",
  ].join("\n");
}

interface Question {
  readonly key: "intelUrl" | "apiKeyFile" | "rate" | "concurrency" | "cache";
  readonly text: string;
  /** Taken for an empty answer. */
  readonly fallback: string;
  /** Its messages never repeat the answer. */
  readonly schema: z.ZodType;
  /** How the answer is stored; undefined leaves the setting out. @default unchanged */
  readonly store?: (answer: string) => string | number | undefined;
}

/**
 * Answers every question: from flags, at the terminal, or with defaults.
 *
 * @throws UsageError `answer_missing`, `invalid_setting`; the signal's reason when it aborts
 */
async function askForAnswers(call: InitCall): Promise<Answers> {
  const { settings, given, context } = call;
  const prompt = !settings.yes && context.stdin().isTTY === true ? openPrompt(call) : null;
  const answers: Record<string, string | number> = {};
  try {
    for (const { key, text, fallback, schema, store } of questionsFor(context.env)) {
      const known = given.get(key);
      const suggested = known === undefined ? fallback : String(known.value);
      const asked = known?.level === "flag" ? null : prompt;
      const brackets = suggested === "" ? "" : ` [${suggested}]`;
      let answer: string;
      for (;;) {
        const typed = (await asked?.ask(`${text}${brackets}: `))?.trim() ?? "";
        answer = typed === "" ? suggested : typed;
        const issue = schema.safeParse(answer).error?.issues[0];
        if (issue === undefined) break;
        const fault = explainIssue(issue);
        if (asked !== null) asked.tell(`  it ${fault}`);
        else if (suggested === "") throw missing(`init needs --${flagName(key)}`, noTerminal);
        else throw new UsageError("invalid_setting", `${known?.name ?? text} ${fault}`);
      }
      const value = store === undefined ? answer : store(answer);
      if (value !== undefined) answers[flagName(key)] = value;
    }
  } finally {
    prompt?.close();
  }
  return answers;
}

const noTerminal = "or run it at a terminal without --yes, and it asks";

function missing(message: string, hint: string): UsageError {
  return new UsageError("answer_missing", message, { hint });
}

function openPrompt({ context: { stdin, stderr, signal } }: InitCall) {
  // No line editing by Node.js: the terminal does it, and control characters stay visible.
  const lines = createInterface({ input: stdin(), terminal: false, signal });
  const iterator = lines[Symbol.asyncIterator]();
  const width = stderr.isTTY === true ? stderr.columns || 80 : Number.POSITIVE_INFINITY;
  return {
    async ask(text: string): Promise<string> {
      stderr.write(wrapLines(text, width));
      const { value, done } = await iterator.next();
      signal.throwIfAborted();
      if (done !== true) return value;
      stderr.write("\n");
      const hint = "nothing was written; run repute init again";
      throw missing("the input ended before the last answer", hint);
    },
    tell: (text: string) => void stderr.write(`${wrapLines(text, width)}\n`),
    close: () => lines.close(),
  };
}

function questionsFor(env: InitCall["context"]["env"]): readonly Question[] {
  const { rate, concurrency, cache } = lookupOptions.shape;
  return [
    {
      key: "intelUrl",
      text: "Address of the service, such as https://intel.example/beta",
      fallback: "",
      schema: apiOptions.shape.intelUrl.pipe(
        z.any().refine(hasNoLogin, "must not hold a user name or password"),
      ),
    },
    {
      key: "apiKeyFile",
      text: "File that holds the API key (empty: none, or the variable REPUTE_API_KEY)",
      fallback: "",
      schema: z
        .string()
        .refine(
          (path) => path === "" || isReadable(path),
          "must be the path of a file that you can read, never the key itself",
        ),
      store: (path) => (path === "" ? undefined : resolve(path)),
    },
    {
      key: "rate",
      text: "Most requests per second (s), minute (m), hour (h) or day (d)",
      fallback: "100/s",
      schema: rate,
    },
    {
      key: "concurrency",
      text: "Most requests open at once",
      fallback: "32",
      schema: concurrency,
      store: Number,
    },
    {
      key: "cache",
      text: "Folder that keeps answers for later runs, or none",
      fallback: userCacheFolder(env) ?? "none",
      schema: cache,
      store: (path) => (path === "none" ? undefined : path.includes("://") ? path : resolve(path)),
    },
  ];
}

function hasNoLogin(address: string): boolean {
  const { username, password } = new URL(address);
  return username + password === "";
}

/** The answer may be the key itself, pasted by mistake: then it is not stored. */
function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return !statSync(path).isDirectory();
  } catch {
    return false;
  }
}
