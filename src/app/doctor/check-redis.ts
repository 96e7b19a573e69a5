// Checks whether the Redis of the settings can be used, and whether it may lose data.

import type { ResolvedSettings } from '../config/resolve.ts';
import type { DoctorFinding } from './findings.ts';

/** Above this, requests that wait for Redis (the first of a session, and its end) are noticeably slower. */
const slowMs = 20;

export async function checkConfiguredRedis({
  settings,
}: ResolvedSettings): Promise<Pick<DoctorFinding, 'severity' | 'detail' | 'remedy'>> {
  const { redis, http } = settings;
  if (redis === undefined) return { severity: 'ok', detail: 'not used', remedy: '' };
  const { checkRedis } = await import('../../stores/redis/index.ts');
  const { redisOptions } = await import('../state/shared-state.ts');
  const { url, password, sentinelPassword, tls } = redisOptions(redis);
  const facts = await checkRedis({ url, password, sentinelPassword, tls }).catch((error: Error) => error);
  if (facts instanceof Error) {
    return {
      severity: 'error',
      detail: facts.message || 'it cannot be reached',
      remedy:
        'remedy' in facts
          ? `${facts.remedy}.`
          : 'Check the address and the password of --store (MOORING_REDIS_URL), and that it runs.',
    };
  }
  const { address, product, version, isSupported, evictionPolicy, persists, roundTripMs } = facts;
  const name = `${product} ${version} at ${address}`;
  if (!isSupported) {
    return { severity: 'error', detail: `${name} is too old`, remedy: 'Use Redis 6.2, Valkey 7.2, or a newer one.' };
  }
  if (http?.key === undefined) {
    const remedy =
      'Set MOORING_KEY to the same value on all replicas. You can create one with: openssl rand -base64 32';
    return { severity: 'error', detail: `${name}: the replicas have no common key`, remedy };
  }
  const problems: [detail: string, remedy: string][] = [];
  if (evictionPolicy !== 'noeviction') {
    problems.push([
      `maxmemory-policy is ${evictionPolicy}, so ended sessions and tasks may be evicted`,
      'Set maxmemory-policy noeviction.',
    ]);
  }
  if (!persists) {
    problems.push([
      'it has no append-only file, so tasks and sessions are lost when it restarts',
      'Set appendonly yes (appendfsync everysec or always).',
    ]);
  }
  if (roundTripMs > slowMs) {
    problems.push([`a round trip takes ${roundTripMs.toFixed(0)} ms`, 'Use one that is nearer to the replicas.']);
  }
  if (problems.length === 0) {
    return { severity: 'ok', detail: `${name}, round trip ${roundTripMs.toFixed(1)} ms`, remedy: '' };
  }
  return {
    severity: 'warning',
    detail: `${name}: ${problems.map(([detail]) => detail).join('; ')}`,
    remedy: problems.map(([, remedy]) => remedy).join(' '),
  };
}
