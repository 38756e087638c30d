import type { z } from "zod";
import type { CaseContext, Customer, RepShareCase } from "../../api/schema/operations.js";
import type { Tag } from "../../api/schema/tag.js";
import type { caseStates } from "../../api/schema/vocabulary.js";
import type { ListedItem, RefusedItem, transitionRecord, webhookRecord } from "./records.js";

/** The data that the embedded service answers from. Load it with `loadDataset`. */
export interface Dataset {
  /** By normal form of the item. */
  readonly items: ReadonlyMap<string, DatasetItem>;
  /** By tag name. */
  readonly tags: ReadonlyMap<string, DatasetTag>;
  readonly customers: readonly Customer[];
  /** By case `id`. */
  readonly cases: ReadonlyMap<string, RepShareCase>;
  /** By case `id`. */
  readonly contexts: ReadonlyMap<string, CaseContext>;
  /** By webhook name. */
  readonly webhooks: ReadonlyMap<string, DatasetWebhook>;
  readonly transitions: readonly PlaybookTransition[];
}

/** An item known to the service. */
export type DatasetItem = ListedItem | RefusedItem;

export interface DatasetTag {
  readonly tag: Tag;
  readonly list: readonly string[];
  /** Whether an address bears the tag; true for all of `list`. */
  readonly isBorneBy: (address: string) => boolean;
  /** When the list was last updated, RFC 3339 UTC. */
  readonly lastUpdate: string;
}

export type CaseState = (typeof caseStates)[number];

/** A webhook's configuration. */
export type DatasetWebhook = Readonly<z.output<typeof webhookRecord>>;

/** A state change of a case that fires a webhook. */
export type PlaybookTransition = Readonly<z.output<typeof transitionRecord>>;
