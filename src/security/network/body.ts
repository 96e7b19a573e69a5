// The body of a response: counted on the wire, decompressed, and counted again, so that neither an endless body nor a
// small one that decompresses to gigabytes exceeds the limit.

import type { IncomingMessage } from 'node:http';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { networkErrors } from './errors.ts';

/** The encodings that we can decompress, and therefore accept. */
export const acceptedEncodings = 'gzip, deflate, br';

/** Yields the decompressed bytes of a response, at most `maxBytes` of them. */
export async function* readBody(response: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  const encoding = encodingOf(response);
  const announced = Number(response.headers['content-length']);
  // A response without a body (to HEAD, or 304) announces the length it would have had.
  if (announced > maxBytes && !response.complete) throw networkErrors.tooLarge('body', maxBytes);
  const wire = counted(response, maxBytes);
  yield* encoding === undefined ? wire : counted(unpack(wire, encoding), maxBytes);
}

/** The content encoding. Several encodings are a way to nest bombs, and no server needs them. */
function encodingOf(response: IncomingMessage): string | undefined {
  const value = response.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (value === '' || value === 'identity') return undefined;
  if (Object.hasOwn(unpackers, value)) return value;
  throw networkErrors.badResponse(`content-encoding ${value}`);
}

const unpackers: Readonly<Record<string, (first: Buffer) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  // "deflate" means zlib, but some servers send the raw stream; the first byte shows which.
  deflate: (first) => (((first[0] ?? 0x78) & 0x0f) === 8 ? createInflate() : createInflateRaw()),
};

async function* counted(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  let total = 0;
  for await (const chunk of source) {
    total += chunk.length;
    if (total > maxBytes) throw networkErrors.tooLarge('body', maxBytes);
    yield chunk;
  }
}

async function* unpack(
  wire: AsyncGenerator<Buffer, void, undefined>,
  encoding: string,
): AsyncGenerator<Buffer, void, undefined> {
  const first = await wire.next();
  if (first.done) return;
  const unpacker = (unpackers[encoding] as (first: Buffer) => Transform)(first.value);
  const rest = async function* () {
    yield first.value;
    yield* wire;
  };
  // Errors of both streams appear in the loop below, because the pipeline destroys the decompressor with them.
  pipeline(rest, unpacker, () => {});
  yield* unpacker as AsyncIterable<Buffer>;
}
