// Reads a server-sent event stream event by event; the referee's own reader, so that it does not share a mistake with ours.

export interface StreamEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
  readonly retryMs?: number;
}

/** Yields every event of a response body, those without data (priming events) included; comments are dropped. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const blocks = (rest + text).replace(/\r\n?/g, '\n').split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

function parseEvent(block: string): StreamEvent | undefined {
  const fields = new Map<string, string[]>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon === 0 || line === '') continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    fields.set(name, [...(fields.get(name) ?? []), value]);
  }
  if (fields.size === 0) return undefined;
  const id = fields.get('id')?.at(-1);
  const retry = fields.get('retry')?.at(-1);
  return {
    event: fields.get('event')?.at(-1) ?? 'message',
    data: fields.get('data')?.join('\n') ?? '',
    ...(id === undefined ? {} : { id }),
    ...(retry === undefined ? {} : { retryMs: Number(retry) }),
  };
}
