import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { root } from "../docs/pages.js";
import type { CronJob, Deployment, Manifest } from "./kubernetes-schema.js";

/** The documents of a sample in YAML, read as Kubernetes and Compose do: `0440` is octal. */
export async function readYaml(
  path: string,
  edit: (text: string) => string = (text) => text,
): Promise<readonly unknown[]> {
  const text = edit(await readFile(join(root, "samples", path), "utf8"));
  return parseAllDocuments(text, { version: "1.1", merge: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as unknown;
  });
}

export type PodOwner = CronJob | Deployment;

export function podOf(owner: PodOwner) {
  return owner.kind === "CronJob"
    ? owner.spec.jobTemplate.spec.template.spec
    : owner.spec.template.spec;
}

export function isPodOwner(manifest: Manifest): manifest is PodOwner {
  return "spec" in manifest && manifest.kind !== "PersistentVolumeClaim";
}

/** What a container runs, without the program's name or the script that runs it. */
export function commandOf(owner: PodOwner): readonly string[] {
  const [{ command, args }] = podOf(owner).containers;
  return command === undefined ? args : args.slice(2);
}
