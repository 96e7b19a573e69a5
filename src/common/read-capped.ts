// Reading the body of a response that must not be long.

import { JoinedBytes } from './joined-bytes.ts';

/** The whole body; undefined if it is longer than `maxBytes`. */
export async function readCapped(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const body = new JoinedBytes();
  if (response.body === null) return new Uint8Array(0);
  for await (const chunk of response.body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) {
    body.add(chunk);
    if (body.length > maxBytes) return undefined; // Leaving the loop cancels the stream.
  }
  return body.join() as Uint8Array<ArrayBuffer>;
}
