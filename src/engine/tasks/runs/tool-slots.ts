// How many tasks of one tool run at a time in this process. Others wait in the order of their arrival.

/** Runs a handler. Its slot is free again when it has ended or its signal was aborted. */
export async function runInSlot<T>(
  release: () => void,
  signal: AbortSignal,
  handler: () => T | Promise<T>,
): Promise<T> {
  signal.addEventListener('abort', release, { once: true });
  try {
    signal.throwIfAborted();
    return await handler();
  } finally {
    release();
  }
}

interface Slots {
  taken: number;
  readonly waiting: (() => void)[];
}

export class ToolSlots {
  readonly #tools = new Map<string, Slots>();

  /** Resolves when the tool may run; call the function that it returns when it has ended. */
  async take(tool: string, max: number): Promise<() => void> {
    let slots = this.#tools.get(tool);
    if (slots === undefined) this.#tools.set(tool, (slots = { taken: 0, waiting: [] }));
    if (slots.taken < max) slots.taken++;
    else {
      const { waiting } = slots;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    let isTaken = true;
    return () => {
      if (isTaken) this.#release(tool);
      isTaken = false;
    };
  }

  #release(tool: string): void {
    const slots = this.#tools.get(tool) as Slots;
    const next = slots.waiting.shift();
    // The slot is passed on to the next one without being released.
    if (next !== undefined) return next();
    slots.taken--;
    if (slots.taken === 0) this.#tools.delete(tool);
  }
}
