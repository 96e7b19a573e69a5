// IP addresses as bytes: parsing, CIDR blocks, containment. What an address means is in ranges.ts.

/** An address as bytes: 4 of them, or 16. */
export interface Address {
  readonly family: 4 | 6;
  readonly bytes: readonly number[];
}

/** A block of addresses. */
export interface Cidr extends Address {
  readonly bits: number;
}

/**
 * Reads an address in any spelling that some resolver or URL parser would accept: dotted, decimal (`2130706433`), octal
 * (`0177.1`), hexadecimal (`0x7f.1`), short forms, IPv6 with embedded IPv4, brackets, and zone ids. Accepting more here
 * is the safe direction: what is not recognised as an address would be looked up as a name.
 */
export function parseAddress(text: string): Address | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (!bare.includes(':')) return parseIPv4(bare);
  const zone = bare.indexOf('%');
  return parseIPv6(zone < 0 ? bare : bare.slice(0, zone));
}

function parseIPv4(text: string): Address | undefined {
  const parts = text.split('.');
  if (parts.at(-1) === '' && parts.length > 1) parts.pop();
  if (parts.length > 4) return undefined;
  const numbers: number[] = [];
  for (const part of parts) {
    const value = parseNumber(part);
    if (value === undefined) return undefined;
    numbers.push(value);
  }
  // The last number fills all the bytes that are left: 127.1 is 127.0.0.1.
  const last = numbers.pop() as number;
  if (numbers.some((value) => value > 255) || last >= 256 ** (4 - numbers.length)) return undefined;
  const bytes = [...numbers];
  for (let index = 3 - numbers.length; index >= 0; index--) bytes.push(Math.floor(last / 256 ** index) % 256);
  return { family: 4, bytes };
}

function parseNumber(text: string): number | undefined {
  if (/^0x[0-9a-f]{0,64}$/i.test(text)) return text.length === 2 ? 0 : Number.parseInt(text, 16);
  if (/^0[0-7]{0,64}$/.test(text)) return Number.parseInt(text, 8);
  return /^[1-9]\d{0,63}$/.test(text) ? Number.parseInt(text, 10) : undefined;
}

function parseIPv6(text: string): Address | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] as string, halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] as string, true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined;
  return { family: 6, bytes: [...head, ...new Array<number>(missing).fill(0), ...tail] };
}

/** The bytes of a colon-separated run; only the last group may be a dotted IPv4 address. */
function parseGroups(text: string, mayEndInIPv4: boolean): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (mayEndInIPv4 && index === groups.length - 1 && group.includes('.')) {
      if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(group)) return undefined;
      const numbers = group.split('.').map(Number);
      if (numbers.some((value) => value > 255)) return undefined;
      bytes.push(...numbers);
    } else if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    } else {
      return undefined;
    }
  }
  return bytes.length <= 16 ? bytes : undefined;
}

/** Reads `10.0.0.0/8`, `fd00::/8`, or a single address. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const full = address.family === 4 ? 32 : 128;
  if (slash < 0) return { ...address, bits: full };
  const bits = text.slice(slash + 1);
  return /^\d{1,3}$/.test(bits) && Number(bits) <= full ? { ...address, bits: Number(bits) } : undefined;
}

/** Whether a block holds an address. Families never mix. */
export function contains(block: Cidr, address: Address): boolean {
  if (block.family !== address.family) return false;
  const whole = block.bits >> 3;
  for (let index = 0; index < whole; index++) if (block.bytes[index] !== address.bytes[index]) return false;
  const rest = block.bits & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return ((block.bytes[whole] as number) & mask) === ((address.bytes[whole] as number) & mask);
}
