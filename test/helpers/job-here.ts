import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/core/clock.js";
import { enrichOptions, type FlatSettings, inGroups } from "../../src/jobs/enrich/options.js";
import type { EnrichJob } from "../../src/jobs/enrich/types.js";
import { Session, type SessionOptions } from "../../src/client/session/session.js";
import { userStateFolder } from "../../src/core/files/folders.js";
import { isQuota, type Rate } from "../../src/core/options.js";

/** Where nothing answers. */
const nowhere = "http://127.0.0.1:9/beta";

type Service = Partial<SessionOptions["service"]>;

/** Tests wait for no default rate. */
const unlimited: Rate = { count: 1_000_000, perMs: 1_000 };

/**
 * A session with the service at `intelUrl` of the settings, without the default rate. The caller
 * closes it.
 */
export function sessionHere(
  settings: FlatSettings,
  {
    service,
    ...more
  }: Partial<Omit<SessionOptions, "service">> & { readonly service?: Service } = {},
): Session {
  const { intelUrl: url = nowhere } = settings;
  const remote = { url, name: url, credential: null, embedded: false };
  const { rate = [] } = settings;
  return new Session({
    settings: { ...settings, rate: rate.every(isQuota) ? [unlimited, ...rate] : rate },
    clock: systemClock,
    stateFolder: userStateFolder(process.env),
    onWarning: () => undefined,
    ...more,
    service: { ...remote, ...service },
  });
}

/** What a test says of a job. */
export type JobHere = Partial<Omit<EnrichJob, "settings" | "session">> &
  Pick<EnrichJob, "input"> & {
    /** Settings as in a configuration file. */
    readonly settings: Readonly<Record<string, unknown>>;
    /** Value of `x-api-key`. */
    readonly apiKey?: string | null;
    /** @default a session that is closed at the end of the test */
    readonly session?: Session;
  };

/** A job for a run in this process. */
export function jobHere({ settings: given, apiKey = null, ...job }: JobHere): EnrichJob {
  // The addresses of tests are those for documentation, which are reserved.
  const settings = enrichOptions.parse({ bogons: "ask", ...given });
  const { clock = systemClock, onWarning = () => undefined } = job;
  const stateFolder =
    job.stateFolder === undefined ? userStateFolder(process.env) : job.stateFolder;
  const session = job.session ?? ownSession();
  function ownSession(): Session {
    const service = { credential: apiKey };
    const own = sessionHere(settings, { service, clock, stateFolder, onWarning });
    onTestFinished(() => own.close());
    return own;
  }
  return {
    stdout: new PassThrough(),
    command: [],
    signal: new AbortController().signal,
    ...job,
    settings: inGroups(settings),
    session,
  };
}
