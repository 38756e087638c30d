import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { programInfo } from "../../src/core/program.js";
import { root } from "../docs/pages.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { commandOf, type Manifest, podOf, readYaml, strangeFields } from "./containers.js";
import { machineWithDump } from "./nights.js";
import { runningService } from "../service/running-service.js";

const service = await runningService();

async function readManifests(name: string): Promise<readonly Manifest[]> {
  return (await readYaml(`kubernetes/${name}`)) as readonly Manifest[];
}

async function cronJob(): Promise<Manifest> {
  const read = await readManifests("cronjob.yaml");
  return read.find((manifest) => manifest.kind === "CronJob")!;
}

const confined = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/** What the Pod Security Standard "restricted" asks for, and a root that nothing can write to. */
const unprivileged = {
  automountServiceAccountToken: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 10001,
    runAsGroup: 10001,
    fsGroup: 10001,
    seccompProfile: { type: "RuntimeDefault" },
  },
  containers: [{ securityContext: confined }],
};

test.each(["cronjob.yaml", "workers.yaml"])(
  "%s has fields of Kubernetes, is confined, and refers to what is there",
  async (name) => {
    const [own, secrets] = [await readManifests(name), await readManifests("secret.yaml")];
    expect(strangeFields([...own, ...secrets])).toEqual([]);
    const known = new Set([
      ...own.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      ...secrets.flatMap(({ metadata, stringData = {} }) =>
        Object.keys(stringData).map((key) => `secret ${metadata.name} ${key}`),
      ),
    ]);
    const pods = own.flatMap((manifest) => podOf(manifest) ?? []);
    expect(pods.length).toBeGreaterThan(0);
    for (const pod of pods) {
      expect(pod).toMatchObject(unprivileged);
      const [{ env, volumeMounts, image }] = pod.containers;
      const named = [
        ...env.flatMap(({ valueFrom: from }) =>
          from ? [`secret ${from.secretKeyRef.name} ${from.secretKeyRef.key}`] : [],
        ),
        ...pod.volumes.flatMap(({ secret, persistentVolumeClaim: claim }) => [
          ...(secret?.items ?? []).map(({ key }) => `secret ${secret?.secretName} ${key}`),
          ...(claim ? [`PersistentVolumeClaim ${claim.claimName}`] : []),
        ]),
      ];
      expect(named.filter((each) => !known.has(each))).toEqual([]);
      const mounted = new Set(volumeMounts.map(({ name }) => name));
      expect([...mounted].toSorted()).toEqual(pod.volumes.map(({ name }) => name).toSorted());
      expect(image).toBe(`registry.example/repute:${programInfo().version}`);
    }
  },
);

test("the deployment selects its own pods", async () => {
  const read = await readManifests("workers.yaml");
  const deployment = read.find((manifest) => manifest.kind === "Deployment")!;
  const { template, selector } = deployment.spec!;
  expect(template!.metadata!.labels).toMatchObject(selector!.matchLabels);
});

test("the cron job's command ends with 0 and writes rows, a report and a cache", async () => {
  const job = await cronJob();
  const { folder } = await machineWithDump(service.intelUrl);
  const args = commandOf(job).map((word) =>
    word
      .replace("/run/secrets/repute/api-key", join(folder, "etc/repute/api-key"))
      .replace("=/var/lib/repute/", `=${folder}/var/lib/repute/`)
      .replace("--deadline=05:30", "--deadline=2h"),
  );
  expect(podOf(job)!.containers[0].args[1]).toBe("repute");
  const cwd = join(folder, "var/lib/repute");
  const env = { REPUTE_INTEL_URL: service.intelUrl, REPUTE_PARTIAL_RETRIES: "0" };
  expect(await runRepute(args, { cwd, env })).toMatchObject({ code: 0, stdout: "", stderr: "" });
  expect((await readFile(join(cwd, "nights.csv"), "utf8")).split("\n")).toHaveLength(26);
  expect(await readFile(join(cwd, "nights.html"), "utf8")).toContain("<html");
  expect(await readdir(join(cwd, "cache"))).not.toEqual([]);
});

/** Starts the cron job's script with another program in the place of repute. */
async function startScript(program: string) {
  const folder = await temporaryFolder();
  const path = join(folder, "program");
  await writeFile(path, `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  const [{ command, args }] = podOf(await cronJob())!.containers;
  const [shell, flag] = command!;
  return spawn(shell, [flag, args[0]!, path, "enrich", "a b"]);
}

test.each([
  [0, 0],
  [1, 1],
  [2, 2],
  [3, 0],
  [75, 0],
  [137, 137],
])("exit code %d of the run is %d for Kubernetes", async (code, wanted) => {
  const script = await startScript(`[ "$#:$2" = "2:a b" ] && exit ${code}`);
  expect(await once(script, "close")).toEqual([wanted, null]);
});

test("SIGTERM reaches the run, which has time to end as it does", async () => {
  const script = await startScript(
    `trap 'echo checkpoint; exit 143' TERM
     echo started; n=0
     while [ $((n += 1)) -lt 10000000 ]; do :; done`,
  );
  let printed = "";
  script.stdout.on("data", (chunk: Buffer) => {
    printed += String(chunk);
    if (printed === "started\n") script.kill("SIGTERM");
  });
  expect(await once(script, "close")).toEqual([143, null]);
  expect(printed).toBe("started\ncheckpoint\n");
});

/** The instructions of the Dockerfile in order, and the values of those in its last stage. */
async function dockerfile() {
  const text = (await readFile(join(root, "Dockerfile"), "utf8"))
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll("\\\n", " ");
  const all = text.split("\n").filter((line) => line.trim() !== "");
  for (const line of all) expect(line).toMatch(/^[A-Z]+ ./);
  const last = all.slice(all.findLastIndex((line) => line.startsWith("FROM ")));
  const valueOf = (name: string): string =>
    last.findLast((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? "";
  return { all, valueOf };
}

test("the image is pinned by tag, adds nothing from the network, and runs as a user", async () => {
  const { all, valueOf } = await dockerfile();
  for (const line of all) expect(line).toMatch(/^(?!ADD |FROM )|^FROM \w+:(?!latest)\S+/);
  expect(valueOf("USER")).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(JSON.parse(valueOf("ENTRYPOINT"))).toEqual(["/opt/repute/bin/repute"]);
  expect(JSON.parse(valueOf("CMD"))).toEqual(["--help"]);
  expect(valueOf("HEALTHCHECK")).toBe("NONE");
  expect(valueOf("WORKDIR")).toBe("/data");
});

test("all that the image writes is in its volumes", async () => {
  const { valueOf } = await dockerfile();
  const volumes = JSON.parse(valueOf("VOLUME")) as string[];
  const variables = valueOf("ENV").split(" ");
  expect(volumes).toContain("/data");
  expect(variables.map((each) => each.split("=")[0])).toEqual([
    "HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
  ]);
  for (const variable of variables) {
    const path = variable.split("=")[1]!;
    expect(volumes.filter((volume) => `${path}/`.startsWith(`${volume}/`))).toHaveLength(1);
  }
});

test("what a build needs is not ignored, and what may be secret or large is", async () => {
  const ignored = (await readFile(join(root, ".dockerignore"), "utf8")).trim().split("\n");
  expect(ignored).toEqual(expect.arrayContaining([".git", "node_modules", "dist"]));
  const needed = [".ci", ".npmrc", "src", "samples", "docs", "package-lock.json", "tsconfig.json"];
  expect(needed.filter((path) => ignored.includes(path))).toEqual([]);
});
