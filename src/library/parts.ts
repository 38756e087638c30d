import { createDispatcher } from "../api/http/dispatcher.js";
import { CaseClient } from "../api/case-client.js";
import type { ClientOptions } from "../api/caller.js";
import { IntelClient } from "../api/intel-client.js";
import { OpsClient } from "../api/ops-client.js";
import { type Clock, systemClock } from "../core/clock.js";
import { UsageError } from "../core/errors.js";
import { userStateFolder } from "../core/files/make-folder.js";
import { ResourceStack } from "../core/resource-stack.js";
import { AddressWatch } from "../lookup/address-watch.js";
import { retryCalls } from "../lookup/attempt/call-policy.js";
import { composeLookup } from "../lookup/compose.js";
import { AbortGroups } from "../core/abort.js";
import { paceOf } from "../lookup/options.js";
import { obeyHints } from "../lookup/pace/obey-hints.js";
import { Slots } from "../lookup/pace/slots.js";
import type { Lookup } from "../lookup/types.js";
import { openPaces, type Paces } from "../session/open-connections.js";
import { embeddedServiceName } from "../run/options.js";
import type { Service } from "../service/service.js";
import { MemoryStore } from "../store/memory-store.js";
import type { FindingStore } from "../store/store.js";
import type { ApiKey } from "../webhooks/prepare.js";
import type { ClientSettings } from "./options.js";

/** One of the service's addresses. */
export interface Access {
  readonly url: string;
  /** Null: none is sent. */
  readonly credential: string | null;
  /** Names the service where its address would differ from run to run. */
  readonly name: string;
}

type AddressName = "url" | "opsUrl" | "caseUrl";

/** What a client is made of: each part is opened when first needed, and all are closed together. */
export class Parts {
  readonly settings: ClientSettings;
  readonly clock: Clock;
  readonly rates;
  readonly onWarning: (message: string) => void;
  readonly aborts = new AbortGroups();
  readonly #onQuotaUsedUp: (error: unknown) => void;
  readonly #stack = new ResourceStack();
  readonly #opened = new Map<string, Promise<unknown>>();
  readonly #slots: Slots;

  /** @param onQuotaUsedUp ends what waits for a quota that is used up */
  constructor(settings: ClientSettings, onQuotaUsedUp: (error: unknown) => void) {
    const { concurrency, rate, local, clock = systemClock } = settings;
    this.settings = settings;
    this.clock = clock;
    this.rates = paceOf(rate, local);
    this.onWarning = settings.onWarning ?? (() => undefined);
    this.#onQuotaUsedUp = onQuotaUsedUp;
    this.#slots = new Slots({ concurrency });
  }

  /** @throws UsageError `intel_url_missing`, `ops_url_missing`, `case_url_missing` */
  async access(name: AddressName): Promise<Access> {
    const { settings } = this;
    const url = settings[name];
    const key = { url: "apiKey", opsUrl: "accessToken", caseUrl: "caseApiKey" } as const;
    const credential = settings[key[name]] ?? null;
    if (url !== undefined) return { url, credential, name: url };
    if (!settings.local) throw missing(name);
    const { service, credentials } = await this.#embedded();
    const address = { url: service.intelUrl, opsUrl: service.opsUrl, caseUrl: service.caseUrl };
    return {
      url: address[name],
      credential: credentials[name],
      name: embeddedServiceName(settings.synthetic),
    };
  }

  /** The key of the case management instance, for webhooks of that origin. */
  get caseKeys(): readonly ApiKey[] {
    const { caseUrl: origin, caseApiKey: key } = this.settings;
    return origin === undefined || key === undefined ? [] : [{ origin, key }];
  }

  /** The paces of a service; those of the lookups are `url`'s. */
  paces(name: AddressName): Promise<Paces> {
    return this.#once(`paces ${name}`, async () => {
      const { settings, clock, onWarning } = this;
      const { stateFolder = userStateFolder(process.env), local, pace } = settings;
      const { url } = await this.access(name);
      // A pace of another client is an object; an address is opened with this one's rates.
      const [own, address] = typeof pace === "string" ? [undefined, pace] : [pace, undefined];
      const rated =
        name === "url" ? { ...settings, rate: this.rates, pace: address } : { rate: this.rates };
      const paces = await openPaces(rated, {
        quotas: local ? null : { service: url, stateFolder, onWarning },
        shared: name === "url" ? { pace: own } : undefined,
        clock,
        onEarlyEnd: this.#onQuotaUsedUp,
      });
      this.#stack.defer(() => paces.giveBack());
      return paces;
    });
  }

  cache(): Promise<FindingStore | undefined> {
    return this.#once("cache", async () => {
      const { cache: folder, cacheTtl: ttlMs } = this.settings;
      if (folder === undefined) return undefined;
      const { openCacheAt } = await import("../store/cache/open-cache.js");
      const { clock, onWarning } = this;
      return this.#stack.use(
        await openCacheAt({ folder, ttlMs, clock, onWarning, asReceived: true }),
      );
    });
  }

  intel(): Promise<IntelClient> {
    return this.#once("intel", async () => {
      const { url, options, credential } = await this.#client("url");
      const pace = (await this.paces("url")).run;
      const address = new AddressWatch({ address: url });
      return new IntelClient({
        ...options,
        apiKey: credential,
        asReceived: this.settings.cache !== undefined,
        onAttempt: (attempt) => {
          address.note(attempt);
          obeyHints(attempt, { pace, slots: this.#slots, clock: this.clock });
        },
      });
    });
  }

  ops(): Promise<OpsClient> {
    return this.#once("ops", async () => {
      const { options, credential } = await this.#client("opsUrl");
      return new OpsClient({ ...options, accessToken: credential });
    });
  }

  cases(): Promise<CaseClient> {
    return this.#once("cases", async () => {
      const { options, credential } = await this.#client("caseUrl");
      return new CaseClient({ ...options, apiKey: credential });
    });
  }

  /** @param remember how many findings are kept, so that their items aren't asked for again */
  async lookup(remember: number): Promise<Lookup> {
    const { settings, clock } = this;
    const [client, paces, cache, { name }] = await Promise.all([
      this.intel(),
      this.paces("url"),
      this.cache(),
      this.access("url"),
    ]);
    return composeLookup({
      ...settings,
      client,
      slots: this.#slots,
      pace: paces.run,
      shares: paces.shares,
      store: new MemoryStore({ most: remember }),
      cache: cache && { address: name, store: cache },
      clock,
    });
  }

  /** Closes what was opened, once what is being opened is open. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#opened.values());
    await this.#stack.close();
  }

  #embedded(): Promise<{
    readonly service: Service;
    readonly credentials: Readonly<Record<AddressName, string | null>>;
  }> {
    return this.#once("embedded", async () => {
      const { sampleAccessToken, sampleCaseApiKey, startService } =
        await import("../service/service.js");
      const {
        apiKey,
        synthetic,
        accessToken = sampleAccessToken,
        caseApiKey = sampleCaseApiKey,
      } = this.settings;
      const service = this.#stack.use(
        await startService({ apiKey, accessToken, caseApiKey, synthetic }),
      );
      return {
        service,
        credentials: { url: apiKey ?? null, opsUrl: accessToken, caseUrl: caseApiKey },
      };
    });
  }

  async #client(name: AddressName) {
    const { clock, settings } = this;
    const { url, credential } = await this.access(name);
    const pace = (await this.paces(name)).run;
    const connections = name === "url" ? settings.concurrency : 1;
    const dispatcher = createDispatcher(url, { connections });
    this.#stack.defer(() => dispatcher.destroy());
    const send = retryCalls({ pace, retries: settings.retries, clock });
    const options: ClientOptions = {
      baseUrl: url,
      dispatcher,
      clock,
      timeoutMs: settings.timeout,
      send,
    };
    return { url, options, credential: credential ?? undefined };
  }

  #once<T>(name: string, open: () => Promise<T>): Promise<T> {
    const known = this.#opened.get(name) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const opening = open();
    this.#opened.set(name, opening);
    // A part that failed to open is tried again with the next call.
    opening.catch(() => this.#opened.delete(name));
    return opening;
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
