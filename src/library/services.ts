import type { CaseClient } from "../client/api/case-client.js";
import type { IntelClient } from "../client/api/intel-client.js";
import type { OpsClient } from "../client/api/ops-client.js";
import { AbortGroups } from "../core/abort.js";
import { type Clock, systemClock } from "../core/clock.js";
import { UsageError } from "../core/errors.js";
import { ResourceStack } from "../core/resource-stack.js";
import { openRequests } from "../client/lookup/options.js";
import type { RequestPace } from "../client/pace/request-pace.js";
import { Slots } from "../client/pace/slots.js";
import { embeddedServiceName } from "../jobs/enrich/options.js";
import type { Service as EmbeddedService } from "../service/service.js";
import { OpenedOnce } from "../client/session/opened-once.js";
import { Session } from "../client/session/session.js";
import { countedWarning, otherWords } from "../jobs/enrich/counted-warning.js";
import { MemoryStore } from "../client/store/store.js";
import type { ApiKey } from "../jobs/webhooks/prepare.js";
import type { ClientSettings } from "./options.js";
import type { OpenedLookup, ServiceAccess } from "../client/session/types.js";
import { userStateFolder } from "../core/files/user-folders.js";

type AddressName = "url" | "opsUrl" | "caseUrl";

/** Credential of each address. */
const credentials = { url: "apiKey", opsUrl: "accessToken", caseUrl: "caseApiKey" } as const;

/** The services of a client: each is opened when first needed, and all are closed together. */
export class Services {
  readonly settings: ClientSettings;
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
  readonly aborts = new AbortGroups();
  readonly #onQuotaUsedUp: (error: unknown) => void;
  readonly #stack = new ResourceStack();
  readonly #sessions = new OpenedOnce();
  readonly #slots: Slots;
  /** Answers with an undocumented intent or mail blocklist status. */
  #otherWords = 0;
  #embedded: Promise<EmbeddedService> | null = null;

  /** @param onQuotaUsedUp ends what waits for a quota that is used up */
  constructor(settings: ClientSettings, onQuotaUsedUp: (error: unknown) => void) {
    const { clock = systemClock } = settings;
    this.settings = settings;
    this.clock = clock;
    this.onWarning = settings.onWarning ?? (() => undefined);
    this.#onQuotaUsedUp = onQuotaUsedUp;
    this.#slots = new Slots({ concurrency: openRequests(settings) });
  }

  /** The key of the case management instance, for webhooks of that origin. */
  get caseKeys(): readonly ApiKey[] {
    const { caseUrl: origin, caseApiKey: key } = this.settings;
    return origin === undefined || key === undefined ? [] : [{ origin, key }];
  }

  /** @throws UsageError `intel_url_missing`, `ops_url_missing`, `case_url_missing` */
  session(name: AddressName): Promise<Session> {
    return this.#sessions.open(name, () => this.#open(name));
  }

  async intel(): Promise<IntelClient> {
    return (await this.session("url")).intel();
  }

  /** What an export of tags depends on. */
  async tagExport() {
    const session = await this.session("url");
    const [client, withheld] = [await session.intel(), await session.withheld()];
    const { clock, onWarning } = this;
    return { client, withheld, source: session.service.name, clock, onWarning };
  }

  async ops(): Promise<OpsClient> {
    return (await this.session("opsUrl")).ops();
  }

  async cases(): Promise<CaseClient> {
    return (await this.session("caseUrl")).cases();
  }

  /** @param remember how many findings are kept, so that their items aren't asked for again */
  async lookup(remember: number): Promise<OpenedLookup> {
    const session = await this.session("url");
    return session.lookup({
      settings: this.settings,
      store: new MemoryStore({ most: remember }),
      asReceived: this.settings.cache !== undefined,
      slots: this.#slots,
    });
  }

  /** What one lookup under this signal needs. */
  lookupCall(signal: AbortSignal) {
    const onOtherWord = (): void => void this.#otherWords++;
    return { signal, aborts: this.aborts, onOtherWord };
  }

  /** Closes what was opened, once what is being opened is open. */
  async close(): Promise<void> {
    if (this.#otherWords > 0) this.onWarning(countedWarning(otherWords, this.#otherWords));
    await this.#sessions.settled();
    await this.#stack.close();
  }

  async #open(name: AddressName): Promise<Session> {
    const { settings, clock, onWarning } = this;
    const { stateFolder = userStateFolder(process.env), pace, ...own } = settings;
    const { rate, retries, timeout } = own;
    const service = await this.#service(name);
    const session = new Session({
      service,
      settings: name === "url" ? own : { rate, retries, timeout },
      clock,
      stateFolder,
      onWarning,
      onEarlyEnd: this.#onQuotaUsedUp,
      pace: name === "url" ? pace : undefined,
      isShared: true,
    });
    return this.#stack.use(session);
  }

  async #service(name: AddressName): Promise<ServiceAccess> {
    const { settings } = this;
    const url = settings[name];
    const credential = settings[credentials[name]] ?? null;
    if (url !== undefined) {
      return { url, name: url, credential, embedded: false };
    }
    if (!settings.local) throw missing(name);
    const { sampleAccessToken, sampleCaseApiKey } = await import("../service/service.js");
    const service = await (this.#embedded ??= this.#startEmbedded());
    const samples = { url: null, opsUrl: sampleAccessToken, caseUrl: sampleCaseApiKey };
    const address = { url: service.intelUrl, opsUrl: service.opsUrl, caseUrl: service.caseUrl };
    return {
      url: address[name],
      name: embeddedServiceName(settings.synthetic),
      credential: credential ?? samples[name],
      embedded: true,
      madeUp: settings.synthetic === undefined ? "sample" : "invented",
    };
  }

  async #startEmbedded(): Promise<EmbeddedService> {
    const { startService } = await import("../service/service.js");
    const { apiKey, accessToken, caseApiKey, synthetic } = this.settings;
    const keys = { ...(accessToken && { accessToken }), ...(caseApiKey && { caseApiKey }) };
    return this.#stack.use(await startService({ apiKey, synthetic, ...keys }));
  }
}

function missing(name: AddressName): UsageError {
  const example = {
    url: ["intel_url_missing", "https://intel.example/beta"],
    opsUrl: ["ops_url_missing", "https://ops.example"],
    caseUrl: ["case_url_missing", "https://cases.example"],
  } as const;
  const [code, address] = example[name];
  return new UsageError(code, `this call needs ${name}`, {
    hint: `give it as in repute({ ${name}: "${address}" })`,
  });
}

/**
 * A client's pace as other clients use it: when its owner stops, because a quota is used up or the
 * client was closed, their requests stop waiting too.
 */
export function stoppablePace(pace: RequestPace, stop: () => AbortSignal): RequestPace {
  return {
    take: (signal) => pace.take(AbortSignal.any([signal, stop()])),
    throttled: (afterMs, ticket) => pace.throttled(afterMs, ticket),
    succeeded: (ticket) => pace.succeeded(ticket),
    hold: (ms) => pace.hold(ms),
    advise: (by, rate) => pace.advise(by, rate),
  };
}
