import { assemble, type Placed, type Dataset } from "../../src/service/dataset/dataset.js";

/** The lines of a dataset's files as values. `tags` may hold their addresses as `entries`. */
export interface DatasetParts {
  readonly items?: readonly unknown[];
  readonly tags?: readonly unknown[];
  readonly customers?: readonly unknown[];
  readonly cases?: readonly unknown[];
  readonly contexts?: readonly unknown[];
  readonly webhooks?: readonly unknown[];
  readonly transitions?: readonly unknown[];
}

/**
 * A dataset without a folder.
 *
 * @throws UsageError `dataset_invalid`, naming the first fault as `items[2]`
 */
export function datasetOf(parts: DatasetParts): Dataset {
  return assemble({
    items: placed("items", parts.items),
    tags: placed("tags", parts.tags),
    tagIps: () => null,
    customers: placed("customers", parts.customers),
    cases: placed("cases", parts.cases),
    contexts: placed("contexts", parts.contexts),
    webhooks: placed("webhooks", parts.webhooks),
    transitions: placed("transitions", parts.transitions),
  });
}

function placed(part: string, values: readonly unknown[] = []): Placed[] {
  return values.map((value, index) => ({ value, where: `${part}[${index}]` }));
}
