import type { z } from "zod";
import type { CaseContext, Customer, RepShareCase } from "../../api/schema/operations.js";
import type { QueryResult } from "../../api/schema/query-result.js";
import type { Tag } from "../../api/schema/tag.js";
import type { caseStates } from "../../api/schema/vocabulary.js";
import type { LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { transitionRecord, webhookRecord } from "./record-schemas.js";

/** What the embedded service answers from; made by `loadDataset`. */
export interface Dataset {
  /** By the item's normal form. */
  readonly items: ReadonlyMap<string, DatasetItem>;
  /** By the tag's name. */
  readonly tags: ReadonlyMap<string, DatasetTag>;
  readonly customers: readonly Customer[];
  /** By the case's `id`. */
  readonly cases: ReadonlyMap<string, RepShareCase>;
  /** By the case's `id`. */
  readonly contexts: ReadonlyMap<string, CaseContext>;
  /** By the webhook's name. */
  readonly webhooks: ReadonlyMap<string, Webhook>;
  readonly transitions: readonly PlaybookTransition[];
}

/** An item that the service knows something of. */
export type DatasetItem = ListedItem | RefusedItem;

export interface ListedItem {
  readonly item: Item;
  readonly result: QueryResult;
  /** Results that do not derive from `result`. */
  readonly answers: { readonly [endpoint in LookupEndpoint]?: object | undefined };
  readonly partial: PartialScript | null;
}

/** An item that the service answers with 400. */
interface RefusedItem {
  readonly item: Item;
  /** The message in `errors.$`. */
  readonly refuse: string;
}

/** An item that is first answered in part: the first ask lacks the first list of members, and so on. */
export interface PartialScript {
  readonly missing: readonly (readonly string[])[];
  /** After the last list: begin again with the first (true), or answer in full once (false). */
  readonly forever: boolean;
}

export interface DatasetTag {
  readonly tag: Tag;
  readonly list: readonly string[];
  /** When the list was last updated, RFC 3339 UTC. */
  readonly lastUpdate: string;
}

export type CaseState = (typeof caseStates)[number];

/** A webhook as it is configured (interface: Webhook configuration). */
export type Webhook = Readonly<z.output<typeof webhookRecord>>;

/** A change of a case's state that fires a webhook. */
export type PlaybookTransition = Readonly<z.output<typeof transitionRecord>>;
