// The entry point of "mooring/client".

export type { Skill, SkillFile, SkillFrontmatter } from '../protocol/skills.ts';
export type { TaskState, TaskStatus } from '../protocol/task.ts';
export * from './auth/index.ts';
export { ResponseCache } from './cache.ts';
export { PausableTimeout } from './calls/deadline.ts';
export { InputRequiredError } from './calls/input-required.ts';
export { Client } from './client.ts';
export { connect } from './connect.ts';
export { EraCache, type ServerEra } from './era-cache.ts';
export { ClientError, type ClientErrorCode, type ServerErrorInfo } from './errors.ts';
export type { Change } from './features/changes.ts';
export type { CompletionRequest } from './features/completion.ts';
export type { Page } from './features/lists.ts';
export type { ClientSkills, SkillFileContents, SkillListOptions } from './features/skills.ts';
export type { Subscription, WatchFilter } from './features/subscriptions.ts';
export type { ClientTasks } from './features/tasks.ts';
export {
  type FormRequest,
  type InputContext,
  InputDeclined,
  InputFailure,
  type InputHandlers,
  type UrlRequest,
} from './input-requests.ts';
export type {
  CallOptions,
  ConnectOptions,
  InputRetry,
  LogContext,
  LogMessage,
  Progress,
  ReadOptions,
  RetryOptions,
  RevisionChoice,
  StartTaskOptions,
  ToolCallOptions,
} from './options.ts';
export type { ServerEntry, Target } from './target.ts';
export type { TaskHandle, TaskInfo } from './task-handle.ts';
export type { ClientTelemetry, RequestTrace, TracedEnd, TracedRequest, TracedTransport } from './telemetry.ts';
export { inMemory } from './transports/in-memory.ts';
export { fetchThroughProxy } from './transports/proxy-fetch.ts';
export type { Outgoing, Transport, TransportListener } from './transports/transport.ts';
