// The server of the suite with the new line of the official SDK, over Streamable HTTP: sessions for the older revisions,
// and requests without one for the newest.
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  hostHeaderValidationResponse,
  inputRequired,
  inputResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  MissingRequiredClientCapabilityError,
  originValidationResponse,
  ProtocolError,
  ResourceNotFoundError,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { complete, eventStore, prompts, read, resources, resourceTemplates, tools } from './offer.mjs';

const codec = createRequestStateCodec({ key: randomBytes(32) });

/** Ends a run that needs answers; the handler runs again when they are there. */
class InputNeeded extends Error {
  constructor(requests, answers) {
    super('answers are needed');
    this.requests = requests;
    this.answers = answers;
  }
}

const isAnswer = {
  'elicitation/create': ({ kind, content, action }) =>
    kind === 'elicit' && (action !== 'accept' || content !== undefined),
  'sampling/createMessage': ({ kind }) => kind === 'sampling',
  'roots/list': ({ kind }) => kind === 'roots',
};

/** What a tool can do with the client that calls it. */
const peerOf = (server, { mcpReq, http }) => {
  const answers = { ...mcpReq.requestState() };
  return {
    can: (capability) => {
      const declared = mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'];
      return (declared ?? server.server.getClientCapabilities())?.[capability] !== undefined;
    },
    need(capability) {
      if (this.can(capability)) return;
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { [capability]: {} } });
    },
    async ask(requests) {
      for (const [key, { method }] of Object.entries(requests)) {
        if (key in answers) continue;
        if (isAnswer[method](inputResponse(mcpReq.inputResponses, key))) answers[key] = mcpReq.inputResponses[key];
      }
      const missing = Object.entries(requests).filter(([key]) => !(key in answers));
      if (missing.length > 0) throw new InputNeeded(Object.fromEntries(missing), answers);
      return answers;
    },
    async progress(progress, total) {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken === undefined) return;
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
    },
    log: (level, data) => mcpReq.log(level, data),
    closeStream: () => http?.closeSSE?.(),
  };
};

/** Runs to the end, or until answers are needed. */
async function attempt(run, server, context) {
  try {
    return await run(peerOf(server, context));
  } catch (error) {
    if (!(error instanceof InputNeeded)) throw error;
    const { requests: inputRequests, answers } = error;
    return inputRequired({ inputRequests, requestState: await codec.mint(answers) });
  }
}

function build() {
  const cached = { ttlMs: 60_000, cacheScope: 'public' };
  const server = new McpServer(
    { name: 'sdk-new', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: codec.verify },
      cacheHints: { 'tools/list': cached, 'prompts/list': cached, 'resources/list': cached },
    },
  );
  for (const [name, { input, run }] of Object.entries(tools)) {
    const inputSchema = fromJsonSchema(input ?? { type: 'object' });
    server.registerTool(name, { description: `The tool ${name}`, inputSchema }, (args, context) =>
      attempt((peer) => run(args, peer), server, context),
    );
  }
  const { server: wire } = server;
  wire.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) => ({
      name,
      description: `The prompt ${name}`,
      arguments: prompt.arguments ?? [],
    })),
  }));
  wire.setRequestHandler('prompts/get', ({ params }, context) => {
    const prompt = prompts[params.name];
    if (prompt === undefined) throw new ProtocolError(-32602, `Unknown prompt: ${params.name}`);
    const get = async (peer) => ({ messages: await prompt.get(params.arguments ?? {}, peer) });
    return attempt(get, server, context);
  });
  wire.setRequestHandler('resources/list', () => ({ resources }));
  wire.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
  wire.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const contents = read(uri);
    if (contents === undefined) throw new ResourceNotFoundError(uri);
    return { contents };
  });
  wire.setRequestHandler('completion/complete', ({ params }) => complete(params.argument));
  wire.setRequestHandler('resources/subscribe', () => ({}));
  wire.setRequestHandler('resources/unsubscribe', () => ({}));
  return server;
}

const stateless = createMcpHandler(build, { legacy: 'reject' });
const sessions = new Map();

async function serveSession(request) {
  const id = request.headers.get('mcp-session-id');
  let transport = sessions.get(id);
  if (id !== null && transport === undefined) return new Response(null, { status: 404 });
  if (transport === undefined) {
    transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: eventStore(),
      retryInterval: 500,
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    });
    await build().connect(transport);
  }
  return transport.handleRequest(request);
}

async function serve(request) {
  const rejected =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins());
  if (rejected !== undefined) return rejected;
  return (await isLegacyRequest(request)) ? serveSession(request) : stateless.fetch(request);
}

const server = createServer(toNodeHandler({ fetch: serve }));
server.listen(0, '127.0.0.1', () => console.error(`listening on http://127.0.0.1:${server.address().port}/mcp`));
