// A proxy that breaks event streams in the middle, as a bad network would, so that a client has to resume.
import type { ServerResponse } from 'node:http';
import type { Bridge } from '../conformance/bridge.ts';
import { startProxy } from '../conformance/proxy.ts';

export interface CuttingProxy extends Bridge {
  /** How many streams have been broken so far. */
  readonly cuts: number;
  /** The `Last-Event-ID` of every request that carried one. */
  readonly resumed: readonly string[];
  /** Breaks the next event stream that answers a POST, after it has delivered this many events. */
  cutPostAfter(events: number): void;
  /** Breaks every standing GET stream at once. */
  cutStanding(): void;
}

/** Starts a proxy in front of `target` that cuts nothing until told to. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const standing = new Set<ServerResponse>();
  const resumed: string[] = [];
  let cuts = 0;
  let armed: number | undefined;

  const proxy = await startProxy(target, {
    edit: (request) => {
      const lastEventId = request.headers['last-event-id'];
      if (typeof lastEventId === 'string') resumed.push(lastEventId);
      return request;
    },
    relay: (answer, response, request) => {
      const streaming = answer.headers['content-type']?.includes('text/event-stream');
      if (request.method === 'GET' && streaming) {
        standing.add(response);
        response.once('close', () => standing.delete(response));
      }
      if (request.method !== 'POST' || !streaming || armed === undefined) {
        answer.pipe(response);
        return;
      }
      let left = armed;
      armed = undefined;
      answer.on('data', (chunk: Buffer) => {
        if (left === 0) return;
        const events = chunk.toString('latin1').split(/(?<=\n\n)/);
        const whole = events.slice(0, left);
        left -= whole.filter((event) => event.endsWith('\n\n')).length;
        const kept = Buffer.from(whole.join(''), 'latin1');
        if (left > 0) response.write(kept);
        else {
          cuts++;
          response.write(kept, () => response.destroy());
        }
      });
      answer.once('end', () => response.end());
    },
  });

  return {
    url: proxy.url,
    close: () => proxy.close(),
    get cuts() {
      return cuts;
    },
    resumed,
    cutPostAfter: (events) => {
      armed = events;
    },
    cutStanding: () => {
      cuts += standing.size;
      for (const response of standing) response.destroy();
    },
  };
}
