// Small checks that both back ends share: lengths in code points, exact multiples, equality of JSON values.
import { limits } from '../limits.ts';
import { spend } from './budget.ts';

/** Whether a text has between `min` and `max` code points. Counts only when the number of units leaves it open. */
export function hasLength(text: string, min: number, max: number): boolean {
  const units = text.length;
  // A code point has one or two units.
  if (units < min || units > max * 2) return false;
  if (units <= max && units >= min * 2) return true;
  const points = countCodePoints(text);
  return points >= min && points <= max;
}

function countCodePoints(text: string): number {
  spend(text.length);
  let points = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      points--;
      at++;
    }
  }
  return points;
}

/** Whether a number is a multiple as people count: 0.3 is three times 0.1, whatever binary fractions say. */
export function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return false;
  const [divisorDigits, divisorExponent] = decimalOf(divisor);
  // Exact as long as fifteen digits are enough, which every double has: no other number with so few is as near.
  if (divisorExponent <= 0 && divisorExponent >= -22 && divisorDigits < 1e15) {
    const scale = 10 ** -divisorExponent;
    const scaled = Math.round(value * scale);
    if (Math.abs(scaled) < 1e15 && scaled / scale === value) return scaled % Number(divisorDigits) === 0;
  }
  // A million numbers that need this would take seconds.
  spend(300);
  const [digits, exponent] = toDecimal(value);
  const lowest = Math.min(exponent, divisorExponent);
  return (digits * 10n ** BigInt(exponent - lowest)) % (divisorDigits * 10n ** BigInt(divisorExponent - lowest)) === 0n;
}

let lastDivisor = 1;
let lastDecimal: [bigint, number] = [1n, 0];

/** The same as `toDecimal`, which takes longer than the rest, cached for a number that is used often. */
function decimalOf(divisor: number): [bigint, number] {
  if (divisor !== lastDivisor) {
    lastDecimal = toDecimal(divisor);
    lastDivisor = divisor;
  }
  return lastDecimal;
}

/** `[digits, exponent]` with value = digits × 10^exponent, exactly as the number is written in JSON. */
function toDecimal(value: number): [bigint, number] {
  const [mantissa = '0', exponent = '0'] = value.toExponential().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

/** Equal as JSON: the order of keys does not matter. As deep as the schema's value, never as deep as what was sent. */
export function equals(value: unknown, wanted: unknown): boolean {
  if (value === wanted) return true;
  if (typeof value !== 'object' || typeof wanted !== 'object' || value === null || wanted === null) return false;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(value) || value.length !== wanted.length) return false;
    return wanted.every((item, at) => equals(value[at], item));
  }
  if (Array.isArray(value)) return false;
  const keys = Object.keys(wanted).filter((key) => own(wanted, key) !== undefined);
  const names = Object.keys(value);
  spend(names.length * limits.stepsPerName);
  return (
    keys.length === names.filter((key) => own(value, key) !== undefined).length &&
    keys.every((key) => equals(own(value, key), own(wanted, key)))
  );
}

/** A property of the object itself, never of its prototype. `undefined` is absence, as in JSON. */
export function own(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined;
}

/** An object or a list, which is not compared by identity. */
export const isComposite = (value: unknown): boolean => typeof value === 'object' && value !== null;
