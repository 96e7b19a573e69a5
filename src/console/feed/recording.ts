// Recordings: NDJSON, a line for each peer and message, so that traffic can be stored, sent to others and opened again.
// The format is documented in docs/reference/console-recording.md.

import { parseJson } from '../../common/parse-json.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { FeedEntry, JsonObject, PeerInfo } from '../api.ts';
import { ConsoleError } from '../http/console-error.ts';
import type { Feed } from './feed.ts';

/** The largest recording that is opened. Stops a file from filling the memory. */
export const maxRecordingBytes = 64 * 1024 * 1024;

const version = 1;

/** The first line. */
export function headerLine(server: { readonly name: string; readonly version: string }): string {
  return `${JSON.stringify({ type: 'recording', version, server, at: new Date().toISOString() })}\n`;
}

export const peerLine = (peer: PeerInfo): string => `${JSON.stringify({ type: 'peer', ...peer })}\n`;
export const entryLine = (entry: FeedEntry): string => `${JSON.stringify({ type: 'message', ...entry })}\n`;

/** Everything in the buffer, line by line. */
export function* recordingLines(
  feed: Feed,
  server: { readonly name: string; readonly version: string },
): Generator<string> {
  yield headerLine(server);
  feed.flush();
  for (const { info } of feed.peers.all()) yield peerLine(info);
  for (const entry of feed.ring.entries()) yield entryLine(entry);
}

/** What a recording contains. */
export interface Recording {
  readonly server: { readonly name: string; readonly version: string };
  readonly peers: readonly PeerInfo[];
  readonly entries: readonly FeedEntry[];
}

/** Parses a recording. Throws a `ConsoleError` that names the line. */
export function parseRecording(text: string): Recording {
  const peers = new Map<number, PeerInfo>();
  const entries: FeedEntry[] = [];
  let server = { name: 'recording', version: '' };
  let hasHeader = false;
  let lineNumber = 0;
  for (const line of text.split('\n')) {
    lineNumber++;
    if (line.trim() === '') continue;
    const value = parseLine(line, lineNumber);
    if (!hasHeader) {
      if (value['type'] !== 'recording') throw wrong(lineNumber, 'it is not a recording of the console');
      if (value['version'] !== version) throw wrong(lineNumber, `version ${String(value['version'])} is not supported`);
      hasHeader = true;
      if (isObject(value['server'])) {
        server = { name: String(value['server']['name'] ?? ''), version: String(value['server']['version'] ?? '') };
      }
    } else if (value['type'] === 'peer') {
      const peer = toPeer(value, lineNumber);
      // A recording that was written while clients connected has a line for each change; the last one counts.
      peers.set(peer.number, peer);
    } else if (value['type'] === 'message') entries.push(toEntry(value, lineNumber));
    // Lines of other types are of later versions.
  }
  if (!hasHeader) throw wrong(1, 'it is empty');
  return { server, peers: [...peers.values()], entries };
}

/** Adds a recording to a feed. In an empty feed, numbers stay the same. Texts are redacted like everything else. */
export function restoreRecording(feed: Feed, { peers, entries }: Recording): number {
  const isEmpty = feed.last === 0;
  const firstEntry = feed.last;
  const peerNumbers = new Map<number, number>();
  for (const { number, ...info } of peers) {
    peerNumbers.set(number, feed.peers.add(info, isEmpty ? number : undefined).number);
  }
  const numbers = new Map<number, number>();
  const restored = [...entries].sort((a, b) => a.number - b.number);
  restored.forEach((entry, index) => {
    numbers.set(entry.number, isEmpty ? entry.number : firstEntry + index + 1);
  });
  for (const entry of restored) {
    const { requestEntry, text, ...rest } = entry;
    const request = requestEntry === undefined ? undefined : numbers.get(requestEntry);
    const peer = peerNumbers.get(entry.peer) ?? feed.peers.add({ transport: 'unknown' }).number;
    peerNumbers.set(entry.peer, peer);
    feed.restore({
      ...rest,
      number: numbers.get(entry.number) as number,
      peer,
      ...(text === undefined ? {} : { text: redacted(feed, text) }),
      ...(request === undefined ? {} : { requestEntry: request }),
    });
  }
  return restored.length;
}

/** The message without secrets; the same text if there are none. */
function redacted(feed: Feed, text: string): string {
  try {
    return feed.capture.message(JSON.parse(text), text).text;
  } catch {
    return feed.capture.text(text).text; // Cut texts, and those that never were messages.
  }
}

function parseLine(line: string, lineNumber: number): JsonObject {
  const value = parseJson(line);
  if (isObject(value)) return value;
  throw wrong(lineNumber, 'it is not a JSON object');
}

function wrong(line: number, why: string): ConsoleError {
  return new ConsoleError(400, 'recording', `Line ${line} of the recording cannot be read: ${why}`);
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const peerFields = { transport: isText, revision: isText, client: isText, principal: isText, session: isText };

function toPeer(value: JsonObject, line: number): PeerInfo {
  const { number } = value;
  if (!isIndex(number)) throw wrong(line, 'a peer needs a number');
  return { number, transport: 'unknown', ...pick(value, { ...peerFields, address: isText }) } as PeerInfo;
}

const entryFields = {
  at: isText,
  method: isText,
  name: isText,
  bytes: isNumber,
  text: isText,
  cut: (field: unknown) => field === true,
  requestEntry: isIndex,
  group: isText,
  outcome: isText,
  code: isNumber,
  durationMs: isNumber,
  reason: isText,
  id: (field: unknown) => isText(field) || isNumber(field),
};

function toEntry(value: JsonObject, line: number): FeedEntry {
  const { number, peer, direction, side, kind } = value;
  const fits =
    isIndex(number) &&
    isIndex(peer) &&
    oneOf(direction, ['in', 'out']) &&
    oneOf(side, ['client', 'upstream']) &&
    oneOf(kind, ['request', 'response', 'notification', 'invalid']);
  if (!fits) throw wrong(line, 'number, peer, direction, side or kind is missing or wrong');
  return { number, at: '', direction, side, peer, kind, bytes: 0, ...pick(value, entryFields) } as FeedEntry;
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

const oneOf = (value: unknown, allowed: readonly string[]): boolean => isText(value) && allowed.includes(value);

/** The known fields that have the right type; others are left out. */
function pick(value: JsonObject, fields: Readonly<Record<string, (field: unknown) => boolean>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, fits]) => (fits(value[key]) ? [[key, value[key]]] : [])),
  );
}
