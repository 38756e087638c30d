import { UsageError } from "../errors.js";

export function manifestPath(base: string): string {
  return `${base}.manifest.json`;
}

/**
 * Suffix for the rows of a run with too many failed lookups. The output of an earlier run stays as
 * it is.
 */
export const failedSuffix = ".failed";

/** A path without that suffix: its extension names format and compression. */
export function withoutFailed(path: string): string {
  return path.endsWith(failedSuffix) ? path.slice(0, -failedSuffix.length) : path;
}

export interface RunStart {
  readonly runId: string;
  /** When it began, RFC 3339 UTC. */
  readonly startedAt: string;
}

/** The words in the name of a file that its run replaces. */
const wordsOf = {
  "{date}": ({ startedAt }: RunStart) => startedAt.slice(0, 10),
  "{run_id}": ({ runId }: RunStart) => runId,
} as const;

/** Their forms in the name of a finished run's file, as regular expressions. */
export const wordForms: Readonly<Record<string, string>> = {
  "{date}": String.raw`\d{4}-\d\d-\d\d`,
  "{run_id}": String.raw`[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}`,
} satisfies Record<keyof typeof wordsOf, string>;

export function startOf(manifest: {
  readonly run_id: string;
  readonly started_at: string;
}): RunStart {
  return { runId: manifest.run_id, startedAt: manifest.started_at };
}

export function hasRunWords(name: string | undefined): name is string {
  return Object.keys(wordsOf).some((word) => name?.includes(word) === true);
}

/** The name of a run's file: `{date}` is the UTC day on which the run began, `{run_id}` its identifier. */
export function namedAfter(name: string, run: RunStart): string {
  return Object.entries(wordsOf).reduce((text, [word, of]) => text.replaceAll(word, of(run)), name);
}

const anyWord = /\{[A-Za-z][A-Za-z_-]*\}/g;

/** The name of an output. Only `file` may contain `{date}` and `{run_id}`. */
export interface NameParts {
  readonly before: string;
  readonly file: string;
  readonly after: string;
}

/**
 * Checks the words in the name of what a run writes.
 *
 * @param flag the option, for messages
 * @throws UsageError `run_word`
 */
export function checkRunWords(flag: string, { before, file, after }: NameParts): void {
  const name = before + file + after;
  // An address with a password is not repeated.
  if (hasRunWords(after)) {
    throw wrong(
      `${flag} has {date} or {run_id} in the name of a table`,
      "use them in the name of a file or folder",
    );
  }
  const other = file.match(anyWord)?.find((word) => !Object.hasOwn(wordsOf, word));
  if (other === undefined) return;
  throw wrong(`${flag} ${name}: ${other} stands for nothing`, meanings);
}

/**
 * The path from which the state of all runs is named. From the first folder with a word on, it has
 * `%2F` for slashes, because those folders differ from run to run.
 */
export function sharedPath(file: string): string {
  if (!hasRunWords(file)) return file;
  const place = /^[^{]*\//.exec(file)?.[0] ?? "";
  return place + file.slice(place.length).replaceAll("/", "%2F");
}

const meanings =
  "{date} is the day on which the run starts (UTC), {run_id} its identifier; rename the file if it really has braces in its name";

function wrong(message: string, hint: string): UsageError {
  return new UsageError("run_word", message, { hint });
}
