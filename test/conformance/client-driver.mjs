// The client the official suite checks: `node client-driver.mjs <url>`, with the scenario in the environment. Does what a
// scenario asks for through the public API of the build.
import { connect, createAuthorizer, createHookRedirector, followRedirect } from '../../dist/client.js';

const url = process.argv[2] ?? '';
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const wire = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

/** Which revisions may be spoken: exactly the newest, or any with a handshake up to the one that is checked. */
function revisionOptions() {
  if (wire === undefined) return {};
  if (wire >= '2026-07-28') return { revision: wire };
  const handshakes = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
  return { revision: 'handshake', revisions: handshakes.filter((each) => each <= wire) };
}

const { client_id: clientId, client_secret: clientSecret } = context;

/** What single scenarios say about the client's identity and grant. */
const identities = {
  'auth/basic-cimd': () => ({ clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' }),
  'auth/pre-registration': () => ({ client: { clientId, clientSecret, issuer: context.issuer } }),
  'auth/client-credentials-basic': () => ({
    grant: { kind: 'client-credentials' },
    client: { clientId, clientSecret },
  }),
  'auth/client-credentials-jwt': () => ({
    grant: { kind: 'client-credentials' },
    client: { clientId, privateKey: context.private_key_pem, algorithm: context.signing_algorithm },
  }),
  'auth/enterprise-managed-authorization': () => ({
    client: { clientId, clientSecret },
    grant: {
      kind: 'enterprise',
      subjectToken: context.idp_id_token,
      identityProvider: {
        issuer: context.idp_issuer,
        clientId: context.idp_client_id,
        tokenEndpoint: context.idp_token_endpoint,
      },
    },
  }),
  'auth/wif-jwt-bearer': () => ({ client: { clientId }, grant: { kind: 'workload', assertion: context.valid_jwt } }),
};

const authorizer = () =>
  createAuthorizer({
    server: url,
    clientName: 'conformance',
    ...(wire === undefined ? {} : { protocolVersion: wire }),
    redirector: createHookRedirector('http://localhost:3000/callback', followRedirect()),
    ...identities[scenario]?.(),
  });

const handlers = {
  elicit: () => ({ action: 'accept', content: {} }),
  sample: () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'fine' } }),
  roots: [{ uri: 'file:///tmp' }],
};

/** @param {import('../../src/client/index.ts').Client} client */
async function everything(client) {
  const tools = await client.listTools();
  for (const { name } of tools) await client.callTool(name, {});
  for (const { uri } of await client.listResources()) await client.readResource(uri);
  for (const { name } of await client.listPrompts()) await client.getPrompt(name, {});
}

/** @type {Record<string, (client: import('../../src/client/index.ts').Client) => Promise<unknown>>} */
const scenarios = {
  initialize: (client) => client.listTools(),
  tools_call: async (client) => {
    await client.listTools();
    await client.callTool('add_numbers', { a: 5, b: 3 });
  },
  'elicitation-sep1034-client-defaults': (client) => client.callTool('test_client_elicitation_defaults', {}),
  'sse-retry': (client) => client.callTool('test_reconnection', {}),
  'request-metadata': (client) => client.listTools(),
  'http-standard-headers': everything,
  'http-custom-headers': async (client) => {
    await client.listTools();
    for (const { name, arguments: args } of context.toolCalls ?? []) await client.callTool(name, args);
  },
  'http-invalid-tool-headers': everything,
  'sep-2322-client-request-state': everything,
  'json-schema-ref-no-deref': (client) => client.listTools(),
  'json-schema-2020-12-preservation': async (client) => {
    const tools = await client.listTools();
    const tool = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    await client.callTool('json_schema_echo', { schema: tool?.inputSchema });
  },
};

const authorized = async (/** @type {import('../../src/client/index.ts').Client} */ client) => {
  await client.listTools();
  await client.callTool('test-tool', {});
  await client.listTools({ cache: 'refresh' });
};

/** @type {import('../../src/client/index.ts').Client | undefined} */
let client;
try {
  const isAuth = scenario.startsWith('auth/');
  client = await connect(url, {
    client: { name: 'mooring-conformance', version: '1.0.0' },
    handlers,
    ...revisionOptions(),
    ...(isAuth ? { authorizer: authorizer() } : {}),
  });
  await (scenarios[scenario] ?? (isAuth ? authorized : (each) => each.listTools()))(client);
} catch (error) {
  console.error(error instanceof Error ? `${error.name}: ${error.message}` : error);
  process.exitCode = 1;
} finally {
  await client?.close();
}
