/** The kinds of item that the interface answers for (interface: What the service does, 1). */
export const itemKinds = ["ip", "domain", "url", "sha1", "crypto_wallet", "email"] as const;

export type ItemKind = (typeof itemKinds)[number];

/** One thing to look up, in its normal form: what is sent, compared and stored. */
export interface Item {
  readonly kind: ItemKind;
  /** Normalised text, e.g. `2001:db8::1`, `example.com`, 40 lower-case hex digits for SHA1. */
  readonly value: string;
}

/** Why a text is no item of any kind that the interface has. */
export interface UnsupportedReason {
  /** Stable, lower case with underscores: `empty`, `cidr`, `sha256`, `file_name` … */
  readonly code: string;
  /** One sentence for a person. */
  readonly message: string;
}

/** The outcome of recognition: an item, or the reason why there is none. */
export type Recognition =
  | { readonly item: Item; readonly reason: null }
  | { readonly item: null; readonly reason: UnsupportedReason };
