// The messages that processes send each other through Redis. Published messages are entries of one stream, those for one
// process are entries of its mailbox, a stream of its own.

import { parseJson } from '../../common/parse-json.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Json } from '../../protocol/model.ts';
import type { Reply } from './driver.ts';
import type { RedisScript } from './script.ts';

/** A message, as JSON in an entry. */
export type BusMessage =
  /** Published, or sent to one process. */
  | { readonly type: 'message'; readonly topic: string; readonly data: Json }
  | { readonly type: 'request'; readonly topic: string; readonly data: Json }
  /** `to`: the number of the request. */
  | { readonly type: 'response'; readonly to: number; readonly value?: Json; readonly error?: string }
  /** Published by a process when it starts, and when it ends. */
  | { readonly type: 'joined' | 'left' }
  /** Published by a process that could not send everything: the others may have missed something. */
  | { readonly type: 'gap' };

/** An entry of a stream. */
export interface BusEntry {
  readonly id: string;
  /** Grows with each entry, also across restarts: the time in microseconds at which Redis received it, or a little more. */
  readonly position: number;
  /** Grows by one with each entry of a stream, so a reader notices that some are missing. */
  readonly index: number;
  readonly from: string;
  /** Given by the sender. It grows with each of its messages, so a message that was sent twice is received once. */
  readonly number: number;
  /** JSON; undefined: it is stored under `key`. */
  readonly text: string | undefined;
  readonly key: string | undefined;
}

/** Messages of other versions are ignored, so that two of them can run side by side. */
const version = '1';

/**
 * Appends entries. KEYS: the common stream, then mailboxes. ARGV: the sender, how many entries a stream keeps, how long a mailbox
 * is kept, the position of the sender, and for each entry: which of the keys, the number, the name of the field, the text.
 * Positions grow also if another server, whose clock is behind, has become the master.
 */
export const append: RedisScript = {
  text: `
    local time = redis.call('TIME')
    local now = math.max(time[1] * 1000000 + time[2], tonumber(ARGV[4]) + 1)
    local last = {}
    for at = 5, #ARGV, 4 do
      local key = KEYS[tonumber(ARGV[at])]
      local newest = last[key]
      if not newest then
        local entry = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
        -- An entry of another program has no index.
        newest = entry and {tonumber(string.match(entry[1], '^%d+')), tonumber(entry[2][4] or '') or 0} or {0, 0}
        last[key] = newest
      end
      newest[1] = math.max(newest[1] + 1, now)
      newest[2] = newest[2] + 1
      redis.call('XADD', key, 'MAXLEN', '~', ARGV[2], string.format('%.0f-0', newest[1]),
        'v', '${version}', 'n', string.format('%.0f', newest[2]), 'f', ARGV[1], 's', ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
    end
    for at = 2, #KEYS do redis.call('PEXPIRE', KEYS[at], ARGV[3]) end
    return 1`,
};

/** Reads an entry; `unknown` for one that another version wrote. */
export function parseEntry(reply: Reply): BusEntry | { readonly unknown: string } {
  const [id, fields] = reply as unknown as [string, readonly string[]];
  const of = (name: string): string | undefined => {
    for (let at = 0; at < fields.length; at += 2) if (fields[at] === name) return fields[at + 1];
    return undefined;
  };
  if (of('v') !== version) return { unknown: id };
  return {
    id,
    position: Number(id.split('-')[0]),
    index: Number(of('n')),
    from: of('f') ?? '',
    number: Number(of('s')),
    text: of('m'),
    key: of('k'),
  };
}

/** Undefined for what is not a message. */
export function parseMessage(text: string): BusMessage | undefined {
  const message = parseJson(text);
  return isObject(message) && typeof message['type'] === 'string' ? (message as unknown as BusMessage) : undefined;
}
