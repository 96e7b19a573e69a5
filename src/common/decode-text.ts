// The text of files that people write. Programs of Windows begin them with a byte order mark, or write UTF-16.

/** The text of a file in UTF-8, without a byte order mark. Throws if it is in UTF-16. */
export function decodeText(bytes: Uint8Array): string {
  if (isUtf16(bytes)) throw new Error('it is in UTF-16; save it as UTF-8');
  return new TextDecoder().decode(bytes);
}

/** By its byte order mark, or by the zero in its first character. */
export function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0;
}
