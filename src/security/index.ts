// The door "mooring/security": every guard of the ready-made profiles, for servers of your own. Inside the project,
// import the part you need; a start then loads nothing else.

// What is known afterwards: a log for `server.use`, and ways to read it.
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
// Who somebody is: hooks for `serveHttp({ authenticate })`.
export {
  type Authenticate,
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
  type Verdict,
} from './auth/index.ts';
// Files below roots and nowhere else.
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
// Texts from outside: hidden characters found and removed, sources named.
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
// How much somebody may do: middleware for `server.around`.
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
// Requests to the outside, to addresses that were checked.
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
// What somebody may do: one file, put on with `server.use(enforcePolicy(await loadPolicy(file)))`.
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
  policySchema,
  type Question,
} from './policy/index.ts';
// Values for logs: secrets replaced, by name and by shape.
export { createRedactor, type Redactor, type RedactorOptions } from './redact.ts';
// Programs behind walls of the kernel.
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
