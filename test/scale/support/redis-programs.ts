// Several programs as if on several machines: one key, one Redis behind them, and a router in front that picks a random one for each
// request. Each reaches Redis through a proxy of its own, which can be cut.
import { randomBytes } from 'node:crypto';
import type { HttpSubject } from '../../conformance/subject.ts';
import { HttpTestClient } from '../../support/http-client.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { type ScheduleProgram, startScheduleProgram } from './program.ts';
import { type Router, startRouter } from './router.ts';

export interface RedisProgram extends ScheduleProgram {
  readonly client: HttpTestClient;
  /** Between this program and Redis. */
  readonly proxy: TcpProxy;
}

export class RedisPrograms {
  readonly redis: RedisServer;
  readonly programs: RedisProgram[] = [];
  readonly #env: Record<string, string>;
  readonly #args: readonly string[];
  router!: Router;

  private constructor(redis: RedisServer, args: readonly string[], env: Record<string, string>) {
    this.redis = redis;
    this.#args = args;
    this.#env = { MOORING_KEY: randomBytes(32).toString('base64'), ...env };
  }

  static async start(
    count: number,
    args: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<RedisPrograms> {
    const all = new RedisPrograms(await startRedis(), args, env);
    try {
      await Promise.all(Array.from({ length: count }, () => all.add()));
      all.router = await startRouter(all.programs.map(({ address }) => address));
      return all;
    } catch (error) {
      await all.close();
      throw error;
    }
  }

  /** Starts one more; the router gets to know it when it is ready. */
  async add(): Promise<RedisProgram> {
    const proxy = await startTcpProxy(this.redis.port);
    const env = { ...this.#env, MOORING_REDIS_URL: `redis://127.0.0.1:${proxy.port}` };
    const program = await startScheduleProgram(this.#args, env);
    const client = new HttpTestClient(Number(new URL(program.address).port));
    const close = async (): Promise<void> => {
      client.close();
      await program.close();
      await proxy.close();
    };
    const added = { ...program, client, proxy, close };
    this.programs.push(added);
    this.router?.add(added.address);
    return added;
  }

  async close(): Promise<void> {
    await this.router?.close();
    await Promise.all(this.programs.map((program) => program.close()));
    await this.redis.close();
  }
}

/** Three replicas as the server under test of clients and suites. */
export async function startRedisSubject(): Promise<HttpSubject> {
  const programs = await RedisPrograms.start(3);
  const { url } = programs.router;
  return {
    url,
    sseUrl: new URL('/sse', url).href,
    webSocketUrl: (programs.programs[0] as RedisProgram).address.replace(/^http/, 'ws'),
    close: () => programs.close(),
  };
}
