// Whether a client that connects to a shared gateway is a server of that gateway. Gateways that were started independently are
// connected to each other where their files contain each other, and the environment of neither shows it.

import { type Above, runningGateways } from '../running.ts';

/** Whether a gateway is among those above it, if it has a client with these gateways above it. */
export function isCircle(ids: readonly string[], outer: readonly string[], running: readonly Above[]): boolean {
  const above = new Set(outer);
  for (let size = -1; size !== above.size; ) {
    size = above.size;
    for (const each of running) if (each.ids.some((id) => above.has(id))) for (const id of each.above) above.add(id);
  }
  return ids.some((id) => above.has(id));
}

/** What all running gateways report. */
export async function gatewaysAbove(): Promise<readonly Above[]> {
  const running = await runningGateways();
  const asked = await Promise.allSettled(running.map((each) => each.above()));
  // One that ends meanwhile is above nothing.
  return asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}
