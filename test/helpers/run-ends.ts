import type { ExitReason } from "../../src/core/manifest.js";

/** An end of a run: how it shows, and what `--resume` does then. */
export interface RunEnd {
  readonly code: number;
  /** Null if nobody is left to report it. */
  readonly reason: ExitReason | null;
  readonly resumable: boolean;
  /** Paths of the calls of `--ping`. */
  readonly pings: readonly string[];
  readonly resume: string;
}

const failed = ["/start", "/fail"];

/** An end after which `--resume` continues. */
function stopped(code: number, reason: ExitReason, resume = "continues"): RunEnd {
  return { code, reason, resumable: true, pings: failed, resume };
}

/** An end after which `--resume` has nothing to continue. */
function over(code: number, reason: ExitReason, resume = "starts a new run"): RunEnd {
  return { code, reason, resumable: false, pings: failed, resume };
}

/** Every end of a run. The tests produce each, and docs/every-night.md shows them. */
export const runEnds = {
  "all rows are done": { ...over(0, "done"), pings: ["/start", ""] },
  "rows that `--fail-on` counts, or failed tags": over(
    3,
    "rows_failed",
    "starts a new run; `repute retry` asks again for the failed rows",
  ),
  "more failed rows than `--max-failed`": over(
    1,
    "too_many_failed",
    "starts a new run; `repute retry OUT.failed -o OUT` asks again for the failed rows",
  ),
  "`--max-requests` is used up": stopped(75, "budget", "continues with a new budget"),
  "`--deadline` is reached": stopped(75, "deadline"),
  "a quota of `--rate` is used up": stopped(
    75,
    "quota",
    "continues; ends the same way while the quota is used up",
  ),
  "the service asks to wait for more than 15 minutes": stopped(
    75,
    "quota",
    "continues; ends the same way while the service asks to wait",
  ),
  SIGINT: stopped(130, "interrupted"),
  SIGTERM: stopped(143, "interrupted"),
  "SIGKILL, power loss": { ...stopped(137, "interrupted"), reason: null, pings: ["/start"] },
  "the disk is full": stopped(1, "io", "continues once there is space"),
  "the key is refused (401, 403)": stopped(1, "refused", "continues with a key that is accepted"),
  "a wrong address: only 404": over(1, "wrong_service"),
  "the service is away for longer than `--outage-patience`": stopped(
    1,
    "unreachable",
    "continues once it is back",
  ),
  "the input is missing or unreadable": over(2, "io"),
  "none of the rows can be looked up": over(1, "nothing_to_look_up"),
  "the input has no rows, or fewer than `--min-rows`": over(1, "too_few_rows"),
  "a mistake on the command line or in the settings": {
    ...over(2, "usage", "fails the same way"),
    pings: ["/fail"],
  },
} satisfies Readonly<Record<string, RunEnd>>;

export type RunEndName = keyof typeof runEnds;

/** The table of docs/every-night.md. */
export function runEndRows(): readonly (readonly string[])[] {
  return Object.entries<RunEnd>(runEnds).map(([event, end]) => [
    event,
    String(end.code),
    end.reason === null ? "none; `interrupted` in `OUT.state`" : `\`${end.reason}\``,
    end.resumable ? "yes" : "no",
    end.resume,
  ]);
}
