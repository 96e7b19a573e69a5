// The official SDK's new line (@modelcontextprotocol/client) as a peer, in each way it can settle on a revision.
import { Client, type Transport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { type Asked, answers, type Peer, type ResourceContent, type Revision, type ToolResult, tap } from './peer.ts';

export interface NewLineOptions {
  readonly mode: VersionNegotiationMode;
  /** The handshake revision to offer; the newest unless given. */
  readonly offer?: Revision;
}

/** Connects a new-line client. */
export async function connectNewLine(transport: Transport, { mode, offer }: NewLineOptions): Promise<Peer> {
  const received = tap(transport);
  const asked: Asked[] = [];
  const client = new Client(
    { name: 'new-line', version: '1.0.0' },
    {
      capabilities: { elicitation: {}, sampling: {}, roots: { listChanged: true } },
      versionNegotiation: { mode },
      ...(offer && { supportedProtocolVersions: [offer] }),
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push({ method: 'elicitation/create', params: { ...params } });
    return answers.elicitation({ ...params });
  });
  client.setRequestHandler('sampling/createMessage', ({ params }) => {
    asked.push({ method: 'sampling/createMessage', params: { ...params } });
    return answers.sampling();
  });
  client.setRequestHandler('roots/list', ({ params }) => {
    asked.push({ method: 'roots/list', params: { ...params } });
    return answers.roots();
  });
  await client.connect(transport);
  const stateless = client.getProtocolEra() === 'modern';

  return {
    revision: client.getNegotiatedProtocolVersion() ?? '',
    received,
    asked,
    serverName: () => client.getServerVersion()?.name,
    listTools: async () => (await client.listTools(undefined, { cacheMode: 'refresh' })).tools,
    callTool: async (name, args, { onProgress, signal, logLevel } = {}) => {
      if (logLevel && !stateless) await client.setLoggingLevel(logLevel);
      const meta = logLevel && stateless ? { _meta: { 'io.modelcontextprotocol/logLevel': logLevel } } : {};
      const options = { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) };
      return (await client.callTool({ name, ...(args && { arguments: args }), ...meta }, options)) as ToolResult;
    },
    listResources: async () => (await client.listResources(undefined, { cacheMode: 'refresh' })).resources,
    listResourceTemplates: async () =>
      (await client.listResourceTemplates(undefined, { cacheMode: 'refresh' })).resourceTemplates,
    readResource: async (uri) =>
      (await client.readResource({ uri }, { cacheMode: 'bypass' })).contents as ResourceContent[],
    listPrompts: async () => (await client.listPrompts(undefined, { cacheMode: 'refresh' })).prompts,
    getPrompt: async (name, args) => (await client.getPrompt({ name, ...(args && { arguments: args }) })).messages,
    completePrompt: async (prompt, argument, value) => {
      const ref = { type: 'ref/prompt' as const, name: prompt };
      return (await client.complete({ ref, argument: { name: argument, value } })).completion.values;
    },
    watch: async (uris) => {
      if (stateless) {
        const lists = { toolsListChanged: true, promptsListChanged: true };
        const subscription = await client.listen({ ...lists, resourceSubscriptions: [...uris] });
        return () => subscription.close();
      }
      for (const uri of uris) await client.subscribeResource({ uri });
      return async () => {
        for (const uri of uris) await client.unsubscribeResource({ uri });
      };
    },
    ...(stateless ? {} : { ping: () => client.ping() }),
    close: () => client.close(),
  };
}
