// Our own client as a peer, so that the scenarios of the official clients run with it.
import { type Client, ClientError, type ConnectOptions, connect, type Target } from '../../src/client/index.ts';
import type { Message } from '../conformance/wire.ts';
import { type Asked, answers, type Content, type Peer, type ResourceContent, type ToolResult } from '../peers/peer.ts';

/** Connects our client and records what comes over the wire and what it is asked. */
export async function connectMooring(target: Target, options: ConnectOptions = {}): Promise<Peer> {
  const received: Message[] = [];
  const asked: Asked[] = [];
  const client = await connect(target, {
    ...options,
    onMessage: (direction, text) => {
      if (direction === 'in') received.push(JSON.parse(text) as Message);
    },
    handlers: {
      elicit: ({ message, schema }) => {
        const params = { message, requestedSchema: schema };
        asked.push({ method: 'elicitation/create', params });
        return answers.elicitation(params);
      },
      sample: (params) => {
        asked.push({ method: 'sampling/createMessage', params: { ...params } });
        return answers.sampling();
      },
      roots: () => {
        asked.push({ method: 'roots/list', params: {} });
        return answers.roots().roots;
      },
    },
  });
  return toPeer(client, received, asked);
}

function toPeer(client: Client, received: readonly Message[], asked: readonly Asked[]): Peer {
  return {
    revision: client.revision,
    received,
    asked,
    serverName: () => client.serverInfo?.name,
    listTools: () => client.listTools({ cache: 'refresh' }),
    callTool: async (name, args, { onProgress, signal, logLevel } = {}) => {
      if (logLevel) await client.setLogLevel(logLevel);
      return (await byCode(client.callTool(name, args, { onProgress, signal }))) as ToolResult;
    },
    listResources: () => client.listResources({ cache: 'refresh' }),
    listResourceTemplates: () => client.listResourceTemplates({ cache: 'refresh' }),
    readResource: async (uri) =>
      (await byCode(client.readResource(uri, { cache: 'bypass' }))).contents as ResourceContent[],
    listPrompts: () => client.listPrompts({ cache: 'refresh' }),
    getPrompt: async (name, args) =>
      (await byCode(client.getPrompt(name, args))).messages as readonly { role: string; content: Content }[],
    completePrompt: async (name, argument, value) =>
      (await client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } })).values,
    watch: async (uris) => {
      const watch = await client.watch({ tools: true, prompts: true, uris });
      return () => watch.close();
    },
    ping: async () => {
      await client.ping();
      return {};
    },
    close: () => client.close(),
  };
}

/** The scenarios look at the number the server gave. */
async function byCode<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof ClientError && error.serverError?.code !== undefined) {
      throw Object.assign(new Error(error.message), { code: error.serverError.code });
    }
    throw error;
  }
}
