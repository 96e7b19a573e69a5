// Several processes that serve one endpoint, as a schedule sees them: it sends each request to one of them, and kills them.
import { expect } from 'vitest';
import { HttpTestClient } from '../../support/http-client.ts';
import { Replicas } from '../../support/replicas.ts';
import { childrenOf } from '../../support/workers.ts';
import { installTools } from '../fixtures/schedule-plugin/index.js';
import { type ScheduleProgram, startScheduleProgram } from './program.ts';

/** One process. */
export interface Node {
  readonly client: HttpTestClient;
  /** Its name on the bus; undefined where that is not known, because another program distributes the requests. */
  readonly process?: string;
}

export interface Topology {
  /** Where requests can be sent now. */
  readonly nodes: readonly Node[];
  /** A process was killed in an earlier schedule. */
  readonly hasGaps?: boolean;
  /** Kills one process, whose connections break. Resolves when another one serves in its place. */
  kill(pick: number): Promise<void>;
  close(): Promise<void>;
}

/** Servers in this process that are connected as workers are, by the code of workers. */
export class InProcessTopology implements Topology {
  readonly #replicas = new Replicas();
  readonly nodes: (Node & { kill(): void })[] = [];

  static async start(count: number): Promise<InProcessTopology> {
    const topology = new InProcessTopology();
    for (let n = 0; n < count; n++) await topology.#add();
    return topology;
  }

  async #add(): Promise<void> {
    const { client, bus, kill } = await this.#replicas.start(installTools);
    this.nodes.push({ client, process: bus.process, kill });
  }

  async kill(pick: number): Promise<void> {
    const [node] = this.nodes.splice(pick % this.nodes.length, 1);
    node?.kill();
    await this.#add();
  }

  close(): Promise<void> {
    return this.#replicas.close();
  }
}

/** The program with workers. It distributes connections itself, and each request is a new one. */
export class WorkersTopology implements Topology {
  readonly #program: ScheduleProgram;
  hasGaps = false;
  readonly nodes: readonly Node[];

  static async start(count: number): Promise<WorkersTopology> {
    return new WorkersTopology(await startScheduleProgram(['--workers', String(count)]));
  }

  private constructor(program: ScheduleProgram) {
    this.#program = program;
    this.nodes = [{ client: new HttpTestClient(Number(new URL(program.address).port), { keepAlive: false }) }];
  }

  async kill(pick: number): Promise<void> {
    const workers = (): number[] => childrenOf(this.#program.child.pid as number);
    const before = workers();
    const killed = before[pick % before.length] as number;
    this.hasGaps = true;
    process.kill(killed, 'SIGKILL');
    const listens = (pid: number): boolean =>
      this.#program.lines.some((line) => line.includes('a worker listens') && line.includes(`pid=${pid}`));
    await expect
      .poll(
        () => {
          const now = workers();
          // The killed one is listed until its parent has noticed.
          if (now.includes(killed) || now.length !== before.length) return false;
          return now.every((pid) => before.includes(pid) || listens(pid));
        },
        {
          timeout: 20_000,
        },
      )
      .toBe(true);
  }

  close(): Promise<void> {
    this.nodes[0]?.client.close();
    return this.#program.close();
  }
}
