// What the official suite asks a server for, independent of the SDK that serves it: tools, prompts and resources as data.
// A tool gets its arguments and its peer, through which it asks, reports and logs.

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQz38NAAIqAXp4ksuCAAAAAElFTkSuQmCC';
const wav = 'UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==';

const text = (words) => ({ content: [{ type: 'text', text: words }] });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const image = { type: 'image', data: png, mimeType: 'image/png' };
const resource = (uri, mimeType, words) => ({ type: 'resource', resource: { uri, mimeType, text: words } });

const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const form = (message, requestedSchema) => ({ method: 'elicitation/create', params: { message, requestedSchema } });
const field = (message, name, type = 'string') => form(message, object({ [name]: { type } }));
const sampling = (words, maxTokens = 100) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens },
});
const roots = { method: 'roots/list', params: {} };
const titled = (...values) => values.map((value, i) => ({ const: value, title: `Choice ${i + 1}` }));

const defaultsForm = object(
  {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  [],
);

const enumsForm = object(
  {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled('value1', 'value2', 'value3') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled('value1', 'value2', 'value3') } },
  },
  [],
);

const modernSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a JSON Schema keyword, never awaited
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

/** A tool that asks for some things at once, and then says what it got. */
const asking = (requests) => async (_args, peer) => text(JSON.stringify(await peer.ask(requests)));

/** Tools by name: `input` is a JSON Schema; `run` may throw. */
export const tools = {
  test_simple_text: { run: () => text('This is a simple text response for testing.') },
  test_image_content: { run: () => ({ content: [image] }) },
  test_audio_content: { run: () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }) },
  test_embedded_resource: {
    run: () => ({
      content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  },
  test_multiple_content_types: {
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: {
    run: () => {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
  test_tool_with_progress: {
    run: async (_args, peer) => {
      for (const step of [0, 50, 100]) {
        await peer.progress(step, 100);
        await pause(50);
      }
      return text('Progress reported');
    },
  },
  test_tool_with_logging: {
    run: async (_args, peer) => {
      for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await peer.log('info', words);
        await pause(50);
      }
      return text('Messages logged');
    },
  },
  test_logging_tool: {
    run: async (_args, peer) => {
      for (const level of ['debug', 'info', 'warning', 'error']) await peer.log(level, { at: level });
      return text('Messages logged');
    },
  },
  test_reconnection: {
    run: async (_args, peer) => {
      peer.closeStream();
      await pause(100);
      return text('The stream was closed and resumed');
    },
  },
  test_sampling: {
    input: object({ prompt: { type: 'string' } }),
    run: async ({ prompt }, peer) => {
      const { answer } = await peer.ask({ answer: sampling(prompt) });
      return text(`LLM response: ${answer.content?.text}`);
    },
  },
  test_elicitation: {
    input: object({ message: { type: 'string' } }),
    run: async ({ message }, peer) => {
      const fields = object({ username: { type: 'string' }, email: { type: 'string' } });
      const { answer } = await peer.ask({ answer: form(message, fields) });
      return text(`User response: ${JSON.stringify(answer)}`);
    },
  },
  test_elicitation_sep1034_defaults: { run: asking({ answer: form('Please review the fields', defaultsForm) }) },
  test_elicitation_sep1330_enums: { run: asking({ answer: form('Please select options', enumsForm) }) },
  test_streaming_elicitation: {
    run: async (_args, peer) => {
      await peer.progress(1, 2);
      return asking({ answer: field('Please confirm', 'confirmed', 'boolean') })({}, peer);
    },
  },
  test_missing_capability: {
    run: (_args, peer) => {
      peer.need('sampling');
      return text('The client can sample');
    },
  },
  test_input_required_result_elicitation: { run: asking({ user_name: field('What is your name?', 'name') }) },
  test_input_required_result_sampling: {
    run: asking({ capital_question: sampling('What is the capital of France?') }),
  },
  test_input_required_result_list_roots: { run: asking({ client_roots: roots }) },
  test_input_required_result_request_state: {
    run: async (_args, peer) => {
      await peer.ask({ confirm: field('Please confirm', 'ok', 'boolean') });
      return text('state-ok');
    },
  },
  test_input_required_result_multiple_inputs: {
    run: asking({
      user_name: field('What is your name?', 'name'),
      greeting: sampling('Generate a greeting', 50),
      client_roots: roots,
    }),
  },
  test_input_required_result_multi_round: {
    run: async (_args, peer) => {
      const { step1 } = await peer.ask({ step1: field('Step 1: What is your name?', 'name') });
      const { step2 } = await peer.ask({ step2: field('Step 2: What is your favorite color?', 'color') });
      return text(JSON.stringify([step1, step2]));
    },
  },
  test_input_required_result_tampered_state: {
    run: async (_args, peer) => {
      await peer.ask({ confirm: field('Please confirm', 'ok', 'boolean') });
      return text('state-ok');
    },
  },
  test_input_required_result_capabilities: {
    run: (_args, peer) =>
      asking({
        ...(peer.can('elicitation') ? { name: field('What is your name?', 'name') } : {}),
        ...(peer.can('sampling') ? { greeting: sampling('Generate a greeting', 50) } : {}),
      })({}, peer),
  },
  json_schema_2020_12_tool: { input: modernSchema, run: (args) => text(JSON.stringify(args)) },
  test_x_mcp_header: {
    input: object({ region: { type: 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } }, ['region']),
    run: ({ region }) => text(`Running in ${region}`),
  },
};

const user = (content) => ({ role: 'user', content });
const argument = (name) => ({ name, description: `The argument ${name}`, required: true });

/** Prompts by name. */
export const prompts = {
  test_simple_prompt: { get: () => [user({ type: 'text', text: 'This is a simple prompt for testing.' })] },
  test_prompt_with_arguments: {
    arguments: [argument('arg1'), argument('arg2')],
    get: ({ arg1, arg2 }) => [user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
  },
  test_prompt_with_embedded_resource: {
    arguments: [argument('resourceUri')],
    get: ({ resourceUri }) => [
      user(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
      user({ type: 'text', text: 'Please process the embedded resource above.' }),
    ],
  },
  test_prompt_with_image: { get: () => [user(image), user({ type: 'text', text: 'Please analyze the image above.' })] },
  test_input_required_result_prompt: {
    get: async (_args, peer) => {
      const { user_context: answer } = await peer.ask({
        user_context: field('What context should be used?', 'context'),
      });
      return [user({ type: 'text', text: `Use this context: ${answer.content?.context}` })];
    },
  },
};

export const resources = [
  { uri: 'test://static-text', name: 'Static text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'Static binary', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'Watched resource', mimeType: 'text/plain' },
];

export const resourceTemplates = [
  { uriTemplate: 'test://template/{id}/data', name: 'Template', mimeType: 'application/json' },
];

/** The contents of a resource; undefined if there is none. */
export function read(uri) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return [{ uri, mimeType: 'application/json', text: JSON.stringify(data) }];
  }
  if (uri === 'test://static-binary') return [{ uri, mimeType: 'image/png', blob: png }];
  const found = resources.find((each) => each.uri === uri);
  return found && [{ uri, mimeType: found.mimeType, text: `This is the content of ${found.name}.` }];
}

export const complete = ({ value }) => ({
  completion: { values: ['hello', 'help', 'hamburg'].filter((each) => each.startsWith(value)), hasMore: false },
});

/** Events of streams, for clients that resume one. */
export function eventStore() {
  const events = [];
  return {
    async storeEvent(stream, message) {
      events.push({ stream, message });
      return `${events.length - 1}`;
    },
    async replayEventsAfter(last, { send }) {
      const { stream } = events[Number(last)];
      for (const [id, event] of events.entries()) {
        if (id > Number(last) && event.stream === stream && event.message.jsonrpc) await send(`${id}`, event.message);
      }
      return stream;
    },
  };
}
