// The entry point "mooring/web": what runs anywhere. Its types need neither @types/node nor the DOM. "mooring" has all of it,
// and what needs Node.js.

export type { Logger } from './common/logger.ts';
export { UserError } from './common/user-error.ts';
export type { ChangeAudience } from './engine/changes/audience.ts';
export type { ChangeSource, Refresh } from './engine/changes/shared-changes.ts';
export { audio, type ContentOptions, image, json, resourceLink, text } from './engine/content.ts';
export type { AttachmentOptions, Context, InputRequestOptions, SessionView } from './engine/context.ts';
export type {
  AppDefinition,
  Completer,
  PromptDefinition,
  PromptReturn,
  ReadReturn,
  Registration,
  ResourceDefinition,
  ResourceTemplateDefinition,
  SkillDefinition,
  StructuredToolDefinition,
  ToolDefinition,
  ToolReturn,
  ToolUi,
} from './engine/definitions.ts';
export {
  elicit,
  elicitUrl,
  type InputRequest,
  roots,
  sample,
  type TypedElicitResult,
} from './engine/input-requests/input-request.ts';
export { InputRequestError, type InputRequestErrorCode } from './engine/input-requests/input-request-error.ts';
export { type InputRequired, inputRequired } from './engine/input-requests/input-required.ts';
export { defaultLimits, type Limits } from './engine/limits.ts';
export type {
  Bus,
  BusListener,
  ExpiringStore,
  Middleware,
  Observer,
  Pack,
  PastMessages,
  RequestEnd,
  RequestInfo,
  Sealer,
  SentRequest,
  SessionInfo,
  SharedEventLog,
  TaskEvent,
} from './engine/ports.ts';
export { createServer, Server } from './engine/server.ts';
export type { ServerOptions } from './engine/server-options.ts';
export type { ExternalWork } from './engine/tasks/runs/external-work.ts';
export { createMemoryTaskStore, type MemoryTaskStoreOptions } from './engine/tasks/store/memory-store.ts';
export type * from './engine/tasks/store/task-store.ts';
export type { TaskApi, TaskFilter } from './engine/tasks/task-api.ts';
export type {
  ExternalState,
  FacadeOptions,
  TaskLimits,
  TaskOptions,
  TaskStart,
  TaskSupport,
  TasksOptions,
} from './engine/tasks/task-options.ts';
export type { Ability } from './protocol/abilities.ts';
export type { AppCsp, AppPermissions, ToolAudience } from './protocol/apps.ts';
export { WireError, wireErrors } from './protocol/errors.ts';
export type { Channel, Host, Outlet, Peer, Principal } from './protocol/exchange.ts';
export type * from './protocol/model.ts';
export type { SealKey } from './protocol/ports.ts';
export type { Rules } from './protocol/rules.ts';
export type { Skill, SkillFile, SkillFrontmatter } from './protocol/skills.ts';
export { SchemaError, type SchemaInput } from './schema/index.ts';
export { type FetchHandler, type FetchInfo, toFetch } from './transports/fetch.ts';
export type { HttpExchange, HttpRequest } from './transports/http/exchange.ts';
export type { HttpLimits } from './transports/http/limits.ts';
export type {
  Authenticate,
  CompatOptions,
  Denied,
  EndpointOptions,
  ExtraRoute,
  MountedRoute,
  OptionNames,
  RouteResponse,
} from './transports/http/options.ts';
export { connectInMemory } from './transports/in-memory.ts';
