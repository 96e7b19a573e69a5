// Sessions of processes on several machines, connected by Redis.
import { describe } from 'vitest';
import { hasRedis } from '../support/redis.ts';
import { openRedisReplicas } from '../support/redis-replicas.ts';
import { testSessions } from './support/session-suite.ts';

describe.skipIf(!hasRedis())('with Redis', () => testSessions(openRedisReplicas));
