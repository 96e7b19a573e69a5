// Scripts that Redis runs as one step. The keys of a deployment are on one node, so scripts may use keys that are not in KEYS.

import { createHash } from 'node:crypto';

export interface RedisScript {
  readonly text: string;
}

const digests = new WeakMap<RedisScript, string>();

export function sha1(script: RedisScript): string {
  let digest = digests.get(script);
  if (digest === undefined) digests.set(script, (digest = createHash('sha1').update(script.text).digest('hex')));
  return digest;
}
