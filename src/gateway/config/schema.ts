// The JSON Schemas of our own keys: "mooring" in the entry of a server, and "gateway" beside the servers. What the gateway reads,
// the published schema of mooring.json and the reference in the documentation follow these tables.

import { maxTimerMs } from '../../common/wait.ts';
import { handshakeRevisions, statelessRevisions } from '../../protocol/revisions/index.ts';
import type { JsonSchema } from '../../schema/index.ts';
import { defaults } from './defaults.ts';
import { viewName } from './view-name.ts';

const texts = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const milliseconds = { type: 'integer', minimum: 0, maximum: maxTimerMs } as const;

/** A value that is not in the file. */
export const secretReference = {
  type: 'object',
  description:
    'The value is in MOORING_SECRET_<NAME>, in the file that MOORING_SECRET_<NAME>_FILE names, or is entered.',
  properties: { secret: { type: 'string', minLength: 1 } },
  required: ['secret'],
  additionalProperties: false,
} as const;

const filter = (what: string) => ({
  type: 'object',
  description: `${what} to show: globs in include and exclude; exclude wins.`,
  properties: {
    include: { ...texts, description: 'Only these. Default: all.' },
    exclude: { ...texts, description: 'All but these.' },
  },
  additionalProperties: false,
});

const override = {
  type: 'object',
  description: 'How single tools are shown, by the name their server gives them.',
  additionalProperties: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 128, description: 'Another name, before the prefix is added.' },
      title: { type: 'string', description: 'Another title.' },
      description: { type: 'string', description: 'Another description.' },
      annotations: {
        type: 'object',
        description: 'Annotations that replace those of the server.',
        properties: {
          title: { type: 'string' },
          readOnlyHint: { type: 'boolean' },
          destructiveHint: { type: 'boolean' },
          idempotentHint: { type: 'boolean' },
          openWorldHint: { type: 'boolean' },
        },
        additionalProperties: false,
      },
      hideArguments: { ...texts, description: 'Arguments that are neither shown nor accepted.' },
      defaults: {
        type: 'object',
        description: 'Fixed values of arguments, which are then neither shown nor accepted.',
      },
      taskSupport: {
        type: 'string',
        enum: ['forbidden', 'optional', 'required'],
        description: 'Whether calls may run as tasks of the gateway. Default: as the server says.',
      },
    },
    additionalProperties: false,
  },
} as const;

const auth = {
  type: 'object',
  description:
    'How the gateway authenticates itself. Default: the headers of the entry if it has any, otherwise OAuth if the server asks for it; nothing for commands.',
  properties: {
    kind: {
      type: 'string',
      enum: ['none', 'headers', 'oauth', 'client-credentials', 'token-exchange'],
      description:
        'none; headers: those of the entry; oauth: a user signs in once; client-credentials: the gateway has a secret or a key; token-exchange: the token of the caller is exchanged for one that the server accepts.',
    },
    scopes: { ...texts, description: 'OAuth scopes to request; with token-exchange, the only ones.' },
    clientId: {
      type: 'string',
      minLength: 1,
      description: 'A client that is registered with the authorization server.',
    },
    clientSecret: {
      anyOf: [{ type: 'string', minLength: 1 }, secretReference],
      description: `Its secret; write \${NAME} to take it from the environment, or { "secret": "name" }.`,
    },
    privateKeyFile: { type: 'string', minLength: 1, description: 'Its private key (PEM), instead of a secret.' },
    keyAlgorithm: { type: 'string', minLength: 1, description: 'The algorithm of the key, such as RS256 or ES256.' },
    issuer: {
      type: 'string',
      minLength: 1,
      description: 'The only authorization server that gets the secret, and the tokens of callers.',
    },
    resource: {
      type: 'string',
      minLength: 1,
      description:
        'The resource that tokens are requested for, if the authorization server knows the server under another name. Default: what the server publishes.',
    },
    extraParams: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        'More parameters of the authorization request, such as audience or access_type; of the token request with client-credentials and token-exchange.',
    },
    subjectTokenType: {
      type: 'string',
      enum: ['access_token', 'jwt'],
      description: 'What the token of the caller is called in the request. Default: access_token.',
    },
  },
  required: ['kind'],
  additionalProperties: false,
} as const;

/** "mooring" in the entry of a server. */
export const upstreamSchema = {
  type: 'object',
  description: 'Options of the gateway for this server. Other clients ignore them.',
  properties: {
    prefix: {
      anyOf: [{ type: 'string', minLength: 1 }, { const: false }],
      description: 'Text before the names of its tools and prompts. Default: the name of the entry. false: no prefix.',
    },
    tools: filter('Tools'),
    prompts: filter('Prompts'),
    resources: filter('Resources (URIs) and URI templates'),
    override,
    isolation: {
      type: 'string',
      enum: ['shared', 'principal', 'session', 'call'],
      description:
        'Which callers share a connection: all, those of one user, those of one session, none. Default: shared; principal if callers are authenticated.',
    },
    start: {
      type: 'string',
      enum: ['lazy', 'eager'],
      default: defaults.start,
      description: 'When it is started: with the first call, or with the gateway.',
    },
    idleMs: {
      ...milliseconds,
      default: defaults.idleMs,
      description: 'A command without work is stopped after this time; 0: never.',
    },
    restart: {
      type: 'object',
      description:
        'When a server that ended is started again: the pause grows from minMs to maxMs; after this many attempts within withinMs it is down.',
      properties: {
        minMs: { ...milliseconds, default: defaults.restart.minMs },
        maxMs: { ...milliseconds, default: defaults.restart.maxMs },
        tries: { type: 'integer', minimum: 1, maximum: 1_000, default: defaults.restart.tries },
        withinMs: { ...milliseconds, default: defaults.restart.withinMs },
      },
      additionalProperties: false,
    },
    maxProcesses: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000,
      default: defaults.maxProcesses,
      description: 'Maximum number of processes of this server, with an isolation other than shared.',
    },
    timeoutMs: {
      ...milliseconds,
      minimum: 1,
      default: defaults.timeoutMs,
      description: 'Time limit for a call, extended by progress.',
    },
    maxTimeoutMs: {
      ...milliseconds,
      minimum: 1,
      default: defaults.maxTimeoutMs,
      description: 'Time limit for a call, even if it reports progress.',
    },
    revision: {
      type: 'string',
      enum: ['auto', 'handshake', ...handshakeRevisions, ...statelessRevisions],
      default: defaults.revision,
      description: 'Protocol revision: auto, handshake (only those with initialize), or a date.',
    },
    auth,
    forwardHeaders: {
      ...texts,
      description:
        "Headers of the client's request to forward. Credentials and headers of the protocol cannot be forwarded.",
    },
    roots: {
      ...texts,
      description: 'Folders or file: URIs for the server where the client does not support roots.',
    },
    asks: {
      type: 'array',
      items: { type: 'string', enum: ['elicitation', 'sampling', 'roots'] },
      default: defaults.asks,
      description: 'Input requests of the server that may reach clients.',
    },
    pin: {
      type: 'string',
      enum: ['off', 'warn', 'block'],
      default: defaults.pin,
      description: 'What happens if a tool has changed since it was accepted.',
    },
    newTools: {
      type: 'string',
      enum: ['allow', 'hold'],
      default: defaults.newTools,
      description: 'hold: new tools are not shown until they are accepted.',
    },
    refreshMs: {
      ...milliseconds,
      minimum: 1_000,
      default: defaults.refreshMs,
      description: 'How often lists are read again if the server does not announce changes.',
    },
    maxResultBytes: {
      type: 'integer',
      minimum: 1_024,
      default: defaults.maxResultBytes,
      description: 'Largest result that is passed on.',
    },
    required: { type: 'boolean', default: defaults.required, description: '/readyz fails while this server is down.' },
    validate: {
      type: 'boolean',
      default: defaults.validate,
      description: 'Validate arguments here, before the server does.',
    },
    identify: {
      type: 'boolean',
      default: defaults.identify,
      description: "Send the name and version of the caller's client to the server.",
    },
    inheritEnv: { ...texts, description: 'Environment variables that a command gets besides the minimum and env.' },
    sandbox: {
      type: 'object',
      description: 'Run the command in a sandbox (Linux, bubblewrap): it sees only these folders.',
      properties: {
        readOnly: { ...texts, description: 'Folders that it can read.' },
        writable: {
          ...texts,
          description: 'Folders that it can change. Its working folder must be one of these or of readOnly.',
        },
        network: {
          type: 'string',
          enum: ['none', 'host'],
          default: 'none',
          description: 'host: it can use the network.',
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const view = {
  type: 'object',
  description: 'A selection of servers and tools with an address of its own: /mcp/v/<name>.',
  properties: {
    servers: {
      anyOf: [{ ...texts, minItems: 1 }, { const: '*' }],
      default: '*',
      description: 'Names of entries; "*": all.',
    },
    tools: filter('Tools (names at the gateway)'),
    prompts: filter('Prompts (names at the gateway)'),
    resources: filter('Resources (URIs) and URI templates'),
    mode: {
      type: 'string',
      enum: ['all', 'search', 'auto'],
      default: defaults.mode,
      description:
        'search: list only shortList and tools that find, describe and call the others; auto: if the list exceeds maxListBytes.',
    },
    shortList: { ...texts, description: 'Tools (names at the gateway) that a search view lists.' },
    maxListBytes: {
      type: 'integer',
      minimum: 1_024,
      default: defaults.maxListBytes,
      description: 'A longer list of tools is reported, or searched with mode auto.',
    },
    allow: {
      type: 'object',
      description: 'Who may use the view: callers with one of these ids (globs), or with all of these scopes.',
      properties: { principals: texts, scopes: texts },
      minProperties: 1,
      additionalProperties: false,
    },
    tasks: {
      type: 'string',
      enum: ['by-server', 'when-slow'],
      default: defaults.tasks,
      description:
        'when-slow: slow calls of servers without tasks become tasks of the gateway, where the client has tasks.',
    },
    instructions: { type: 'string', description: 'Put before the instructions of the servers.' },
  },
  additionalProperties: false,
} as const;

/** "gateway" beside the servers. */
export const gatewaySchema = {
  type: 'object',
  description: 'Options of the gateway and its views.',
  properties: {
    views: {
      type: 'object',
      description: 'Views by name. "default" changes what /mcp shows.',
      propertyNames: { pattern: viewName.source },
      additionalProperties: view,
    },
    bareNames: {
      type: 'string',
      enum: ['apps', 'unique', 'off'],
      default: defaults.bareNames,
      description:
        'Which tools can also be called by the name their server gives them: those of servers with app pages, all that are unique, none.',
    },
    drainMs: {
      ...milliseconds,
      default: defaults.drainMs,
      description: 'How long calls of a removed or changed server may continue.',
    },
    firstListMs: {
      ...milliseconds,
      default: defaults.firstListMs,
      description: 'How long the first list waits for a server that has never been connected.',
    },
    catalog: {
      type: 'boolean',
      default: defaults.catalog,
      description: 'Keep lists on disk, so the next start can show them immediately.',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
