import { startOver } from "./remedies.js";
import type { CodeEntries } from "./entry.js";

export const runCodes = {
  resume_or_restart: ["--resume and --restart exclude each other", "give one of them"],
  resume_needs_file: ["a run to a stream cannot be resumed", "write to a file with -o"],
  resume_differs: [
    "the interrupted run has --workers, or this one has them and differs from it",
    `repeat it as it was, or ${startOver}`,
  ],
  state_exists: ["an interrupted run is there", `continue with --resume, or ${startOver}`],
  state_folder_foreign: ["OUT.state is not a run's state", "move it away, or write elsewhere"],
  checkpoint_missing: ["the checkpoint is missing", startOver],
  checkpoint_damaged: ["the checkpoint is damaged", startOver],
  checkpoint_unreadable: ["the checkpoint cannot be read", "check the disk and permissions"],
  checkpoint_version: ["another version wrote the checkpoint", `use that version, or ${startOver}`],
  journal_damaged: ["the journal is damaged", startOver],
  journal_format: ["another version wrote the journal", `use that version, or ${startOver}`],
  journal_closed: ["the journal is closed", "report it: the run used it after its end"],
  journal_disk_full: ["the disk or the disk quota is full", "free space, then continue"],
  journal_files: ["too many files are open", "raise ulimit -n, then continue"],
  journal_full: ["the journal has reached its largest size", "split the input"],
  journal_read_only: ["the journal's file system is read-only", "write elsewhere"],
  journal_denied: ["no permission to write the journal", "check the folder's owner and mode"],
  journal_folder_missing: ["the journal's folder does not exist", "check the path"],
  journal_unusable: ["the journal cannot be read or written", "check the disk"],
  redis_refused: [
    "Redis refuses the login, the database or a command",
    "check the address, user name and password",
  ],
  no_cache: ["the folder holds no cache", "fill one with --cache DIR"],
  cache_damaged: ["the cache is damaged", "remove it with repute cache clear"],
  cache_format: ["another version of repute wrote the cache", "remove it with repute cache clear"],
  cache_unusable: ["the cache cannot be read or written", "check the disk and permissions"],
} as const satisfies CodeEntries;

export const chunkCodes = {
  work_exists: ["the work folder is not empty", "name a new folder"],
  work_missing: ["the work folder has no plan", "make one with repute split"],
  work_unreadable: ["the work folder cannot be read", "check the mount, owner and mode"],
  plan_damaged: ["the plan is damaged", "restore it, or split the input again"],
  plan_version: ["another version of repute made the plan", "use one version for all steps"],
  chunk_unknown: ["the plan has no chunk of that number", "give one of those in the hint"],
  chunk_option: ["the option is decided by split or merge", "give it to that command"],
  chunks_missing: ["chunks are missing or damaged", "run the chunks that the message names"],
  workers_need_file: [
    "--workers cannot read or write this",
    "read one text file; write text or Parquet",
  ],
  workers_option: ["the option does not go with workers elsewhere", "do what the message says"],
  work_in_use: ["another coordinator has the work folder", "wait for it, or name another folder"],
  lock_lost: ["another worker has taken over the chunk", "nothing: the other one does it"],
  worker_failed: ["workers ended again and again", "check memory, then continue with --resume"],
  merge_format: ["the chunks have another format", "name an output of their format"],
} as const satisfies CodeEntries;

export const embeddedCodes = {
  listen_failed: ["the embedded service cannot listen", "give another port, or 0 for a free one"],
  service_options_invalid: ["an option of the embedded service is invalid", "see the message"],
  fault_rates_invalid: ["the fault rates add up to more than 1", "lower them"],
  dataset_not_found: ["the dataset folder cannot be read", "see samples/dataset/README.md"],
  dataset_invalid: ["a file of the dataset is invalid", "see samples/dataset/README.md"],
} as const satisfies CodeEntries;
