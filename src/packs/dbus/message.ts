// D-Bus messages: the header with its numbered fields, then the body. Encoded little-endian, decoded in both byte orders.

import type { Json } from '../../protocol/model.ts';
import { BusFormatError, DbusReader } from './reader.ts';
import { DbusWriter, type Variant } from './writer.ts';

const messageTypes = { call: 1, reply: 2, error: 3, signal: 4 } as const;
export type MessageType = keyof typeof messageTypes;

/** A call must not start a service that is not running. */
const noAutoStart = 0x2;

export interface DbusMessage {
  readonly type: MessageType;
  readonly serial: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly errorName?: string;
  readonly replySerial?: number;
  readonly destination?: string;
  readonly sender?: string;
  readonly signature?: string;
}

export interface ReadMessage extends DbusMessage {
  readonly body: readonly Json[];
}

/** Header fields by number: our name and the wire type. */
const fields = [
  [1, 'path', 'o'],
  [2, 'interface', 's'],
  [3, 'member', 's'],
  [4, 'errorName', 's'],
  [5, 'replySerial', 'u'],
  [6, 'destination', 's'],
  [7, 'sender', 's'],
  [8, 'signature', 'g'],
] as const;

/** Properties of a service are kilobytes, so the body of a longer message is not read. */
export const maxMessageBytes = 4 * 1024 * 1024;

/** What the specification allows. */
const maxSpecifiedBytes = 128 * 1024 * 1024;

export function encodeMessage(message: DbusMessage, body: readonly unknown[] = []): Buffer {
  const content = new DbusWriter().write(message.signature ?? '', body).bytes;
  const present: [number, Variant][] = [];
  for (const [code, name, signature] of fields) {
    const value = message[name];
    if (value !== undefined) present.push([code, { signature, value }]);
  }
  const header = new DbusWriter();
  header.write('yyyyuu', [0x6c, messageTypes[message.type], noAutoStart, 1, content.length, message.serial]);
  header.write('a(yv)', [present]);
  header.align(8);
  return Buffer.concat([header.bytes, content]);
}

export interface MessageLength {
  readonly header: number;
  /** Header and body. */
  readonly total: number;
}

/** The length of the message that starts here; undefined when too few bytes have arrived. */
export function messageLength(bytes: Buffer): MessageLength | undefined {
  if (bytes.length < 16) return undefined;
  const order = bytes[0];
  if ((order !== 0x6c && order !== 0x42) || bytes[3] !== 1) throw new BusFormatError('This is not a D-Bus message');
  const little = order === 0x6c;
  const bodyLength = little ? bytes.readUInt32LE(4) : bytes.readUInt32BE(4);
  const fieldsLength = little ? bytes.readUInt32LE(12) : bytes.readUInt32BE(12);
  const header = 16 + Math.ceil(fieldsLength / 8) * 8;
  const total = header + bodyLength;
  if (header > maxMessageBytes || total > maxSpecifiedBytes)
    throw new BusFormatError(`A message of ${total} bytes is too long`);
  return { header, total };
}

/** Decodes one complete message. */
export function decodeMessage(bytes: Buffer): ReadMessage {
  const { message, reader } = readHeader(bytes);
  return { ...message, body: reader.read(message.signature ?? '') };
}

/** Decodes a message whose body may be missing. */
export const decodeHeader = (bytes: Buffer): DbusMessage => readHeader(bytes).message;

function readHeader(bytes: Buffer): { readonly message: DbusMessage; readonly reader: DbusReader } {
  const reader = new DbusReader(bytes, bytes[0] === 0x6c);
  const [, code, , , , serial] = reader.read('yyyyuu') as [number, number, number, number, number, number];
  const type = (Object.keys(messageTypes) as MessageType[]).find((name) => messageTypes[name] === code);
  if (type === undefined) throw new BusFormatError(`Unknown message type ${code}`);
  const found: Record<string, unknown> = {};
  for (const [number, value] of (reader.read('a(yv)')[0] ?? []) as [number, Json][]) {
    const field = fields.find(([each]) => each === number);
    if (field !== undefined) found[field[1]] = value;
  }
  reader.align(8);
  if (typeof found['signature'] !== 'string') delete found['signature'];
  return { message: { type, serial, ...found }, reader };
}
