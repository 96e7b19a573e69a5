// What every official client must be able to do with `serve everything`, in words of the Peer interface: one list for all lines, revisions and
// transports. Where a revision lacks a feature, the scenario asserts what is there instead.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Content, type Peer, type Revision, until } from './peer.ts';

const watched = 'test://watched-resource';
const changes = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resource: 'notifications/resources/updated',
};

/**
 * Declares the scenarios for one way to connect, which must settle on `revision`. `server`: the revision of the server behind
 * a gateway, which can only offer what its revision has.
 */
export function describePeer(
  title: string,
  revision: Revision,
  connect: () => Promise<Peer>,
  server: Revision = revision,
): void {
  describe.sequential(title, () => {
    let peer: Peer;
    beforeAll(async () => {
      peer = await connect();
    });
    afterAll(() => peer?.close());

    const older = server < revision ? server : revision;
    const has = {
      audio: older >= '2025-03-26',
      elicitation: older >= '2025-06-18',
      structure: older >= '2025-06-18',
      anyStructure: older >= '2026-07-28',
    };
    const count = (method: string) => peer.received.filter((message) => message.method === method).length;
    const only = async (name: string, args?: Record<string, unknown>): Promise<Content> => {
      const { content, isError } = await peer.callTool(name, args);
      expect({ isError: isError ?? false, blocks: content.length }).toEqual({ isError: false, blocks: 1 });
      return content[0] as Content;
    };

    test('settles on the revision and learns who the server is', () => {
      expect(peer.revision).toBe(revision);
      expect(peer.serverName()).toBeTruthy();
    });

    test('lists tools, resources, templates and prompts', async () => {
      const tools = await peer.listTools();
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['test_simple_text', 'test_error_handling']),
      );
      expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
      const resources = (await peer.listResources()).map(({ uri }) => uri);
      expect(resources).toEqual(expect.arrayContaining(['test://static-text', 'test://static-binary', watched]));
      const templates = (await peer.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate);
      expect(templates).toContain('test://template/{id}/data');
      const prompts = (await peer.listPrompts()).map(({ name }) => name);
      expect(prompts).toEqual(expect.arrayContaining(['test_simple_prompt', 'test_prompt_with_arguments']));
    });

    test('gets every kind of content from tools', async () => {
      expect(await only('test_simple_text')).toMatchObject({
        type: 'text',
        text: 'This is a simple text response for testing.',
      });
      const image = await only('test_image_content');
      expect(image).toMatchObject({ type: 'image', mimeType: 'image/png' });
      expect(bytes(image.data).subarray(1, 4).toString()).toBe('PNG');
      const audio = await only('test_audio_content');
      if (has.audio) expect(audio).toMatchObject({ type: 'audio', mimeType: 'audio/wav' });
      else expect(audio).toMatchObject({ type: 'resource', resource: { mimeType: 'audio/wav' } });
      expect(
        bytes(audio.data ?? audio.resource?.blob)
          .subarray(0, 4)
          .toString(),
      ).toBe('RIFF');
      expect(await only('test_embedded_resource')).toMatchObject({
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      });
      const { content } = await peer.callTool('test_multiple_content_types');
      expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'resource']);
      expect(JSON.parse(content[2]?.resource?.text ?? '')).toEqual({ test: 'data', value: 123 });
    });

    test('gets a link to a resource, or a line of text where links are unknown', async () => {
      const link = await only('test_resource_link');
      if (has.structure) expect(link).toMatchObject({ type: 'resource_link', uri: 'test://static-text' });
      else expect(link).toMatchObject({ type: 'text', text: expect.stringContaining('test://static-text') });
    });

    test('gets structured results in the form its revision knows, and always as text', async () => {
      const weather = { celsius: 21.5, city: 'Hamburg' };
      const words = ['one', 'two', 'three'];
      // The client checks results against the schemas of tools it has listed.
      const schemas = new Map((await peer.listTools()).map((tool) => [tool.name, tool.outputSchema]));
      const object = await peer.callTool('test_structured_object');
      const array = await peer.callTool('test_structured_array');
      expect(JSON.parse(object.content[0]?.text ?? '')).toEqual(weather);
      expect(JSON.parse(array.content[0]?.text ?? '')).toEqual(words);
      expect(schemas.get('test_structured_object') !== undefined).toBe(has.structure);
      expect(object.structuredContent).toEqual(has.structure ? weather : undefined);
      const wrapped = has.structure ? { result: words } : undefined;
      expect(array.structuredContent).toEqual(has.anyStructure ? words : wrapped);
    });

    test('tells a failing tool from an unknown one', async () => {
      const failed = await peer.callTool('test_error_handling');
      expect(failed.isError).toBe(true);
      expect(failed.content[0]?.text).toContain('This tool intentionally returns an error for testing');
      await expect(peer.callTool('no_such_tool')).rejects.toMatchObject({ code: -32602 });
    });

    test('reads text, binary and template resources', async () => {
      expect(await peer.readResource('test://static-text')).toMatchObject([
        { uri: 'test://static-text', text: 'This is the content of the static text resource.' },
      ]);
      const [binary] = await peer.readResource('test://static-binary');
      expect(bytes(binary?.blob).subarray(1, 4).toString()).toBe('PNG');
      const [data] = await peer.readResource('test://template/123/data');
      expect(JSON.parse(data?.text ?? '')).toEqual({ id: '123', templateTest: true, data: 'Data for ID: 123' });
      await expect(peer.readResource('test://no-such-resource')).rejects.toThrow();
      // Read from the wire: the new line shows its users one code for all revisions.
      const rejection = peer.received.findLast(({ error }) => error)?.error;
      expect(rejection?.code).toBe(revision === '2026-07-28' ? -32602 : -32002);
    });

    test('gets prompts with arguments, resources and images', async () => {
      const [simple] = await peer.getPrompt('test_simple_prompt');
      expect(simple).toMatchObject({ role: 'user', content: { type: 'text' } });
      const [filled] = await peer.getPrompt('test_prompt_with_arguments', { arg1: 'hello', arg2: 'world' });
      expect(filled?.content.text).toBe("Prompt with arguments: arg1='hello', arg2='world'");
      const embedded = await peer.getPrompt('test_prompt_with_embedded_resource', {
        resourceUri: 'test://static-text',
      });
      expect(embedded.find(({ content }) => content.type === 'resource')?.content.resource?.uri).toBe(
        'test://static-text',
      );
      const pictured = await peer.getPrompt('test_prompt_with_image');
      expect(pictured.some(({ content }) => content.type === 'image')).toBe(true);
      await expect(peer.getPrompt('no_such_prompt')).rejects.toMatchObject({ code: -32602 });
    });

    test('completes an argument of a prompt', async () => {
      const values = await peer.completePrompt('test_prompt_with_arguments', 'arg1', 'he');
      expect(values).toContain('hello');
      expect(values.every((value) => value.startsWith('he'))).toBe(true);
    });

    test('sees progress of its own call, each step once and in order', async () => {
      const steps: unknown[] = [];
      const from = peer.received.length;
      await peer.callTool('test_tool_with_progress', {}, { onProgress: (step) => steps.push(step.progress) });
      const wire = peer.received.slice(from).filter(({ method }) => method === 'notifications/progress');
      expect(wire.map(({ params }) => [params?.progress, params?.total])).toEqual(
        [0, 50, 100].map((step) => [step, 100]),
      );
      // The client drops steps that arrive together with the answer, as all may on a busy machine.
      expect([0, 50, 100].slice(0, steps.length)).toEqual(steps);
    });

    test('gets log messages at the level it asked for, and none below', async () => {
      const before = count('notifications/message');
      await peer.callTool('test_tool_with_logging', {}, { logLevel: 'debug' });
      const loud = count('notifications/message') - before;
      expect(loud).toBeGreaterThanOrEqual(3);
      await peer.callTool('test_tool_with_logging', {}, { logLevel: 'error' });
      expect(count('notifications/message') - before).toBe(loud);
    });

    test('cancels a running call and hears no more of it', async () => {
      const abort = new AbortController();
      const from = peer.received.length;
      const onProgress = () => abort.abort(new Error('changed my mind'));
      await expect(peer.callTool('test_slow', { ms: 200 }, { onProgress, signal: abort.signal })).rejects.toThrow();
      const token = peer.received[from]?.params?.progressToken;
      expect(token).toBeDefined();
      // The answer to a later request says that the cancellation has been read, by another process too; only what follows it is too much.
      await peer.callTool('test_slow', { ms: 100 });
      const after = peer.received.length;
      await peer.callTool('test_slow', { ms: 250 });
      const heard = peer.received.slice(after);
      expect(heard.filter(({ params }) => params?.progressToken === token)).toEqual([]);
      expect(heard.filter(({ result, error }) => result ?? error)).toHaveLength(1);
    });

    test('is asked for input where the revision knows the question', async () => {
      const from = peer.asked.length;
      const elicited = await peer.callTool('test_elicitation', { message: 'Who are you?' });
      if (has.elicitation) {
        expect(peer.asked.slice(from)).toMatchObject([
          { method: 'elicitation/create', params: { message: 'Who are you?' } },
        ]);
        expect(elicited.content[0]?.text).toContain('ada@example.com');
      } else {
        expect(peer.asked.slice(from)).toEqual([]);
        expect(elicited.isError).toBe(true);
      }
    });

    test('is asked to sample, and its answer reaches the tool', async () => {
      const from = peer.asked.length;
      const { text } = await only('test_sampling', { prompt: 'Capital of France?' });
      expect(peer.asked.slice(from)).toMatchObject([{ method: 'sampling/createMessage', params: { maxTokens: 100 } }]);
      expect(text).toBe('LLM response: Paris');
    });

    test('is asked for its roots by the same tool on every revision', async () => {
      const from = peer.asked.length;
      const { text } = await only('test_input_required_result_list_roots');
      expect(peer.asked.slice(from).map(({ method }) => method)).toEqual(['roots/list']);
      expect(text).toContain('file:///home/ada');
    });

    test('goes through several rounds of questions in one call', async () => {
      if (!has.elicitation) {
        expect((await peer.callTool('test_input_required_result_multi_round')).isError).toBe(true);
        return;
      }
      const from = peer.asked.length;
      const { text } = await only('test_input_required_result_multi_round');
      expect(peer.asked.slice(from).map(({ method }) => method)).toEqual(['elicitation/create', 'elicitation/create']);
      expect(text).toContain('Ada');
      expect(text).toContain('blue');
    });

    test('hears of changes while it watches, and not afterwards', async () => {
      const read = async () => (await peer.readResource(watched))[0]?.text;
      const before = await read();
      const stop = await peer.watch([watched]);
      const seen = { tools: count(changes.tools), prompts: count(changes.prompts), resource: count(changes.resource) };

      await peer.callTool('test_trigger_resource_update');
      await until(() => count(changes.resource) > seen.resource);
      const update = peer.received.findLast(({ method }) => method === changes.resource);
      expect(update?.params?.uri).toBe(watched);
      expect(await read()).not.toBe(before);
      await peer.callTool('test_trigger_tool_change');
      await until(() => count(changes.tools) > seen.tools);
      await peer.callTool('test_trigger_prompt_change');
      await until(() => count(changes.prompts) > seen.prompts);

      await stop();
      const heard = count(changes.resource);
      await peer.callTool('test_trigger_resource_update');
      // Another round trip, so that a stray notification would have had the time to arrive.
      await peer.callTool('test_simple_text');
      expect(count(changes.resource)).toBe(heard);
      expect(heard).toBe(seen.resource + 1);
    });

    test('answers and asks without mixing up calls that run at once', async () => {
      const calls = Array.from({ length: 20 }, (_, n) => peer.readResource(`test://template/${n}/data`));
      const ids = (await Promise.all(calls)).map(([data]) => JSON.parse(data?.text ?? '').id);
      expect(ids).toEqual(Array.from({ length: 20 }, (_, n) => String(n)));
    });

    if (revision !== '2026-07-28') {
      test('pings', async () => {
        expect(await peer.ping?.()).toEqual({});
      });
    }
  });
}

function bytes(base64: string | undefined): Buffer {
  return Buffer.from(base64 ?? '', 'base64');
}
