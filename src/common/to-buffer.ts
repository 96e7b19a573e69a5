// Bytes of any kind as a Buffer, which decodes them faster than they do.

/** The same memory, not a copy. */
export const toBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
