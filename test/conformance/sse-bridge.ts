// A pipe over the HTTP+SSE transport of 2024-11-05, for bridge.ts: GET opens the stream, its first event names where to POST.
import { type Bridge, type OpenPipe, type PipeEvents, startBridge } from './bridge.ts';
import { readEvents } from './event-stream.ts';
import { type Message, parseMessage } from './wire.ts';

/** Starts a bridge that opens one event stream per session. */
export function startSseBridge(url: string): Promise<Bridge> {
  return startBridge(ssePipe(url));
}

/** Opens connections to the SSE endpoint at this URL. */
export function ssePipe(url: string): OpenPipe {
  return async (events) => {
    const abort = new AbortController();
    const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: abort.signal });
    if (!response.ok || !response.body) throw new Error(`GET ${url} answered ${response.status}`);
    const stream = readEvents(response.body as ReadableStream<Uint8Array>);

    const first = await stream.next();
    if (first.done || first.value.event !== 'endpoint') throw new Error('The first event must be `endpoint`');
    const endpoint = new URL(first.value.data, url);
    if (endpoint.origin !== new URL(url).origin) throw new Error(`The endpoint ${endpoint} is of another origin`);

    const gone = forward(stream, events);
    // A pipe keeps its order, concurrent POSTs would not.
    let sent = Promise.resolve();
    return {
      send: (message) => {
        sent = sent.then(() => post(endpoint, message)).catch((cause: Error) => events.closed(cause.message));
      },
      close: async () => {
        abort.abort();
        await gone;
      },
    };
  };
}

async function forward(stream: AsyncIterable<{ event: string; data: string }>, events: PipeEvents): Promise<void> {
  try {
    for await (const { event, data } of stream) {
      const message = event === 'message' ? parseMessage(data) : undefined;
      if (message) events.message(message);
    }
    events.closed('the event stream ended');
  } catch (cause) {
    events.closed(`the event stream broke: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

async function post(endpoint: URL, message: Message): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(message) });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`POST ${endpoint.pathname} answered ${response.status}`);
}
