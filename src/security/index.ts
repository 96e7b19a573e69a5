// The door of the room: every guard a server can have. Inside the project, import the part you need; a start then loads
// nothing else.

export {
  type AuditEntry,
  type AuditFilter,
  type AuditHead,
  type AuditLog,
  type AuditOptions,
  type AuditRecord,
  type FieldRule,
  formatEntry,
  openAuditLog,
  queryAudit,
  type SyncPolicy,
  tailAudit,
  type Verdict as AuditVerdict,
  verifyAudit,
} from './audit/index.ts';
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
  type IssuerOptions,
  metadataUrl,
  type OAuthAuthenticator,
  type OAuthOptions,
  readTokenFile,
  requireScopes,
  type ScopeHierarchy,
  type ScopeRule,
  type TokenEntry,
  type TokenOptions,
} from './auth/index.ts';
export { type Guarded, type GuardOptions, guardServer } from './guard.ts';
export {
  type BucketStore,
  type CallLimit,
  type ConcurrencyRule,
  createMemoryBuckets,
  type LimitScope,
  limitCalls,
  limitConcurrency,
  type RateRule,
  rateLimit,
  type SheddingOptions,
  shedLoad,
} from './limits/index.ts';
export {
  type AppliedPolicy,
  applyPolicy,
  type CompiledPolicy,
  compilePolicy,
  type Explanation,
  explainCall,
  formatExplanation,
  loadPolicy,
  type Policy,
  PolicyError,
  policySchema,
} from './policy/index.ts';
export { createRedactor, type Redactor, type RedactorOptions } from './redact.ts';
