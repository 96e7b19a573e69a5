// When to send a request again, as HTTP says it.

/** The value of a `Retry-After` header: seconds or a date. Undefined if there is none that can be read. */
export function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value.slice(0, 12)) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(at - Date.now(), 0);
}
