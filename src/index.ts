export { repute, Repute } from "./library/repute.js";
export type {
  CompleteResult,
  FailedResult,
  IncompleteResult,
  LookupResult,
  UnsupportedResult,
} from "./library/result.js";
export type {
  Duration,
  EnrichFileOptions,
  LookupCall,
  RateOption,
  ReputeOptions,
  TagListOptions,
  WebhookCall,
} from "./library/types.js";
export { CaseClient } from "./api/case-client.js";
export type { CaseClientOptions } from "./api/case-client.js";
export { createDispatcher } from "./api/http/dispatcher.js";
export type { DispatcherOptions } from "./api/http/dispatcher.js";
export { RequestThread } from "./api/thread/request-thread.js";
export type { ThreadTransport } from "./api/thread/request-thread.js";
export { IntelClient } from "./api/intel-client.js";
export type { IntelClientOptions, TagIpsPage } from "./api/intel-client.js";
export { openApiDocument } from "./api/openapi.js";
export { OpsClient } from "./api/ops-client.js";
export type { OpsClientOptions } from "./api/ops-client.js";
export type { CaseContext, Customer, RepShareCase } from "./api/schema/operations.js";
export type {
  PartialDomainResult,
  PartialIpResult,
  PartialResult,
} from "./api/schema/query-result.js";
export type {
  CryptoWalletResult,
  DomainResult,
  EmailResult,
  IpBogonResult,
  IpResult,
  QueryResult,
  Sha1Result,
  UrlResult,
} from "./api/schema/query-result.js";
export type { QuickCheckResult } from "./api/schema/quick-check.js";
export type { Tag, TagIps, TagSummary } from "./api/schema/tag.js";
export {
  NotFoundError,
  RejectedError,
  ServiceError,
  SnapshotChangedError,
  ThrottledError,
  TransientServiceError,
} from "./api/status-fault.js";
export type { AttemptReport, CallOptions, CallPolicy } from "./api/types.js";
export { systemClock } from "./core/clock.js";
export type { Clock } from "./core/clock.js";
export type { Again, Attempt, LookupRecord } from "./core/attempt.js";
export { columns, schemaVersion } from "./core/columns.js";
export type { Column, ColumnType, ColumnValue } from "./core/columns.js";
export {
  EarlyEndError,
  FatalError,
  InterruptedError,
  ReputeError,
  UsageError,
} from "./core/errors.js";
export type { ReputeErrorOptions } from "./core/errors.js";
export { findingStatuses } from "./core/finding.js";
export type {
  Answers,
  Finding,
  FindingError,
  FindingSource,
  FindingStatus,
  JsonObject,
  LookupAnswer,
  LookupEndpoint,
} from "./core/finding.js";
export { isBogon } from "./core/item/ip.js";
export { itemKinds } from "./core/item/item.js";
export type { Item, ItemKind, Recognition, UnsupportedReason } from "./core/item/item.js";
export { parseKindName } from "./core/item/item.js";
export { recogniseItem } from "./core/item/recognise.js";
export type { Rate } from "./core/options.js";
export type { EnrichedRow, Row } from "./core/row.js";
export { verdictOf, verdicts } from "./core/finding.js";
export type { Verdict } from "./core/finding.js";
export { retryCalls } from "./lookup/attempt/call-policy.js";
export type { CallPolicyOptions } from "./lookup/attempt/call-policy.js";
export { combineFindings } from "./lookup/combine.js";
export { composeLookup } from "./lookup/compose.js";
export type { ComposeOptions, LookupClient } from "./lookup/compose.js";
export { openJournal } from "./store/journal/journal.js";
export type { JournalOptions } from "./store/journal/journal.js";
export { MemoryStore } from "./store/memory-store.js";
export { Pace } from "./lookup/pace/pace.js";
export type { PaceOptions } from "./lookup/pace/pace.js";
export type { RequestPace } from "./lookup/pace/request-pace.js";
export { MemoryQuotaStore } from "./store/quota/quota-store.js";
export type { QuotaStore, Reservation, ReserveOptions } from "./store/quota/quota-store.js";
export type { FindingStore, LookupStore, Store } from "./store/store.js";
export type {
  AttemptLookup,
  AttemptWrapper,
  Lookup,
  LookupOptions,
  LookupWrapper,
} from "./lookup/types.js";
export { enrich } from "./run/execute.js";
export { enrichOptions } from "./run/options.js";
export type { EnrichSettings } from "./run/options.js";
export type {
  EnrichJob,
  Manifest,
  RequestCounts,
  RunProgress,
  TagExportRecord,
} from "./run/types.js";
export type { FireWebhook } from "./service/case-desk.js";
export type { ExportReport, TagResult } from "./tags/types.js";
export { startService } from "./service/service.js";
export type { Service, ServiceOptions } from "./service/service.js";
export type { Sink, SinkPosition, SinkResult } from "./outputs/types.js";
export type { OpenedSource, SourceInput, SourceOptions, SourcePosition } from "./inputs/types.js";
export { checkWebhook } from "./webhooks/check.js";
export { parseWebhooks, readWebhooks } from "./webhooks/configuration.js";
export type { Webhook } from "./webhooks/configuration.js";
export { previewWebhook } from "./webhooks/prepare.js";
export type { ApiKey, PrepareOptions, WebhookRequest } from "./webhooks/prepare.js";
export { WebhookError } from "./webhooks/problem.js";
export type { Problem } from "./webhooks/problem.js";
export { renderPayload } from "./webhooks/render.js";
export { sendWebhook } from "./webhooks/send.js";
export type { SendOptions, WebhookDelivery } from "./webhooks/send.js";
