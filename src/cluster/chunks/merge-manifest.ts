import { schemaVersion } from "../../core/columns.js";
import { programInfo } from "../../core/program.js";
import { mostFrequentFirst } from "../../run/tally.js";
import { noRows, unlikelyColumn } from "../../run/run-rows.js";
import { readingFacts } from "../../run/input-records.js";
import { LeftOutCounter } from "../../run/left-out-counts.js";
import type {
  ExclusionRecord,
  LeftOutCounts,
  RunEnding,
  Manifest,
} from "../../core/manifest/manifest.js";
import type { WorkPlan } from "./work-plan.js";

type Counts = Readonly<Record<string, number>>;

/** The counts of all chunks together, as of one run. The output is filled in by the merge. */
export type SummedChunks = Omit<Manifest, "output" | "command" | "ended_at" | keyof RunEnding>;

interface MergeFacts {
  readonly stored?: readonly string[];
  readonly leftOut?: LeftOutCounts | undefined;
}

/**
 * Sums the manifests of all chunks of a plan.
 *
 * @param resumed how often the run was resumed. Default: how often its chunks were
 * @param merge `stored`: warnings of the place where the rows are published; `leftOut`: rows that the
 *   merge leaves out
 */
export function sumChunks(
  plan: WorkPlan,
  manifests: readonly Manifest[],
  resumed = manifests.reduce((total, each) => total + each.resumed, 0),
  { stored = [], leftOut }: MergeFacts = {},
): SummedChunks {
  const sum = <K extends string>(of: (manifest: Manifest) => Readonly<Record<K, number>>) =>
    addUp(manifests.map(of)) as Record<K, number>;
  const byCount = (of: (manifest: Manifest) => Counts): Record<string, number> =>
    mostFrequentFirst(new Map(Object.entries(sum(of))));
  const ends = manifests.map(({ ended_at }) => ended_at).sort();
  const { rows, table } = plan.input;
  const unsupported = byCount(({ unsupported: counts }) => counts);
  return {
    schema_version: schemaVersion,
    program: programInfo(),
    run_id: plan.plan_id,
    input: {
      path: plan.input.path,
      ...readingFacts({ reading: plan.reading, kind: table?.kind }),
      bytes: plan.input.bytes,
      rows,
      grew_while_interrupted: false,
    },
    ...sumLeftOut(manifests, leftOut),
    statuses: sum(({ statuses }) => statuses),
    verdicts: sum(({ verdicts }) => verdicts),
    kinds: sum(({ kinds }) => kinds),
    requests: sumRequests(manifests),
    sources: sum(({ sources }) => sources),
    unsupported,
    errors: byCount(({ errors }) => errors),
    ...sumExclusions(manifests),
    tags: byCount(({ tags }) => tags),
    drift: byCount(({ drift }) => drift),
    warnings: mostFrequentFirst(
      new Map(
        Object.entries(
          addUp([
            plan.warnings,
            ...manifests.map(({ warnings }) => warnings),
            ...[...stored, ...runWarnings(plan, unsupported)].map((message) => ({ [message]: 1 })),
          ]),
        ),
      ),
    ),
    warned_rows: firstRows(manifests),
    ...(manifests.some(({ synthetic }) => synthetic === true) ? { synthetic: true } : {}),
    started_at: startOfChunks(plan, manifests),
    seconds: secondsBetween(startOfChunks(plan, manifests), ends.at(-1)),
    resumed,
  };
}

export function startOfChunks(plan: WorkPlan, manifests: readonly Manifest[]): string {
  return manifests.map(({ started_at }) => started_at).sort()[0] ?? plan.created_at;
}

function sumLeftOut(
  manifests: readonly Manifest[],
  own: LeftOutCounts | undefined,
): Pick<Manifest, "left_out"> {
  const all = [...manifests.map(({ left_out }) => left_out), own].filter(
    (each) => each !== undefined,
  );
  const sum = new LeftOutCounter();
  for (const counts of all) sum.add(counts);
  return all.length === 0 ? {} : { left_out: sum.counts() };
}

/** The lists of all chunks, with the rows that they held back. */
function sumExclusions(manifests: readonly Manifest[]): Pick<Manifest, "exclusions"> {
  const lists = new Map<string, ExclusionRecord>();
  for (const list of manifests.flatMap(({ exclusions = [] }) => exclusions)) {
    const rows = list.rows + (lists.get(list.path)?.rows ?? 0);
    lists.set(list.path, { ...list, rows });
  }
  return lists.size === 0 ? {} : { exclusions: [...lists.values()] };
}

/** The first row of all that each warning is about. */
function firstRows(manifests: readonly Manifest[]): Record<string, number> {
  const rows = new Map<string, number>();
  for (const [message, row] of manifests.flatMap(({ warned_rows }) =>
    Object.entries(warned_rows),
  )) {
    rows.set(message, Math.min(row, rows.get(message) ?? row));
  }
  return Object.fromEntries(rows);
}

/** Warnings about all chunks together. */
export function runWarnings(plan: WorkPlan, unsupported: Counts): readonly string[] {
  const { rows } = plan.input;
  const unlikely = unlikelyColumn(plan, { rows, unsupported });
  return [...(rows === 0 ? [noRows] : []), ...(unlikely === null ? [] : [unlikely])];
}

/** Time from the first chunk's start to the last one's end. */
function secondsBetween(start = "", end = ""): number {
  const ms = Date.parse(end) - Date.parse(start);
  return Number.isFinite(ms) ? Math.max(0, ms) / 1000 : 0;
}

function sumRequests(manifests: readonly Manifest[]): Manifest["requests"] {
  const endpoints = new Set(manifests.flatMap(({ requests }) => Object.keys(requests)));
  return Object.fromEntries(
    [...endpoints].sort().map((endpoint) => {
      const each = manifests.flatMap(({ requests }) => requests[endpoint] ?? []);
      const outcomes = new Map(Object.entries(addUp(each.map((counts) => counts.outcomes))));
      const total = each.reduce((all, counts) => all + counts.total, 0);
      return [endpoint, { total, outcomes: mostFrequentFirst(outcomes) }];
    }),
  );
}

function addUp(all: readonly Counts[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const counts of all) {
    for (const [name, n] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + n);
  }
  // Unlike assignment, `fromEntries` makes a name such as `__proto__` an ordinary member.
  return Object.fromEntries(sums);
}
