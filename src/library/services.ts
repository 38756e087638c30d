import type { CaseClient, OpsClient } from "../client/api/ops-client.js";
import type { IntelClient } from "../client/api/intel-client.js";
import { AbortGroups, raceAbort } from "../core/abort.js";
import { type Clock, systemClock } from "../core/clock.js";
import { UsageError } from "../core/errors.js";
import { Parts } from "../core/resource-stack.js";
import { openRequests } from "../client/lookup/options.js";
import { Slots } from "../client/pace/slots.js";
import type { ServiceName } from "../client/api/service-description.js";
import { type OpenedLookup, type ServiceAccess, Session } from "../client/session/session.js";
import { countedWarning, otherWords } from "../jobs/enrich/counters.js";
import type { Lookup } from "../client/lookup/types.js";
import { MemoryStore } from "../client/store/store.js";
import { hasOtherWord } from "../core/verdict.js";
import type { ApiKey } from "../jobs/webhooks/send.js";
import type { clientSettings } from "./options.js";
import { userStateFolder } from "../core/files/folders.js";

type ClientSettings = ReturnType<typeof clientSettings>;

/** For each service: the options for its address and its credential, and an example address. */
const services = {
  intel: ["url", "apiKey", "https://intel.example/beta"],
  ops: ["opsUrl", "accessToken", "https://ops.example"],
  case: ["caseUrl", "caseApiKey", "https://cases.example"],
} as const satisfies Record<ServiceName, unknown>;

/** The services of a client: each is opened when first needed, and all are closed together. */
export class Services {
  readonly settings: ClientSettings;
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
  readonly #onQuotaUsedUp: (error: unknown) => void;
  readonly #parts = new Parts();
  readonly #slots: Slots;
  readonly #aborts = new AbortGroups();
  /** Answers with an undocumented intent or mail blocklist status. */
  #otherWords = 0;

  /** @param onQuotaUsedUp called when a quota is used up; ends everything that waits for it */
  constructor(settings: ClientSettings, onQuotaUsedUp: (error: unknown) => void) {
    const { clock = systemClock } = settings;
    this.settings = settings;
    this.clock = clock;
    this.onWarning = settings.onWarning ?? (() => undefined);
    this.#onQuotaUsedUp = onQuotaUsedUp;
    this.#slots = new Slots(openRequests(settings));
  }

  /** The key of the case management instance, for webhooks of that origin. */
  get caseKey(): ApiKey | null {
    const { caseUrl: origin, caseApiKey: key } = this.settings;
    return origin === undefined || key === undefined ? null : { origin, key };
  }

  /** @throws UsageError `intel_url_missing`, `ops_url_missing`, `case_url_missing` */
  readonly session = (name: ServiceName): Promise<Session> =>
    this.#parts.open(name, () => this.#open(name));

  readonly intel = async (): Promise<IntelClient> => (await this.session("intel")).intel();
  readonly ops = async (): Promise<OpsClient> => (await this.session("ops")).ops();
  readonly cases = async (): Promise<CaseClient> => (await this.session("case")).cases();

  /** What looks single items up. */
  readonly lookup = (): Promise<OpenedLookup> =>
    this.#parts.open("lookup", () => this.openLookup(0));

  /** @param remember number of findings to keep and reuse */
  async openLookup(remember: number): Promise<OpenedLookup> {
    const session = await this.session("intel");
    const opened = await session.lookup({
      settings: this.settings,
      store: new MemoryStore({ most: remember }),
      asReceived: this.settings.cache !== undefined,
      slots: this.#slots,
    });
    const lookup: Lookup = async (item, options) => {
      const asked = opened.lookup(item, options);
      const finding = await raceAbort(asked, options.signal, undefined, this.#aborts);
      if (hasOtherWord(finding)) this.#otherWords++;
      return finding;
    };
    return { ...opened, lookup };
  }

  /** Closes all sessions, after waiting for those that are still being opened. */
  async close(): Promise<void> {
    if (this.#otherWords > 0) this.onWarning(countedWarning(otherWords, this.#otherWords));
    await this.#parts.close();
  }

  async #open(name: ServiceName): Promise<Session> {
    const { settings, clock, onWarning } = this;
    const { stateFolder = userStateFolder(process.env), rate, retries, timeout } = settings;
    const service = await this.#service(name);
    const session = new Session({
      service,
      settings: name === "intel" ? settings : { rate, retries, timeout },
      clock,
      stateFolder,
      onWarning,
      onEarlyEnd: this.#onQuotaUsedUp,
      isShared: true,
    });
    return this.#parts.use(session);
  }

  async #service(name: ServiceName): Promise<ServiceAccess> {
    const { settings } = this;
    const [address, key, example] = services[name];
    const url = settings[address];
    if (url !== undefined) {
      return { url, name: url, credential: settings[key] ?? null, embedded: false };
    }
    if (settings.local) return (await this.#embedded()).access[name];
    throw new UsageError(`${name}_url_missing`, `this call needs ${address}`, {
      hint: `give it as in repute({ ${address}: "${example}" })`,
    });
  }

  #embedded() {
    return this.#parts.open("embedded service", async () => {
      const { startEmbedded } = await import("../service/service.js");
      const { apiKey: intel, accessToken: ops, caseApiKey, synthetic } = this.settings;
      return this.#parts.use(await startEmbedded({ intel, ops, case: caseApiKey }, synthetic));
    });
  }
}
