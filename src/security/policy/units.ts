// Durations and sizes as text.

const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const bytes: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** `30s` in milliseconds. */
export function parseDuration(text: string): number {
  const found = /^(\d{1,9})(ms|s|m|h)$/.exec(text);
  if (found === null) throw new RangeError(`Not a duration: ${JSON.stringify(text)}; write 500ms, 30s, 5m or 2h`);
  return Number(found[1]) * (milliseconds[found[2] as string] as number);
}

/** `64KiB` in bytes. */
export function parseSize(text: string | number): number {
  if (typeof text === 'number') return text;
  const found = /^(\d{1,15})(KiB|MiB|GiB)?$/.exec(text);
  if (found === null) throw new RangeError(`Not a size: ${JSON.stringify(text)}; write 800, 64KiB or 1MiB`);
  return Number(found[1]) * (bytes[found[2] ?? ''] as number);
}
