// What a tool changes in the memory of a process is changed in every process that serves, so that clients see one server.

import type { Server } from '../../engine/server.ts';

/** Returns a function that runs `change` in every process, and returns what it returned in this one. */
export function inAllProcesses<T>(server: Server, name: string, change: () => T): () => T | Promise<T> {
  const { bus } = server;
  if (bus === undefined) return change;
  const topic = `${name} ${server.name}`;
  let result: T;
  bus.listen(topic, () => {
    result = change();
  });
  return async () => {
    await bus.publish(topic, null);
    return result;
  };
}
