// Parses D-Bus type signatures. https://dbus.freedesktop.org/doc/dbus-specification.html, "Type System".

/** One complete type: its letter, and the types inside a container. Dictionary entries are `{`, structures `(`. */
export interface Type {
  readonly code: string;
  readonly inside: readonly Type[];
}

const basic = 'ybnqiuxtdsogh';

/** Nested containers; the specification allows 32 of each kind. */
const maxDepth = 32;

/** The complete types of a signature. Throws a RangeError when it is invalid. */
export function parseSignature(signature: string): readonly Type[] {
  if (signature.length > 255) throw new RangeError('A signature has at most 255 characters');
  const types: Type[] = [];
  let at = 0;
  const read = (depth: number): Type => {
    const code = signature[at++];
    if (depth > maxDepth) throw new RangeError(`Signature ${signature} is nested too deeply`);
    if (code !== undefined && (basic.includes(code) || code === 'v')) return { code, inside: [] };
    if (code === 'a') return { code, inside: [read(depth + 1)] };
    if (code !== '(' && code !== '{') throw new RangeError(`Signature ${signature} ends early or is malformed`);
    const inside: Type[] = [];
    const close = code === '(' ? ')' : '}';
    while (signature[at] !== close) inside.push(read(depth + 1));
    at++;
    const isEntry = code === '{';
    if (inside.length === 0 || (isEntry && inside.length !== 2))
      throw new RangeError(`Signature ${signature} is malformed`);
    return { code, inside };
  };
  while (at < signature.length) types.push(read(0));
  return types;
}

/** The alignment of values of a type. */
export function alignmentOf({ code }: Type): number {
  return alignments[code] as number;
}

const alignments: Readonly<Record<string, number>> = {
  ...{ y: 1, g: 1, v: 1, n: 2, q: 2, i: 4, u: 4, b: 4, s: 4, o: 4, a: 4, h: 4 },
  ...{ x: 8, t: 8, d: 8, '(': 8, '{': 8 },
};
