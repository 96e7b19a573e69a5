// The entry point "mooring/security": every guard of the ready-made profiles, for your own servers. Inside the project,
// import the part you need, so that start-up loads nothing else.

// Audit: a log for `server.use`, and ways to read it.
export {
  type AuditEntry,
  type AuditFilter,
  type AuditHead,
  type AuditLog,
  type AuditOptions,
  type AuditRecord,
  type AuditStatus,
  type FailureMode,
  type FieldRule,
  formatEntry,
  openAuditLog,
  queryAudit,
  type SyncPolicy,
  type TailOptions,
  tailAudit,
  type Verification as AuditVerification,
  verifyAudit,
} from './audit/index.ts';
// Authentication: hooks for `serveHttp({ authenticate })`.
export {
  type Authenticate,
  type AuthenticationResult,
  type AuthRequest,
  AuthUnavailable,
  anyOf,
  authenticateEnvironment,
  createOAuthAuthenticator,
  createToken,
  createTokenAuthenticator,
  type Denied,
  hashToken,
  type IntrospectionOptions,
  type IssuerOptions,
  type OAuthAuthenticator,
  type OAuthOptions,
  type Principal,
  readTokenFile,
  requireScopes,
  type ScopeHierarchy,
  type ScopeOptions,
  type ScopeRule,
  type TokenEntry,
  type TokenOptions,
} from './auth/index.ts';
// Files: access below configured roots only.
export {
  FileError,
  type FileErrorCode,
  type FileLimits,
  type FileTree,
  type Listing,
  type ListOptions,
  OwnFiles,
  type OwnPaths,
  openRoots,
} from './files/tree.ts';
// Untrusted text: hidden characters are found and removed, sources are named.
export {
  type CleanMode,
  cleanText,
  cleanValue,
  type Finding,
  type HiddenKind,
  inspectText,
  inspectValue,
  type LabelOptions,
  labelUntrusted,
  type ValueFinding,
} from './hygiene.ts';
// Limits: middleware for `server.around`.
export {
  type Bucket,
  type BucketStore,
  type Buckets,
  type CallLimit,
  type ConcurrencyOptions,
  type ConcurrencyRule,
  createMemoryBuckets,
  type LimitScope,
  type LimitTarget,
  type LoadShedding,
  limitCalls,
  limitConcurrency,
  type RateLimitOptions,
  type RateRule,
  rateLimit,
  type SheddingOptions,
  shedLoad,
} from './limits/index.ts';
// Network: outgoing requests to checked addresses.
export {
  createFetcher,
  type FetchedResponse,
  type Fetcher,
  type FetcherOptions,
  type FetchInit,
  NetworkError,
  type NetworkErrorCode,
  type NetworkPolicy,
} from './network/fetcher.ts';
export { toWebFetch } from './network/web-fetch.ts';
// Policy: one file, used with `server.use(enforcePolicy(await loadPolicy(file)))`.
export {
  type ApplyOptions as PolicyGuardOptions,
  type CompiledPolicy,
  compilePolicy,
  type Explanation,
  enforcePolicy,
  explainCall,
  formatExplanation,
  type LoadOptions,
  loadPolicy,
  type Policy,
  PolicyError,
  type PolicyGuard,
  type PolicyQuery,
  policySchema,
} from './policy/index.ts';
// Redaction: values for logs, with secrets replaced by name and by shape.
export { createRedactor, type Redactor, type RedactorOptions } from './redact.ts';
// Sandbox: programs with kernel isolation.
export {
  createSandbox,
  type ExitReport,
  type ProbeReport,
  type ProgramRule,
  probeSandbox,
  type RunRequest,
  type RunResult,
  type Sandbox,
  SandboxError,
  type SandboxErrorCode,
  type SandboxLevel,
  type SandboxLimits,
  type SandboxPolicy,
  type SandboxProcess,
  type SpawnRequest,
  type StopReason,
} from './sandbox/index.ts';
