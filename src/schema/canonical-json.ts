// JSON text that is the same for equal values: keys sorted, no white space. For digests and for comparing; a plain
// loop with its own stack, so that no value, however deep, can overflow ours.
import { limits } from './limits.ts';

/** An open object (`keys` sorted) or array (`keys` undefined) and how far it is written. */
interface Frame {
  readonly container: object;
  readonly keys: readonly string[] | undefined;
  readonly size: number;
  at: number;
}

/** The value as JSON with sorted keys; `undefined` properties are left out, as `JSON.stringify` does. */
export function canonicalJson(value: unknown): string {
  const stack: Frame[] = [];
  let text = '';
  let current: unknown = value;
  for (;;) {
    const frame = open(current);
    if (frame === undefined) text += JSON.stringify(current) ?? 'null';
    else if (stack.push(frame) > limits.maxCanonicalDepth)
      throw new RangeError('The value is circular or nested too deeply');
    else text += frame.keys === undefined ? '[' : '{';
    // Close what is complete, then continue with the next entry.
    for (;;) {
      const top = stack[stack.length - 1];
      if (top === undefined) return text;
      if (top.at < top.size) {
        if (top.at > 0) text += ',';
        const key = top.keys?.[top.at];
        if (key !== undefined) text += `${JSON.stringify(key)}:`;
        current = (top.container as Record<string | number, unknown>)[key ?? top.at];
        top.at++;
        break;
      }
      text += top.keys === undefined ? ']' : '}';
      stack.pop();
    }
  }
}

function open(value: unknown): Frame | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return { container: value, keys: undefined, size: value.length, at: 0 };
  const keys = Object.keys(value)
    .filter((key) => isWritable((value as Record<string, unknown>)[key]))
    .sort();
  return { container: value, keys, size: keys.length, at: 0 };
}

const isWritable = (value: unknown): boolean =>
  value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
