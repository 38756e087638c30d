import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { schemaVersion } from "../../core/columns.js";
import { UsageError } from "../../core/errors.js";
import { redactAddress } from "../../core/redaction.js";
import type { RunEnding } from "../../core/manifest.js";
import { endingOfError, exitCodes } from "../../jobs/enrich/ending.js";
import { databaseName, recordName } from "../../jobs/enrich/state/state-folder.js";
import { Tally } from "../../jobs/enrich/tally.js";
import type { cliOptions, unattendedOptions } from "../options/cli-options.js";
import type { CliContext } from "../terminal/cli-context.js";
import { metricsFile } from "./metrics-file.js";

type AnyRecord = Readonly<Record<string, unknown>>;

export type WatchSettings = Pick<z.output<typeof cliOptions>, "json" | "quiet"> &
  Partial<z.output<typeof unattendedOptions>> & { readonly output: string };

interface WatchedCommand {
  readonly name: string;
  readonly shownCommand: readonly string[];
  readonly context: CliContext;
  /** Without those that are invalid. */
  readonly settings: WatchSettings;
}

interface WatchedRun {
  /** The record so far; without one, nothing has been counted yet. */
  readonly record?: () => AnyRecord;
  /** Folder of the state to continue from; null if there is none. */
  readonly stateFolder?: string | null;
  /** Whether the command can be resumed, for one without a state folder. */
  readonly resumable?: () => boolean;
  /** Print the JSON object to stdout even with `-o -`. */
  readonly toStdout?: boolean;
}

/**
 * Reports to machines how a command runs and ends, whatever the end: the JSON object of `--json`, the
 * metrics of `--metrics` and the calls of `--ping`.
 */
export class RunWatch {
  readonly #command: WatchedCommand;
  readonly #startedAt: number;
  readonly #metrics: ReturnType<typeof metricsFile> | null;
  #run: WatchedRun = {};
  #final: AnyRecord | null = null;
  /** The ping of the start; `end` waits for it. */
  #startPing: Promise<void> = Promise.resolve();
  #printed = false;

  constructor(command: WatchedCommand) {
    const { clock, reporter } = command.context;
    const { metrics } = command.settings;
    const { onWarning } = reporter.listener;
    this.#command = command;
    this.#metrics = metrics === undefined ? null : metricsFile(metrics, { clock, onWarning });
    this.#startedAt = clock.now();
  }

  start(): void {
    this.#startPing = this.#ping("/start", null);
    void this.#metrics?.repeat(() => this.#facts());
  }

  follow(run: WatchedRun): void {
    this.#run = { ...this.#run, ...run };
  }

  finish(record: object): void {
    this.#final = record as AnyRecord;
  }

  /** Reports the end of the command. Takes a few seconds at most. */
  async end(code: number, error: unknown): Promise<void> {
    const { record, ending } = this.#measure(code, error);
    // The monitor must not hear of the start after the end.
    await this.#startPing;
    await this.#ping(code === exitCodes.done ? "" : "/fail", JSON.stringify(record));
    // After the warnings of metrics and pings: it is the last line.
    this.#print(record, ending);
  }

  /** As `end`, without a ping: the process is about to exit. */
  endNow(code: number, error: unknown): void {
    const { record, ending } = this.#measure(code, error);
    this.#print(record, ending);
  }

  /** Sums the run up and writes its last metrics. */
  #measure(code: number, error: unknown) {
    const ending = this.#ending(code, error);
    const record = this.#summary(ending, error);
    const ended = { code, reason: ending.exit_reason };
    this.#metrics?.end({ ...this.#facts(record), ended });
    return { record, ending };
  }

  /** Takes 4 seconds at most. The address is a secret: warnings name only its host. */
  async #ping(suffix: string, body: string | null): Promise<void> {
    const { context, settings } = this.#command;
    const { ping } = settings;
    if (ping === undefined) return;
    const url = new URL(ping);
    const { username, password, host } = url;
    const warn = (reason: string): void =>
      context.reporter.warning(`the ping to ${host} failed: ${reason}`);
    url.pathname = url.pathname.replace(/\/+$/, "") + suffix;
    try {
      const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
      const request = {
        url,
        method: "POST",
        headers: body === null ? {} : { "content-type": "application/json" },
        body,
        authorization: login.length > 1 ? `Basic ${login.toString("base64")}` : null,
        timeoutMs: 4_000,
        keptBytes: 4096,
        env: context.env,
      };
      const { sendOnce } = await import("../../client/api/http/send-once.js");
      const { status } = await sendOnce(request, new AbortController().signal);
      if (status >= 300) warn(`it answered ${status}`);
    } catch (error) {
      warn(error instanceof Error ? error.message : String(error));
    }
  }

  #facts(record = this.#final ?? this.#run.record?.() ?? {}) {
    const { name: command, settings } = this.#command;
    return { command, output: redactAddress(settings.output), record, ended: null };
  }

  #ending(code: number, error: unknown): RunEnding {
    if (error !== null) return endingOfError(error, this.isKept());
    const known = this.#final as Partial<RunEnding> | null;
    const reason = known?.exit_code === code ? known.exit_reason : undefined;
    const exit_reason = reason ?? (code === exitCodes.done ? "done" : "rows_failed");
    return { exit_reason, exit_code: code, resumable: false };
  }

  isKept(): boolean {
    const { stateFolder = null, resumable = () => false } = this.#run;
    if (stateFolder === null) return resumable();
    return existsSync(join(stateFolder, databaseName));
  }

  /** The final record, else the one in the state folder, else the counts so far. */
  #summary(ending: RunEnding, error: unknown): AnyRecord {
    const saved = error === null || error instanceof UsageError ? null : this.#saved();
    if (this.#final === null && saved !== null && saved["exit_code"] === ending.exit_code) {
      return saved;
    }
    const record = this.#final ?? this.#run.record?.() ?? this.#nothing();
    return { ...record, ...ending };
  }

  #saved(): AnyRecord | null {
    const { stateFolder = null } = this.#run;
    if (stateFolder === null) return null;
    try {
      return JSON.parse(readFileSync(join(stateFolder, recordName), "utf8")) as AnyRecord;
    } catch {
      return null;
    }
  }

  /** The record of a run that has not begun: the same members, with zero counts. */
  #nothing(): AnyRecord {
    const { shownCommand: command, context, settings } = this.#command;
    const { output } = settings;
    const now = context.clock.now();
    const { rows, unjournalled: _, left_out: __, ...counts } = new Tally().snapshot();
    return {
      schema_version: schemaVersion,
      program: { name: "repute", version: context.version },
      run_id: null,
      command,
      input: { path: null, bytes: 0, rows },
      output: { path: output === "-" ? null : redactAddress(output), bytes: null, rows },
      ...counts,
      started_at: new Date(this.#startedAt).toISOString(),
      ended_at: new Date(now).toISOString(),
      seconds: Math.round(now - this.#startedAt) / 1000,
      resumed: 0,
    };
  }

  #print(record: AnyRecord, { exit_reason, exit_code }: RunEnding): void {
    const { json, quiet, output } = this.#command.settings;
    const { reporter, stdout, stderr } = this.#command.context;
    if (this.#printed) return;
    this.#printed = true;
    const toStdout = output !== "-" || this.#run.toStdout === true;
    if (json && toStdout) stdout.write(`${JSON.stringify(record)}\n`);
    else if (json && reporter.format === "text") stderr.write(`${JSON.stringify(record)}\n`);
    if (reporter.format === "text" || (json ? toStdout : quiet)) return;
    const isDone = exit_code === exitCodes.done || exit_code === exitCodes.rowsFailed;
    const level = isDone ? "info" : "error";
    reporter.log(level, `ended: ${exit_reason.replaceAll("_", " ")}`, record);
  }
}
