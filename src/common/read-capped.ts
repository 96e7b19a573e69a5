// Reading the body of a response that must not be long.

/** The whole body; undefined if it is longer than `maxBytes`. */
export async function readCapped(response: Response, maxBytes: number): Promise<Buffer<ArrayBuffer> | undefined> {
  if (response.body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined; // Leaving the loop cancels the stream.
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
