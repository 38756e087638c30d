/** Members of all targets. */
export interface WarehouseTarget {
  readonly kind: string;
  /** Name for messages and the manifest, without a password. */
  readonly display: string;
  /** The file that holds it, symbolic links resolved; null for a server. */
  readonly file: string | null;
  /** Path prefix of the run's own files: `BASE.state/`, `BASE.manifest.json`. */
  readonly base: string;
}
