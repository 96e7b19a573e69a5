// The JSON that the console's page and its server exchange, under `<path>/api/`. Types only: the page imports this file and
// nothing else outside its folder.
//
//   POST exchange                  { code } → { token }: the code of a link that was opened by a program, once; no token needed
//   POST codes                     → { code }: for a link that works once
//   GET  state                     ConsoleState
//   GET  feed?after=N              event stream of FeedBatch, from entry N on
//   GET  entries/N                 FeedEntry with its whole text
//   GET  lists?revision=R          Lists, as a client of that revision gets them
//   POST calls                     CallRequest → CallStarted; what happens next is in the feed, as CallUpdate
//   POST calls/ID/input            InputAnswer → {}
//   POST calls/ID/cancel           → {}
//   POST compare                   CallRequest → CallComparison
//   POST subscriptions             SubscribeRequest → SubscriptionRow; changes are in the feed
//   POST subscriptions/end         { uri } → {}
//   POST validate                  ValidateRequest → Validated
//   POST complete                  CompleteRequest → { values }
//   GET  tasks                     { tasks: TaskRow[] }
//   GET  upstreams                 { upstreams: UpstreamRow[] }
//   GET  sessions                  { sessions: SessionRow[] }
//   GET  series?resolution=1|10    Series: the last 15 minutes by the second, or 6 hours by ten seconds
//   GET  audit?text=&from=&to=&cursor=  AuditPage, newest first; `text` is in any field of a line
//   GET  about                     About
//   GET  auth                      { steps: AuthStep[] }
//   POST apps                      AppOpenRequest → AppView: the page of an MCP App and where its sandbox is
//   POST apps/ID/calls             AppCallRequest → CallStarted: what the app calls
//   POST apps/ID/messages          { messages: AppMessage[] } → {}: messages between app and console, for the timeline
//   POST apps/ID/close             → {}
//   POST operate/VERB              OperateRequest → {}; VERB is cancel-task, end-session, restart-upstream or accept-tool
//   GET  export                    NDJSON, one message per line
//   POST import                    NDJSON → { entries }
//
// Errors are { error: { code, message } } with a matching HTTP status.

import type { FeedEntry, PeerInfo } from './feed-entry.ts';

export type { FeedEntry, PeerInfo } from './feed-entry.ts';
export type { UpstreamRow } from './upstream-row.ts';

/** What the page shows before anything else is loaded. */
export interface ConsoleState {
  /** The server that is shown. */
  readonly server: { readonly name: string; readonly version: string; readonly title?: string };
  /** `embedded`: the process that serves. `inspect`: a client of another server. `recording`: an opened file. */
  readonly mode: 'embedded' | 'inspect' | 'relay' | 'recording';
  /** What this user may do: look, call tools, or also end sessions and restart servers. */
  readonly rights: readonly ('view' | 'try' | 'operate')[];
  /** The protocol revisions that calls can use. */
  readonly revisions: readonly string[];
  /** When the console was started: ISO 8601. */
  readonly startedAt: string;
  /** The version of this package. */
  readonly mooring: string;
  /** Values are not redacted: shown as a permanent warning. */
  readonly raw: boolean;
  /** The connection to the inspected server; undefined for `embedded`. */
  readonly connection?: ConnectionState;
  /** The screens that are offered, in their order. */
  readonly screens: readonly ScreenName[];
  /** The origin of the sandbox for MCP Apps; undefined: apps are not shown. */
  readonly sandboxOrigin?: string;
  /** All servers of `inspect` with several, this one included. */
  readonly siblings?: readonly SiblingServer[];
  /** How a client connects to this server. */
  readonly snippets: readonly { readonly title: string; readonly text: string }[];
}

/** Another server that the same program inspects. */
export interface SiblingServer {
  /** The name of its entry. */
  readonly name: string;
  /** Where its console is, without a slash at the end. */
  readonly path: string;
  /** Of the connection to it. */
  readonly status: ConnectionState['status'];
}

/** A screen of the page. */
export type ScreenName =
  | 'overview'
  | 'timeline'
  | 'tools'
  | 'resources'
  | 'prompts'
  | 'skills'
  | 'tasks'
  | 'sessions'
  | 'metrics'
  | 'audit'
  | 'auth'
  | 'upstreams'
  | 'about';

/** The connection to an inspected server. */
export interface ConnectionState {
  /** `lost`: it was connected before. */
  readonly status: 'connecting' | 'connected' | 'lost' | 'failed';
  /** What it connects to, as messages call it. */
  readonly target: string;
  /** The protocol revision, once it is connected. */
  readonly revision?: string;
  /** Why it is lost or failed, and what to do. */
  readonly reason?: string;
}

export interface FeedBatch {
  readonly entries: readonly FeedEntry[];
  /** New or changed peers. */
  readonly peers: readonly PeerInfo[];
  /** Entries that this reader will not get, because it was too slow or because they had left the buffer. */
  readonly dropped: number;
  readonly calls: readonly CallUpdate[];
  /** All resources that are followed, when one of them has changed or the reader is new. */
  readonly subscriptions?: readonly SubscriptionRow[];
  readonly connection?: ConnectionState;
  /** Counters of the last second, for the overview. */
  readonly now?: Rates;
}

export interface Rates {
  readonly callsPerSecond: number;
  readonly errorsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly peers: number;
  readonly streams: number;
}

export type JsonObject = { readonly [key: string]: unknown };

/** The lists as one revision encodes them. */
export interface Lists {
  readonly revision: string;
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  /** Absent if the server has none. */
  readonly skills?: readonly JsonObject[];
  readonly instructions?: string;
  /** Problems while listing, for example a list that the server does not have. */
  readonly notes: readonly string[];
}

export interface CallRequest {
  readonly method: 'tools/call' | 'resources/read' | 'prompts/get';
  readonly params: JsonObject;
  readonly revision?: string;
  /** JSON text of the arguments, so that large integers survive; replaces `params.arguments`. */
  readonly argumentsText?: string;
}

export interface CallStarted {
  readonly call: string;
}

/**
 * What happens to a call of the console. An update replaces the one before it, so it has everything that is known about the
 * call, all its log messages included. A new reader of the feed first gets the last update of each call.
 */
export interface CallUpdate {
  readonly call: string;
  readonly status: 'running' | 'input-required' | 'done' | 'failed' | 'cancelled';
  readonly progress?: { readonly progress: number; readonly total?: number; readonly message?: string };
  readonly logs?: readonly { readonly level: string; readonly data: unknown }[];
  readonly inputs?: readonly PendingInput[];
  /** The result as received, as JSON text. */
  readonly resultText?: string;
  /** Whether structured content matches the output schema, where there is one. */
  readonly outputIssues?: readonly string[];
  readonly error?: { readonly code?: number; readonly message: string; readonly data?: unknown };
  readonly durationMs?: number;
  readonly taskId?: string;
  readonly entries?: readonly number[];
}

/** An input request of a call of the console. */
export interface PendingInput {
  readonly key: string;
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: JsonObject;
}

export interface InputAnswer {
  readonly key: string;
  /** The result of the method: an ElicitResult, a CreateMessageResult, a ListRootsResult. */
  readonly result?: JsonObject;
  /** Rejects the request. */
  readonly declined?: true;
}

/** The same call on every revision of the server. */
export interface CallComparison {
  readonly results: readonly {
    readonly revision: string;
    readonly resultText?: string;
    readonly error?: string;
    readonly durationMs: number;
  }[];
}

/** Arguments of a tool, or a value of the schema of an input request. */
export interface ValidateRequest {
  readonly tool?: string;
  /** Replaces the input schema of `tool`. */
  readonly schema?: JsonObject;
  readonly argumentsText: string;
}

export interface Validated {
  /** `path` is a JSON Pointer; of a missing property it is the path of that property. */
  readonly issues: readonly { readonly path: string; readonly message: string }[];
}

export interface CompleteRequest {
  readonly ref: JsonObject;
  readonly argument: { readonly name: string; readonly value: string };
  /** The other values that were entered. */
  readonly context?: { readonly [name: string]: string };
  readonly revision?: string;
}

export interface SubscribeRequest {
  readonly uri: string;
  readonly revision?: string;
}

/** A resource that the console follows. */
export interface SubscriptionRow {
  readonly uri: string;
  readonly since: string;
  readonly changes: number;
  readonly changedAt?: string;
  /** Why it is not followed any more. */
  readonly problem?: string;
}

export interface TaskRow {
  readonly id: string;
  readonly tool: string;
  readonly status: string;
  readonly message?: string;
  readonly owner?: string;
  readonly attempt: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly ttlMs: number | null;
  readonly steps: readonly string[];
  readonly inputs: readonly { readonly key: string; readonly method: string; readonly open: boolean }[];
  readonly outcomeText?: string;
}

export interface SessionRow {
  readonly key: string;
  readonly peer?: number;
  readonly transport: string;
  readonly revision?: string;
  readonly client?: string;
  readonly principal?: string;
  readonly capabilities: readonly string[];
  readonly level?: string;
  readonly subscriptions: number;
  /** Event streams and sockets that are open. */
  readonly streams: number;
  /** Whether it can be ended here: the number of the peer is its `id` for `operate/end-session`. */
  readonly canEnd: boolean;
  readonly lastSeen: string;
}

/** Columns of equal length: `at` in seconds since 1970, then one column per series. */
export interface Series {
  readonly resolutionSeconds: 1 | 10;
  readonly at: readonly number[];
  readonly columns: readonly {
    readonly name: string;
    readonly unit: string;
    readonly values: readonly (number | null)[];
  }[];
}

/** A page of the audit log. */
export interface AuditPage {
  /** Whether the server has an audit log. */
  readonly enabled: boolean;
  /** The lines, newest first. */
  readonly lines: readonly JsonObject[];
  /** Whether the chain of hashes holds, as `mooring audit verify` finds it. */
  readonly verification?: string;
  /** Where the next page starts; absent: this is the last. */
  readonly next?: string;
}

/** How the server is configured, and how it describes itself. */
export interface About {
  /** The settings of the program, without secrets, and where each value comes from. */
  readonly settings: readonly { readonly name: string; readonly value: string; readonly from: string }[];
  /** How the server describes itself on each revision, as JSON text. */
  readonly descriptions: readonly { readonly revision: string; readonly text: string }[];
}

export interface AuthStep {
  readonly at: string;
  readonly step: string;
  readonly request?: string;
  readonly response?: string;
  readonly problem?: string;
}

export interface OperateRequest {
  readonly id: string;
  readonly value?: unknown;
}

export interface AppOpenRequest {
  readonly uri: string;
  readonly revision?: string;
}

/** An app that is about to be shown in a frame. */
export interface AppView {
  readonly view: string;
  readonly html: string;
  /** The page of the sandbox for this view, with the policy of the app. */
  readonly url: string;
  readonly csp?: JsonObject;
  readonly permissions?: JsonObject;
  readonly prefersBorder?: boolean;
  /** Values that the app lists as origins but that are not origins. */
  readonly ignored: readonly string[];
}

export interface AppCallRequest {
  readonly method: 'tools/call' | 'resources/read';
  readonly params: JsonObject;
}

export interface AppMessage {
  /** `in`: from the app. */
  readonly direction: 'in' | 'out';
  readonly message: unknown;
}
