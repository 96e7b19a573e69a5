// A request of a client of `mooring dev`, as it is printed.

/** A request of the client that has ended. */
export interface RelayedCall {
  readonly method: string;
  /** The tool, prompt or resource it names. */
  readonly name: string | undefined;
  readonly durationMs: number;
  /** Why it failed: the message of an error, or the text of a tool result with `isError`. */
  readonly error: string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: messages of either side are relayed as they are, not validated
export type UncheckedMessage = any;

export function callOf(
  { method, params }: { readonly method?: unknown; readonly params?: UncheckedMessage },
  durationMs: number,
  error: string | undefined,
): RelayedCall {
  const name = params?.name ?? params?.uri;
  return { method: String(method), name: typeof name === 'string' ? name : undefined, durationMs, error };
}

/** Why the request of a response failed; undefined if it succeeded. */
export function errorOf({ error, result }: UncheckedMessage): string | undefined {
  return error?.message ?? toolError(result);
}

/** The text of a tool result that is an error. */
function toolError(result: UncheckedMessage): string | undefined {
  if (result?.isError !== true) return undefined;
  const text = Array.isArray(result.content)
    ? result.content.find((each: UncheckedMessage) => each?.type === 'text')?.text
    : '';
  return typeof text === 'string' && text !== '' ? text : 'the tool reported an error';
}
