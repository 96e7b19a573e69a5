// The client the official suite checks: `node client-driver.mjs <url>`, with the scenario in the environment. Does what a
// scenario asks for through the public API of the build. `node client-driver.mjs --serve` prints a port and does so for each
// client-request.sh that connects to it: a process for each scenario takes longer to start than the scenario.
import { createServer } from 'node:net';
import { connect, createAuthorizer, createHookRedirector, EraCache, followRedirect } from '../../dist/client.js';

/**
 * @typedef {object} Scenario
 * @property {string} url of the server
 * @property {string} name
 * @property {string | undefined} wire the revision that is checked
 * @property {any} context what the scenario says about the client
 */

/**
 * Which revisions may be spoken: exactly the newest, or any with a handshake up to the one that is checked.
 * @param {Scenario} scenario
 */
function revisionOptions({ wire }) {
  if (wire === undefined) return {};
  if (wire >= '2026-07-28') return { revision: wire };
  const handshakes = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
  return { revision: 'handshake', revisions: handshakes.filter((each) => each <= wire) };
}

/**
 * What single scenarios say about the client's identity and grant.
 * @type {Record<string, (context: any) => object>}
 */
const identities = {
  'auth/basic-cimd': () => ({ clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' }),
  'auth/pre-registration': (context) => ({
    client: { clientId: context.client_id, clientSecret: context.client_secret, issuer: context.issuer },
  }),
  'auth/client-credentials-basic': (context) => ({
    grant: { kind: 'client-credentials' },
    client: { clientId: context.client_id, clientSecret: context.client_secret },
  }),
  'auth/client-credentials-jwt': (context) => ({
    grant: { kind: 'client-credentials' },
    client: { clientId: context.client_id, privateKey: context.private_key_pem, algorithm: context.signing_algorithm },
  }),
  'auth/enterprise-managed-authorization': (context) => ({
    client: { clientId: context.client_id, clientSecret: context.client_secret },
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
  'auth/wif-jwt-bearer': (context) => ({
    client: { clientId: context.client_id },
    grant: { kind: 'workload', assertion: context.valid_jwt },
  }),
};

/** @param {Scenario} scenario */
const authorizer = ({ url, name, wire, context }) =>
  createAuthorizer({
    server: url,
    clientName: 'conformance',
    ...(wire === undefined ? {} : { protocolVersion: wire }),
    redirector: createHookRedirector('http://localhost:3000/callback', followRedirect()),
    ...identities[name]?.(context),
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

/**
 * Each skill, as a host loads it: SKILL.md first, and the files only if that is what the entry says.
 * @param {import('../../src/client/index.ts').Client} client
 */
async function loadSkills(client) {
  for (const skill of await client.skills.list()) {
    const isLoaded = await client.skills.read(skill).then(
      () => true,
      (error) => {
        if (error.code !== 'skill-mismatch') throw error;
        return false;
      },
    );
    if (!isLoaded) continue;
    for (const { uri } of skill.resources === 'dynamic' ? [] : skill.resources) await client.skills.read(skill, uri);
  }
}

/** @type {Record<string, (client: import('../../src/client/index.ts').Client, context: any) => Promise<unknown>>} */
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
  'http-custom-headers': async (client, context) => {
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
  'sep-2640-client-no-prefetch': (client) => client.skills.list(),
  'sep-2640-client-verify-digest': loadSkills,
  'sep-2640-client-verify-size': loadSkills,
  'sep-2640-client-verify-frontmatter': loadSkills,
};

const authorized = async (/** @type {import('../../src/client/index.ts').Client} */ client) => {
  await client.listTools();
  await client.callTool('test-tool', {});
  await client.listTools({ cache: 'refresh' });
};

/**
 * The exit code.
 * @param {Scenario} scenario
 */
async function run(scenario) {
  /** @type {import('../../src/client/index.ts').Client | undefined} */
  let client;
  try {
    const isAuth = scenario.name.startsWith('auth/');
    client = await connect(scenario.url, {
      client: { name: 'mooring-conformance', version: '1.0.0' },
      handlers,
      // A later scenario may have the port of an earlier one.
      eraCache: new EraCache(),
      ...revisionOptions(scenario),
      ...(isAuth ? { authorizer: authorizer(scenario) } : {}),
    });
    const steps = scenarios[scenario.name] ?? (isAuth ? authorized : (each) => each.listTools());
    await steps(client, scenario.context);
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? `${error.name}: ${error.message}` : error);
    return 1;
  } finally {
    await client?.close();
  }
}

/** @param {readonly (string | undefined)[]} words the URL, the scenario, its revision and its context */
function scenarioOf([url = '', name = '', wire, context]) {
  return { url, name, wire: wire || undefined, context: JSON.parse(context || '{}') };
}

if (process.argv[2] === '--serve') {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.setEncoding('utf8').on('error', () => {});
    socket.on('data', async (chunk) => {
      text += chunk;
      const lines = text.split('\n');
      // The last one ends with a line break too, and nothing follows.
      if (lines.length === 5) socket.end(`${await run(scenarioOf(lines))}\n`);
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    console.log(typeof address === 'object' ? address?.port : '');
  });
} else {
  const env = process.env;
  const { MCP_CONFORMANCE_SCENARIO: name, MCP_CONFORMANCE_PROTOCOL_VERSION: wire } = env;
  process.exitCode = await run(scenarioOf([process.argv[2], name, wire, env.MCP_CONFORMANCE_CONTEXT]));
}
