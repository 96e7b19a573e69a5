// When to send a request again, as HTTP says it.

/** The value of a `Retry-After` header, in milliseconds: seconds or a date. Undefined if there is none that can be read. */
export function retryAfterMs(header: string | null | undefined): number | undefined {
  const value = header?.trim() ?? '';
  // More digits are longer than any wait, and would be infinite at some point.
  if (/^\d+$/.test(value)) return Number(value.slice(0, 12)) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(at - Date.now(), 0);
}
