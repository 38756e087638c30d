import { z } from "zod";

// The fields that the samples use, as in the schemas of Kubernetes 1.31 and later (package kubernetes-models 5.1.0,
// which accepts the samples). Any other field is a mistake until it is added here.

const metadata = z.strictObject({
  name: z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
  labels: z.record(z.string(), z.string()).optional(),
});
const quantity = z.string().regex(/^\d+(m|[KMGT]i)?$/);
const resources = z.strictObject({
  requests: z.strictObject({ cpu: quantity, memory: quantity }),
  limits: z.strictObject({ memory: quantity }),
});

/** What the Pod Security Standard "restricted" asks for, and a root that nothing can write to. */
const confined = z.strictObject({
  allowPrivilegeEscalation: z.literal(false),
  readOnlyRootFilesystem: z.literal(true),
  capabilities: z.strictObject({ drop: z.tuple([z.literal("ALL")]) }),
});
const unprivileged = z.strictObject({
  runAsNonRoot: z.literal(true),
  runAsUser: z.literal(10001),
  runAsGroup: z.literal(10001),
  fsGroup: z.literal(10001),
  seccompProfile: z.strictObject({ type: z.literal("RuntimeDefault") }),
});

const container = z.strictObject({
  name: z.string(),
  image: z.string().regex(/:\d+\.\d+\.\d+$/),
  command: z.tuple([z.literal("/bin/sh"), z.literal("-c")]).optional(),
  args: z.array(z.string()),
  env: z.array(
    z.union([
      z.strictObject({ name: z.string(), value: z.string() }),
      z.strictObject({
        name: z.string(),
        valueFrom: z.strictObject({
          secretKeyRef: z.strictObject({ name: z.string(), key: z.string() }),
        }),
      }),
    ]),
  ),
  securityContext: confined,
  resources,
  volumeMounts: z.array(
    z.strictObject({
      name: z.string(),
      mountPath: z.string().startsWith("/"),
      subPath: z.string().optional(),
      readOnly: z.boolean().optional(),
    }),
  ),
});

const volume = z.union([
  z.strictObject({ name: z.string(), emptyDir: z.strictObject({}) }),
  z.strictObject({
    name: z.string(),
    persistentVolumeClaim: z.strictObject({ claimName: z.string() }),
  }),
  z.strictObject({
    name: z.string(),
    secret: z.strictObject({
      secretName: z.string(),
      items: z.array(z.strictObject({ key: z.string(), path: z.string() })),
      // Readable for the group of the pod alone.
      defaultMode: z.literal(0o440),
    }),
  }),
]);

const pod = z.strictObject({
  restartPolicy: z.enum(["Never"]).optional(),
  terminationGracePeriodSeconds: z.int().min(60),
  automountServiceAccountToken: z.literal(false),
  securityContext: unprivileged,
  containers: z.tuple([container]),
  volumes: z.array(volume),
});

const podFailurePolicy = z.strictObject({
  rules: z.array(
    z.union([
      z.strictObject({
        action: z.literal("FailJob"),
        onExitCodes: z.strictObject({
          containerName: z.string(),
          operator: z.literal("In"),
          values: z.array(z.int().positive()),
        }),
      }),
      z.strictObject({
        action: z.literal("Ignore"),
        onPodConditions: z.array(
          z.strictObject({ type: z.literal("DisruptionTarget"), status: z.literal("True") }),
        ),
      }),
    ]),
  ),
});

const job = z.strictObject({
  backoffLimit: z.int(),
  podFailurePolicy: podFailurePolicy.optional(),
  template: z.strictObject({ spec: pod }),
});

const manifest = z.discriminatedUnion("kind", [
  z.strictObject({
    apiVersion: z.literal("batch/v1"),
    kind: z.literal("CronJob"),
    metadata,
    spec: z.strictObject({
      schedule: z.string().regex(/^(\S+ ){4}\S+$/),
      timeZone: z.string(),
      concurrencyPolicy: z.literal("Forbid"),
      startingDeadlineSeconds: z.int(),
      jobTemplate: z.strictObject({ spec: job }),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal("apps/v1"),
    kind: z.literal("Deployment"),
    metadata,
    spec: z.strictObject({
      replicas: z.int(),
      selector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
      template: z.strictObject({ metadata: metadata.omit({ name: true }), spec: pod }),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal("v1"),
    kind: z.literal("PersistentVolumeClaim"),
    metadata,
    spec: z.strictObject({
      accessModes: z.array(z.enum(["ReadWriteOnce"])),
      resources: z.strictObject({ requests: z.strictObject({ storage: quantity }) }),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal("v1"),
    kind: z.literal("Secret"),
    metadata,
    type: z.literal("Opaque"),
    stringData: z.record(z.string(), z.string()),
  }),
]);

export const manifests = z.array(manifest);
export type Manifest = z.infer<typeof manifest>;
export type CronJob = Extract<Manifest, { kind: "CronJob" }>;
export type Deployment = Extract<Manifest, { kind: "Deployment" }>;
