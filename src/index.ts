export { repute, Repute } from "./library/repute.js";
export type { EnrichFileOptions, LookupCall, ReputeOptions } from "./library/options.js";
export type {
  CompleteResult,
  FailedResult,
  IncompleteResult,
  LookupResult,
  UnsupportedResult,
} from "./library/result.js";
export { createDispatcher } from "./client/api/http/dispatcher.js";
export type { DispatcherOptions } from "./client/api/http/dispatcher.js";
export { IntelClient } from "./client/api/intel-client.js";
export type { IntelClientOptions, TagIpsPage } from "./client/api/intel-client.js";
export { CaseClient, OpsClient } from "./client/api/ops-client.js";
export type { CaseClientOptions, OpsClientOptions } from "./client/api/ops-client.js";
export type { CaseContext, Customer, RepShareCase } from "./client/api/calls.js";
export type {
  CryptoWalletResult,
  DomainResult,
  EmailResult,
  IpBogonResult,
  IpResult,
  PartialDomainResult,
  PartialIpResult,
  PartialResult,
  QueryResult,
  Sha1Result,
  UrlResult,
} from "./core/endpoints/query.js";
export type { QuickCheckResult } from "./core/endpoints/quick-check.js";
export type { Tag, TagIps, TagSummary } from "./client/api/calls.js";
export {
  NotFoundError,
  RejectedError,
  ServiceError,
  SnapshotChangedError,
  ThrottledError,
  TransientServiceError,
} from "./client/api/status-fault.js";
export type { AttemptReport, CallOptions, CallPolicy } from "./client/api/types.js";
export { systemClock } from "./core/clock.js";
export type { Clock } from "./core/clock.js";
export {
  EarlyEndError,
  FatalError,
  InterruptedError,
  ReputeError,
  UsageError,
} from "./core/errors.js";
export type { ReputeErrorOptions } from "./core/errors.js";
export { verdictOf } from "./core/verdict.js";
export type { FindingSource } from "./core/finding.js";
export type {
  Answers,
  Finding,
  FindingError,
  FindingStatus,
  JsonObject,
  LookupAnswer,
  LookupEndpoint,
  Verdict,
} from "./core/finding.js";
export { isBogon } from "./core/item/ip.js";
export { itemKinds, parseKindName } from "./core/item/item.js";
export type { Item, ItemKind, Recognition, UnsupportedReason } from "./core/item/item.js";
export { recogniseItem } from "./core/item/recognise.js";
export type { Duration, Rate } from "./core/options.js";
export type { RateOption } from "./client/lookup/options.js";
export type { Manifest, RequestCounts, TagExportRecord } from "./core/manifest.js";
export { startService } from "./service/service.js";
export type { FireWebhook } from "./service/cases.js";
export type { Service, ServiceOptions } from "./service/service.js";
export type { Webhook } from "./jobs/webhooks/webhook.js";
export { type Problem, WebhookError } from "./jobs/webhooks/render.js";
export type { WebhookDelivery } from "./jobs/webhooks/send.js";
