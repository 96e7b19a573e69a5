// `fetch` that goes through the proxy of the environment: that of Node.js does so only from version 24 on, and only if it is configured to.

import { findProxy } from '../../transports/proxy/environment.ts';
import { createWire, type HttpReply, type HttpWire, type OutgoingHttpRequest } from './http-wire.ts';

/** Sends a request, directly or through a proxy. Redirects are not followed through a proxy. */
export async function fetchThroughProxy(url: string, init: RequestInit): Promise<Response> {
  const target = new URL(url);
  if (findProxy(target) === undefined) return fetch(url, init);
  const request = new Request(url, init);
  const body = request.body === null ? undefined : await request.text();
  const { signal } = request;
  signal.throwIfAborted();
  const wire = await createWire(target, undefined);
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      wire.close();
      reject(error);
    };
    const abort = wire.send(
      {
        method: request.method as OutgoingHttpRequest['method'],
        url: target,
        headers: [...request.headers].flat(),
        body,
      },
      { reply: (reply) => resolve(toResponse(reply, wire)), error: fail },
    );
    const stop = (): void => {
      abort();
      fail(signal.reason);
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Statuses of responses without a body. */
const bodiless = [204, 205, 304];

function toResponse(reply: HttpReply, wire: HttpWire): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      reply.read({
        chunk: (bytes) => controller.enqueue(bytes),
        end(error) {
          wire.close();
          if (error === undefined) controller.close();
          else controller.error(error);
        },
      });
    },
    cancel: () => wire.close(),
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(reply.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each);
  }
  return new Response(bodiless.includes(reply.status) ? null : body, { status: reply.status, headers });
}
