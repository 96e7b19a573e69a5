// Which process sends what goes to one client of a task only: input requests, progress and log messages. Clients of a task may be
// connected to several processes. Each says when it can reach one, and the first that has said so is the sender.

/** Tasks that are remembered; stops tasks that end while a process announces itself from filling the memory. */
const maxTasks = 20_000;

export class TaskSenders {
  /** The processes that can reach a client, by task. All processes hear of them in the same order. */
  readonly #processes = new Map<string, readonly string[]>();

  /** Undefined: no process has said that it can reach a client. */
  processesOf(task: string): readonly string[] | undefined {
    return this.#processes.get(task);
  }

  /** A process can reach a client of the task, or no longer can. */
  set(task: string, process: string, canReach: boolean): void {
    const before = this.#processes.get(task) ?? [];
    if (before.includes(process) === canReach) return;
    const after = canReach ? [...before, process] : before.filter((each) => each !== process);
    if (after.length === 0) this.#processes.delete(task);
    else this.#processes.set(task, after);
    if (this.#processes.size > maxTasks) this.#processes.delete(this.#processes.keys().next().value as string);
  }

  /** A process has ended. Returns the tasks whose clients it could reach. */
  left(process: string): readonly string[] {
    const tasks = [...this.#processes].flatMap(([task, processes]) => (processes.includes(process) ? task : []));
    for (const task of tasks) this.set(task, process, false);
    return tasks;
  }

  delete(task: string): void {
    this.#processes.delete(task);
  }

  clear(): void {
    this.#processes.clear();
  }
}
