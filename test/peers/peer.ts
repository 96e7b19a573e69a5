// What the scenarios ask of a client, whatever its line and revision; old-line.ts and new-line.ts fit the official clients to it.
// Also the tap that records what really came over the wire, since a client may hide a doubled or a late message.
import type { Message } from '../conformance/wire.ts';

export type Revision = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28';

/** A content block, read loosely: the scenarios compare the fields they care about. */
export interface Content {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly resource?: ResourceContent;
}

export interface ResourceContent {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

export interface ToolResult {
  readonly content: readonly Content[];
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
}

export interface CallOptions {
  readonly onProgress?: (progress: { progress: number; total?: number }) => void;
  readonly signal?: AbortSignal;
  /** Session level on the handshake revisions, per request on the stateless one. */
  readonly logLevel?: 'debug' | 'info' | 'error';
}

export interface Peer {
  /** What was negotiated. */
  readonly revision: string;
  /** Every message of the server, in order of arrival. */
  readonly received: readonly Message[];
  /** The questions the server has put to the client, in order. */
  readonly asked: readonly Asked[];
  serverName(): string | undefined;
  listTools(): Promise<readonly { name: string; description?: string; inputSchema: object; outputSchema?: object }[]>;
  callTool(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  listResources(): Promise<readonly { uri: string; name: string }[]>;
  listResourceTemplates(): Promise<readonly { uriTemplate: string; name: string }[]>;
  readResource(uri: string): Promise<readonly ResourceContent[]>;
  listPrompts(): Promise<readonly { name: string; description?: string }[]>;
  getPrompt(name: string, args?: Record<string, string>): Promise<readonly { role: string; content: Content }[]>;
  completePrompt(prompt: string, argument: string, value: string): Promise<readonly string[]>;
  /** Asks for changes of lists and of these resources; the result ends it. */
  watch(uris: readonly string[]): Promise<() => Promise<void>>;
  /** Undefined where the revision has no ping. */
  ping?(): Promise<unknown>;
  close(): Promise<void>;
}

export interface Asked {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: Record<string, unknown>;
}

/** The client's side of every question, the same for both lines. */
export const answers = {
  elicitation: (params: Record<string, unknown>) => ({ action: 'accept' as const, content: fill(params) }),
  sampling: () => ({
    role: 'assistant' as const,
    model: 'a-model',
    stopReason: 'endTurn',
    content: { type: 'text' as const, text: 'Paris' },
  }),
  roots: () => ({ roots: [{ uri: 'file:///home/ada', name: 'home of ada' }] }),
};

/** Answers a form by the names of its fields. */
function fill(params: Record<string, unknown>): Record<string, string | number | boolean> {
  const known: Record<string, string | boolean> = { name: 'Ada', username: 'ada', email: 'ada@example.com', ok: true };
  const schema = params.requestedSchema as { properties?: Record<string, unknown> } | undefined;
  const fields = Object.keys(schema?.properties ?? {});
  return Object.fromEntries(fields.map((field) => [field, known[field] ?? 'blue']));
}

/** Collects every page of a list. */
export async function everyPage<Page extends { nextCursor?: string }, Item>(
  fetchPage: (params: { cursor?: string }) => Promise<Page>,
  items: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const all: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await fetchPage(cursor === undefined ? {} : { cursor });
    all.push(...items(page));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

type Handler = ((message: never, extra?: never) => void) | undefined;

/** Records what a transport delivers, before the client sees it. */
export function tap(transport: { onmessage?: unknown }): Message[] {
  const received: Message[] = [];
  let handler: Handler;
  const recording = (message: unknown, extra?: unknown) => {
    received.push(message as Message);
    handler?.(message as never, extra as never);
  };
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => (handler ? recording : undefined),
    set: (value: Handler) => {
      handler = value;
    },
  });
  return received;
}

/** Waits until a condition holds; the test's own time limit ends a wait in vain. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((next) => setTimeout(next, 5));
}
