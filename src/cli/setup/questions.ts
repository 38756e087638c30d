import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { apiOptions } from "../../api/options.js";
import { wrapLines } from "../../core/text/quantity.js";
import { UsageError } from "../../core/errors.js";
import { lookupOptions } from "../../lookup/options.js";
import type { CommandCall } from "../command.js";
import { flagName } from "../options/option-spec.js";
import { explainIssue } from "../../core/option-issue.js";
import type { z } from "zod";
import { userCacheFolder } from "../../core/files/user-folders.js";

/** A call of `repute init`. */
export type InitCall = CommandCall<{ readonly yes: boolean; readonly force: boolean }>;

/** Settings by the keys of a config file. */
export type InitSettings = Readonly<Record<string, string | number>>;

interface Question {
  readonly key: "intelUrl" | "apiKeyFile" | "rate" | "concurrency" | "cache";
  readonly text: string;
  /** Taken for an empty answer; null when there is none. */
  readonly fallback: string | null;
  /** Whether an empty answer leaves the setting out. */
  readonly optional?: boolean;
  /** What is wrong with an answer, to follow "it"; null when nothing is. Never repeats the answer. */
  readonly check: (answer: string) => string | null | Promise<string | null>;
  /** How the answer is stored. */
  readonly store?: (answer: string) => string | number | null;
}

/**
 * Answers every question: from flags, at the terminal, or with defaults.
 *
 * @throws UsageError `answer_missing`, `invalid_setting`; the signal's reason when it aborts
 */
export async function askForAnswers(call: InitCall): Promise<InitSettings> {
  const { settings, context } = call;
  const asks = !settings.yes && context.stdin().isTTY === true;
  const prompt = asks ? openPrompt(call) : null;
  try {
    const answers: Record<string, string | number> = {};
    for (const question of questionsFor(call)) {
      const text = await answer(question, call, prompt);
      const value = text === null ? null : (question.store ?? ((same) => same))(text);
      if (value !== null) answers[flagName(question.key)] = value;
    }
    return answers;
  } finally {
    prompt?.close();
  }
}

type Prompt = ReturnType<typeof openPrompt>;

async function answer(
  question: Question,
  { given }: InitCall,
  prompt: Prompt | null,
): Promise<string | null> {
  const { key, text, optional = false, check } = question;
  const known = given.get(key);
  const fallback = known === undefined ? question.fallback : String(known.value);
  if (prompt === null || known?.level === "flag") {
    if (fallback === null) {
      if (optional) return null;
      throw new UsageError("answer_missing", `init needs --${flagName(key)}`, {
        hint: "or run it at a terminal without --yes, and it asks",
      });
    }
    const fault = await check(fallback);
    if (fault === null) return fallback;
    throw new UsageError("invalid_setting", `${known?.name ?? text} ${fault}`);
  }
  const brackets = fallback === null ? "" : ` [${fallback}]`;
  for (;;) {
    const typed = (await prompt.ask(`${text}${brackets}: `)).trim() || fallback;
    if (typed === null && optional) return null;
    const fault = typed === null ? "must not be empty" : await check(typed);
    if (fault === null) return typed;
    prompt.tell(`  it ${fault}`);
  }
}

function openPrompt({ context: { stdin, stderr, signal } }: InitCall) {
  // No line editing by Node.js: the terminal does it, and control characters stay visible.
  const lines = createInterface({ input: stdin(), terminal: false, signal });
  const iterator = lines[Symbol.asyncIterator]();
  const width = stderr.isTTY === true ? stderr.columns || 80 : Number.POSITIVE_INFINITY;
  const wrapped = (text: string): string => wrapLines(text, width);
  return {
    async ask(text: string): Promise<string> {
      stderr.write(wrapped(text));
      const { value, done } = await iterator.next();
      signal.throwIfAborted();
      if (done !== true) return value;
      stderr.write("\n");
      throw new UsageError("answer_missing", "the input ended before the last answer", {
        hint: "nothing was written; run repute init again",
      });
    },
    tell: (text: string) => void stderr.write(`${wrapped(text)}\n`),
    close: () => lines.close(),
  };
}

function questionsFor({ context: { env } }: InitCall): readonly Question[] {
  const { intelUrl } = apiOptions.shape;
  const { rate, concurrency } = lookupOptions.shape;
  return [
    {
      key: "intelUrl",
      text: "Address of the service, such as https://intel.example/beta",
      fallback: null,
      check: (text) => faultOf(intelUrl, text) ?? loginFault(text),
    },
    {
      key: "apiKeyFile",
      text: "File that holds the API key (empty: none, or the variable REPUTE_API_KEY)",
      fallback: null,
      optional: true,
      check: fileProblem,
      store: (path) => resolve(path),
    },
    {
      key: "rate",
      text: "Most requests per second (s), minute (m), hour (h) or day (d)",
      fallback: "100/s",
      check: (text) => faultOf(rate, text),
    },
    {
      key: "concurrency",
      text: "Most requests open at once",
      fallback: "32",
      check: (text) => faultOf(concurrency, text),
      store: Number,
    },
    {
      key: "cache",
      text: "Folder that keeps answers for later runs, or none",
      fallback: userCacheFolder(env) ?? "none",
      check: () => null,
      store: (path) => (path === "none" ? null : path.includes("://") ? path : resolve(path)),
    },
  ];
}

function faultOf(schema: z.ZodType, text: string): string | null {
  const issue = schema.safeParse(text).error?.issues[0];
  return issue === undefined ? null : explainIssue(issue);
}

function loginFault(address: string): string | null {
  const { username, password } = new URL(address);
  return username + password === "" ? null : "must not hold a user name or password";
}

/** The answer may be the key itself, pasted by mistake: then it is not stored. */
async function fileProblem(path: string): Promise<string | null> {
  try {
    await access(path, constants.R_OK);
    if (!(await stat(path)).isDirectory()) return null;
  } catch {
    // Answered below.
  }
  return "must be the path of a file that you can read, never the key itself";
}
