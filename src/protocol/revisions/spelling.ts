// What each revision can spell: one row of data per date. Codecs read rows; nobody else reads dates.
// A field missing from a list does not exist on that revision and is left out.

export interface Spelling {
  readonly date: string;
  /** Fields of items and of who is speaking. */
  readonly implementation: readonly string[];
  readonly tool: readonly string[];
  readonly toolAnnotations: readonly string[];
  readonly resource: readonly string[];
  readonly template: readonly string[];
  readonly prompt: readonly string[];
  readonly promptArgument: readonly string[];
  readonly annotations: readonly string[];
  /** `_meta` exists on content blocks and resource contents. */
  readonly contentMeta: boolean;
  readonly audio: boolean;
  readonly resourceLink: boolean;
  /** What `structuredContent` may be; `outputSchema` has the same root. */
  readonly structured: 'none' | 'object' | 'any';
  /** A schema may name its dialect by `$schema`. */
  readonly schemaDialect: boolean;
  /** Capability keys a server may declare besides `experimental` and `extensions`. */
  readonly serverCapabilities: readonly string[];
  readonly progressMessage: boolean;
  readonly elicitation: 'none' | 'form' | 'full';
  /** URL elicitation carries an id the server made up. */
  readonly elicitationId: boolean;
  readonly samplingTools: boolean;
  readonly samplingAudio: boolean;
  /** Arrays of messages are part of the revision. */
  readonly batches: boolean;
  /** A server may close an event stream early, to be polled (2025-11-25, Transports, "Sending Messages to the Server"). */
  readonly polling: boolean;
  /** Where arguments that fail the schema are reported. */
  readonly invalidArguments: 'error' | 'result';
  /** An error whose id was unreadable: `null`, or no id at all. */
  readonly unreadableId: 'null' | 'omit';
  readonly requests: readonly string[];
}

const handshakeRequests = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
] as const;

const first: Spelling = {
  date: '2024-11-05',
  implementation: ['name', 'version'],
  tool: ['name', 'description', 'inputSchema'],
  toolAnnotations: [],
  resource: ['uri', 'name', 'description', 'mimeType', 'size', 'annotations'],
  template: ['uriTemplate', 'name', 'description', 'mimeType', 'annotations'],
  prompt: ['name', 'description', 'arguments'],
  promptArgument: ['name', 'description', 'required'],
  annotations: ['audience', 'priority'],
  contentMeta: false,
  audio: false,
  resourceLink: false,
  structured: 'none',
  schemaDialect: false,
  serverCapabilities: ['logging', 'prompts', 'resources', 'tools'],
  progressMessage: false,
  elicitation: 'none',
  elicitationId: false,
  samplingTools: false,
  samplingAudio: false,
  batches: true,
  polling: false,
  invalidArguments: 'error',
  unreadableId: 'null',
  requests: handshakeRequests,
};

const second: Spelling = {
  ...first,
  date: '2025-03-26',
  tool: ['name', 'description', 'inputSchema', 'annotations'],
  toolAnnotations: ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'],
  audio: true,
  samplingAudio: true,
  serverCapabilities: [...first.serverCapabilities, 'completions'],
  progressMessage: true,
};

const third: Spelling = {
  ...second,
  date: '2025-06-18',
  implementation: ['name', 'title', 'version'],
  tool: ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', '_meta'],
  resource: ['uri', 'name', 'title', 'description', 'mimeType', 'size', 'annotations', '_meta'],
  template: ['uriTemplate', 'name', 'title', 'description', 'mimeType', 'annotations', '_meta'],
  prompt: ['name', 'title', 'description', 'arguments', '_meta'],
  promptArgument: ['name', 'title', 'description', 'required'],
  annotations: ['audience', 'priority', 'lastModified'],
  contentMeta: true,
  resourceLink: true,
  structured: 'object',
  elicitation: 'form',
  batches: false,
};

const fourth: Spelling = {
  ...third,
  date: '2025-11-25',
  implementation: ['name', 'title', 'version', 'description', 'websiteUrl', 'icons'],
  tool: ['name', 'title', 'description', 'icons', 'inputSchema', 'outputSchema', 'annotations', '_meta'],
  resource: ['uri', 'name', 'title', 'description', 'icons', 'mimeType', 'size', 'annotations', '_meta'],
  template: ['uriTemplate', 'name', 'title', 'description', 'icons', 'mimeType', 'annotations', '_meta'],
  prompt: ['name', 'title', 'description', 'icons', 'arguments', '_meta'],
  schemaDialect: true,
  elicitation: 'full',
  elicitationId: true,
  samplingTools: true,
  polling: true,
  invalidArguments: 'result',
  unreadableId: 'omit',
};

const fifth: Spelling = {
  ...fourth,
  date: '2026-07-28',
  structured: 'any',
  elicitationId: false,
  polling: false,
  requests: [
    'server/discover',
    'tools/list',
    'tools/call',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'subscriptions/listen',
    'prompts/list',
    'prompts/get',
    'completion/complete',
  ],
};

/** Revisions opened by `initialize`, oldest first. */
export const handshakeSpellings: readonly Spelling[] = [first, second, third, fourth];

/** Revisions in which every request stands alone, oldest first. */
export const statelessSpellings: readonly Spelling[] = [fifth];

/** Assumed by HTTP when neither session nor header names a revision (2025-06-18, Transports, "Protocol Version Header"). */
export const assumedDate = second.date;

/** True for a date at or after the first stateless revision; used only where a message makes no claim itself. */
export function isStatelessDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && text >= fifth.date;
}
