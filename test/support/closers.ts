// What a test opens is closed after it, or after the tests of its file, the latest first. HTTP servers come with a client.

import { afterAll, type afterEach } from 'vitest';
import type { HttpOptions, HttpServer } from '../../src/index.ts';
import { type Server, serveHttp } from '../../src/index.ts';
import { HttpTestClient } from './http-client.ts';

export type Closers = (() => unknown)[];

/** A list of what to call after the tests of the calling file, or after each of them with `afterEach`. */
export function useClosers(after: typeof afterAll | typeof afterEach = afterAll): Closers {
  const closers: Closers = [];
  after(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  return closers;
}

/** Serves on a free port, with a client for it. */
export async function startHttp(
  closers: Closers,
  server: Server,
  options: HttpOptions = {},
): Promise<{ readonly server: Server; readonly http: HttpServer; readonly client: HttpTestClient }> {
  const http = await serveHttp(server, { port: 0, graceMs: 100, ...options });
  const client = new HttpTestClient(http.port);
  closers.push(
    () => http.close(),
    () => client.close(),
  );
  return { server, http, client };
}
