import type { CodeEntries } from "./entry.js";

export const tagCodes = {
  invalid_tag_name: ["a tag's name is empty", "give the name as the service spells it"],
  which_tags: ["no tags are named, or they are named in two ways", "name tags, --all or --seen-in"],
  no_tags: ["the service lists no tags", "check the address and the key, or name the tags"],
  no_output: ["no folder to export to", "give it with -o DIR"],
  other_tag: ["the answer is about another tag", "check caches in front of the service"],
  invalid_entry: ["the list has an entry that is not an IP address", "report it to the operator"],
  list_leapt: [
    "a list changed by more than --max-change allows; the earlier one stays",
    "look at the tag; --max-change 100% accepts the new list",
  ],
  count_mismatch: [
    "the list has more or fewer distinct addresses than its total",
    "export the tag again; if it stays, report it to the operator",
  ],
  page_repeated: [
    "two pages of the list are the same",
    "tell the operator: paging by offset fails",
  ],
  snapshot_changed: ["the list changed while it was read", "read it again"],
  snapshot_drift: [
    "the list changed every time it was read",
    "export the tag again when its list is stable",
    "the list, up to 3 times",
  ],
  list_incomplete: ["the list ended before its total", "read it again"],
  too_many_tags: ["the rows carry more tags than a run remembers", "export the others by name"],
  file_name_taken: [
    "a file with the tag's name is in the folder but does not come from an export",
    "move it away",
  ],
  export_folder_in_use: ["the folder holds files that no export wrote", "export to another folder"],
  export_to_objects: [
    "tag lists are exported to a folder, not to object storage",
    "export to a folder, and copy it with aws s3 sync",
  ],
  export_index_unreadable: [
    "index.json of the folder cannot be read",
    "restore it from a copy, or export to another folder",
  ],
  export_unwritable: ["the export cannot be written", "fix the cause and run again"],
  unexpected: ["a fault without a code of its own", "read the message; if unclear, report it"],
} as const satisfies CodeEntries;
