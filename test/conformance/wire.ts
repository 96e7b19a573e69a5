// The little of JSON-RPC and MCP that a go-between must understand: what kind of message it holds, and which request it belongs to.
// Deliberately independent of src/: a referee that shares its reading with the player would share its mistakes.

export type Id = string | number;

export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: Id | null;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: { readonly _meta?: Meta; readonly [key: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface Params {
  readonly _meta?: Meta;
  readonly [key: string]: unknown;
}

export type Meta = Readonly<Record<string, unknown>>;

/** The `_meta` keys of the stateless revision that a bridge has to look at. */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

export const isRequest = (message: Message): message is Message & { id: Id; method: string } =>
  typeof message.method === 'string' && message.id !== undefined && message.id !== null;

export const isResponse = (message: Message): message is Message & { id: Id } =>
  message.method === undefined && message.id !== undefined && message.id !== null;

/** A parsed text if it is one JSON-RPC message, undefined for anything else (a stray log line, an array). */
export function parseMessage(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && value.jsonrpc === '2.0' ? (value as unknown as Message) : undefined;
  } catch {
    return undefined; // A server may print what it likes; only messages are our business.
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function errorMessage(id: Id | null, code: number, message: string): Message {
  return { jsonrpc: '2.0', id, error: { code, message } };
}
