import { ReputeError } from "../core/errors.js";

/**
 * A tag's list cannot be exported, though the service answered: `snapshot_drift`, `count_mismatch`,
 * `invalid_entry`, `other_tag`, `invalid_tag_name`, `file_name_taken`. Other tags go on.
 */
export class TagExportError extends ReputeError {}
