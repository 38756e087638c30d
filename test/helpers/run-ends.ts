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

const [good, bad] = [
  ["/start", ""],
  ["/start", "/fail"],
];
const continues = "continues";

/** Every end of a run. The tests produce each, and docs/every-night.md shows them. */
export const runEnds = {
  "all rows are done": {
    code: 0,
    reason: "done",
    resumable: false,
    pings: good,
    resume: "starts a new run",
  },
  "rows that `--fail-on` counts, or failed tags": {
    code: 3,
    reason: "rows_failed",
    resumable: false,
    pings: bad,
    resume: "starts a new run; `repute retry` asks again for the failed rows",
  },
  "more failed rows than `--max-failed`": {
    code: 1,
    reason: "too_many_failed",
    resumable: false,
    pings: bad,
    resume: "starts a new run; `repute retry OUT.failed -o OUT` asks again for the failed rows",
  },
  "`--max-requests` is used up": {
    code: 75,
    reason: "budget",
    resumable: true,
    pings: bad,
    resume: "continues with a new budget",
  },
  "`--deadline` is reached": {
    code: 75,
    reason: "deadline",
    resumable: true,
    pings: bad,
    resume: continues,
  },
  "a quota of `--rate` is used up": {
    code: 75,
    reason: "quota",
    resumable: true,
    pings: bad,
    resume: "continues; ends the same way while the quota is used up",
  },
  "the service asks to wait for more than 15 minutes": {
    code: 75,
    reason: "quota",
    resumable: true,
    pings: bad,
    resume: "continues; ends the same way while the service asks to wait",
  },
  SIGINT: { code: 130, reason: "interrupted", resumable: true, pings: bad, resume: continues },
  SIGTERM: { code: 143, reason: "interrupted", resumable: true, pings: bad, resume: continues },
  "SIGKILL, power loss": {
    code: 137,
    reason: null,
    resumable: true,
    pings: ["/start"],
    resume: continues,
  },
  "the disk is full": {
    code: 1,
    reason: "io",
    resumable: true,
    pings: bad,
    resume: "continues once there is space",
  },
  "the key is refused (401, 403)": {
    code: 1,
    reason: "refused",
    resumable: true,
    pings: bad,
    resume: "continues with a key that is accepted",
  },
  "a wrong address: only 404": {
    code: 1,
    reason: "wrong_service",
    resumable: false,
    pings: bad,
    resume: "starts a new run",
  },
  "the service is away for longer than `--outage-patience`": {
    code: 1,
    reason: "unreachable",
    resumable: true,
    pings: bad,
    resume: "continues once it is back",
  },
  "the input is missing or unreadable": {
    code: 2,
    reason: "io",
    resumable: false,
    pings: bad,
    resume: "starts a new run",
  },
  "none of the rows can be looked up": {
    code: 1,
    reason: "nothing_to_look_up",
    resumable: false,
    pings: bad,
    resume: "starts a new run",
  },
  "the input has no rows, or fewer than `--min-rows`": {
    code: 1,
    reason: "too_few_rows",
    resumable: false,
    pings: bad,
    resume: "starts a new run",
  },
  "a mistake on the command line or in the settings": {
    code: 2,
    reason: "usage",
    resumable: false,
    pings: ["/fail"],
    resume: "fails the same way",
  },
} as const satisfies Readonly<Record<string, RunEnd>>;

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
