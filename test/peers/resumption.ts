// What a client of the session-based revisions must survive: a connection that breaks in the middle, with nothing lost and nothing doubled.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import { type Peer, until } from './peer.ts';

const updated = 'notifications/resources/updated';
const watched = 'test://watched-resource';

/** Declares the scenarios for one way to connect; `target` is known only once the server runs. */
export function describeResumption(title: string, target: () => string, connect: (url: URL) => Promise<Peer>): void {
  describe.sequential(title, () => {
    let proxy: CuttingProxy;
    let peer: Peer;
    beforeAll(async () => {
      proxy = await startCuttingProxy(target());
      peer = await connect(new URL(proxy.url));
    });
    afterAll(async () => {
      await peer?.close();
      await proxy?.close();
    });

    test.each([1, 2])('a call whose stream breaks after %i events is resumed', async (events) => {
      const { cuts } = proxy;
      const from = peer.received.length;
      const resumptions = proxy.resumed.length;
      proxy.cutPostAfter(events);
      const { content } = await peer.callTool('test_tool_with_progress', {}, { onProgress: () => {} });
      expect(content[0]?.type).toBe('text');
      expect(proxy.cuts).toBe(cuts + 1);
      expect(proxy.resumed.length).toBe(resumptions + 1);
      const heard = peer.received.slice(from);
      const steps = heard.filter(({ method }) => method === 'notifications/progress');
      expect(steps.map(({ params }) => params?.progress)).toEqual([0, 50, 100]);
      // A client may list the tools first.
      const results = heard.filter(
        ({ result }) => (result as { content?: unknown } | undefined)?.content !== undefined,
      );
      expect(results).toHaveLength(1);
    });

    test('a question asked before the break is answered, and the call ends once', async () => {
      const from = peer.asked.length;
      const heard = peer.received.length;
      proxy.cutPostAfter(1);
      const { content } = await peer.callTool('test_sampling', { prompt: 'Capital of France?' });
      expect(content[0]?.text).toBe('LLM response: Paris');
      expect(peer.asked.length).toBe(from + 1);
      expect(peer.received.slice(heard).filter(({ result }) => result)).toHaveLength(1);
    });

    test('a call whose stream the server itself closes is resumed', async () => {
      const from = peer.received.length;
      const { content } = await peer.callTool('test_reconnection');
      expect(content.length).toBeGreaterThan(0);
      expect(peer.received.slice(from).filter(({ result }) => result)).toHaveLength(1);
    });

    test('a change that happens while the standing stream is down arrives once', async () => {
      const count = () => peer.received.filter(({ method }) => method === updated).length;
      const stop = await peer.watch([watched]);
      await peer.callTool('test_trigger_resource_update');
      await until(() => count() === 1);
      proxy.cutStanding();
      await peer.callTool('test_trigger_resource_update');
      await until(() => count() === 2);
      await stop();
      await peer.callTool('test_simple_text');
      expect(count()).toBe(2);
    });
  });
}
