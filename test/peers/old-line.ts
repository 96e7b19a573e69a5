// The official SDK's old line (@modelcontextprotocol/sdk) as a peer. It speaks the handshake revisions only.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  type JSONRPCMessage,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  type Asked,
  answers,
  everyPage,
  type Peer,
  type ResourceContent,
  type Revision,
  type ToolResult,
  tap,
} from './peer.ts';

/** Connects an old-line client that offers this revision. */
export async function connectOldLine(transport: Transport, revision: Revision): Promise<Peer> {
  const received = tap(transport);
  offer(transport, revision);
  const asked: Asked[] = [];
  const client = new Client(
    { name: 'old-line', version: '1.0.0' },
    { capabilities: { elicitation: {}, sampling: {}, roots: { listChanged: true } } },
  );
  client.setRequestHandler(ElicitRequestSchema, ({ method, params }) => {
    asked.push({ method, params });
    return answers.elicitation(params);
  });
  client.setRequestHandler(CreateMessageRequestSchema, ({ method, params }) => {
    asked.push({ method, params });
    return answers.sampling();
  });
  client.setRequestHandler(ListRootsRequestSchema, ({ method, params }) => {
    asked.push({ method, params: params ?? {} });
    return answers.roots();
  });
  await client.connect(transport);
  const agreed = received.find((message) => message.result?.protocolVersion !== undefined)?.result?.protocolVersion;

  return {
    revision: String(agreed),
    received,
    asked,
    serverName: () => client.getServerVersion()?.name,
    listTools: () =>
      everyPage(
        (params) => client.listTools(params),
        (page) => page.tools,
      ),
    callTool: async (name, args, { onProgress, signal, logLevel } = {}) => {
      if (logLevel) await client.setLoggingLevel(logLevel);
      const options = { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) };
      return (await client.callTool({ name, ...(args && { arguments: args }) }, undefined, options)) as ToolResult;
    },
    listResources: () =>
      everyPage(
        (params) => client.listResources(params),
        (page) => page.resources,
      ),
    listResourceTemplates: () =>
      everyPage(
        (params) => client.listResourceTemplates(params),
        (page) => page.resourceTemplates,
      ),
    readResource: async (uri) => (await client.readResource({ uri })).contents as ResourceContent[],
    listPrompts: () =>
      everyPage(
        (params) => client.listPrompts(params),
        (page) => page.prompts,
      ),
    getPrompt: async (name, args) => (await client.getPrompt({ name, ...(args && { arguments: args }) })).messages,
    completePrompt: async (prompt, argument, value) => {
      const ref = { type: 'ref/prompt' as const, name: prompt };
      return (await client.complete({ ref, argument: { name: argument, value } })).completion.values;
    },
    watch: async (uris) => {
      for (const uri of uris) await client.subscribeResource({ uri });
      return async () => {
        for (const uri of uris) await client.unsubscribeResource({ uri });
      };
    },
    ping: () => client.ping(),
    close: () => client.close(),
  };
}

// The old line always offers its newest revision, so an older one is written into its initialize request.
function offer(transport: Transport, revision: Revision): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!('method' in message) || message.method !== 'initialize') return send(message, options);
    const params = { ...message.params, protocolVersion: revision };
    return send({ ...message, params } as JSONRPCMessage, options);
  };
}
