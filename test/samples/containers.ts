import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { root } from "../docs/pages.js";

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

interface Container {
  readonly image: string;
  readonly command?: readonly [shell: string, flag: string];
  readonly args: readonly string[];
  readonly env: readonly { valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  readonly volumeMounts: readonly { readonly name: string }[];
}

interface Pod {
  readonly containers: readonly [Container];
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: { secretName: string; items: readonly { readonly key: string }[] };
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
}

interface Template {
  readonly metadata?: { readonly labels: object };
  readonly spec: Pod;
}

/** What the samples for Kubernetes have that tests look at. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly selector?: { readonly matchLabels: object };
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec: { readonly template: Template } };
  };
}

/** The pod that a manifest makes; null if it makes none. */
export function podOf({ spec }: Manifest): Pod | null {
  return (spec?.template ?? spec?.jobTemplate?.spec.template)?.spec ?? null;
}

/** What a container runs, without the program's name or the script that runs it. */
export function commandOf(manifest: Manifest): readonly string[] {
  const [{ command, args }] = podOf(manifest)!.containers;
  return command === undefined ? args : args.slice(2);
}

/** Fields that the samples use, by the field that they are in, as in Kubernetes 1.31 and later. */
const fields: Readonly<Record<string, string>> = {
  "": "apiVersion kind metadata spec type stringData",
  metadata: "name labels",
  spec:
    "schedule timeZone concurrencyPolicy startingDeadlineSeconds jobTemplate backoffLimit podFailurePolicy " +
    "replicas selector template accessModes resources restartPolicy terminationGracePeriodSeconds " +
    "automountServiceAccountToken securityContext containers volumes",
  jobTemplate: "spec",
  podFailurePolicy: "rules",
  rules: "action onExitCodes onPodConditions",
  onExitCodes: "containerName operator values",
  onPodConditions: "type status",
  selector: "matchLabels",
  template: "metadata spec",
  securityContext:
    "runAsNonRoot runAsUser runAsGroup fsGroup seccompProfile allowPrivilegeEscalation readOnlyRootFilesystem capabilities",
  seccompProfile: "type",
  capabilities: "drop",
  containers: "name image command args env securityContext resources volumeMounts",
  env: "name value valueFrom",
  valueFrom: "secretKeyRef",
  secretKeyRef: "name key",
  resources: "requests limits",
  requests: "cpu memory storage",
  limits: "memory",
  volumeMounts: "name mountPath subPath readOnly",
  volumes: "name persistentVolumeClaim secret emptyDir",
  persistentVolumeClaim: "claimName",
  secret: "secretName items defaultMode",
  items: "key path",
};

/** Fields where Kubernetes has none of that name. */
export function strangeFields(value: unknown, within = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => strangeFields(each, within));
  if (typeof value !== "object" || value === null) return [];
  if (["labels", "matchLabels", "stringData"].includes(within)) return [];
  const known = (fields[within] ?? "").split(" ");
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    known.includes(name) ? strangeFields(member, name) : [`${within}.${name}`],
  );
}
