// A small server with the extension io.modelcontextprotocol/tasks over HTTP, made of a table: what other implementations
// would answer, independent of ours. Its tasks change when a test says so.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

type Fields = Record<string, unknown>;

interface Task {
  readonly taskId: string;
  status: string;
  statusMessage?: string;
  inputRequests?: Fields;
  result?: Fields;
  error?: Fields;
}

const tools = ['work', 'ask', 'model', 'quick', 'fail'];
const text = (words: string): Fields => ({ content: [{ type: 'text', text: words }] });
const question = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Which harbour?',
    requestedSchema: {
      type: 'object',
      properties: { harbour: { type: 'string' }, tide: { type: 'string', enum: ['high tide', 'low tide'] } },
      required: ['harbour'],
    },
  },
};

const sampling = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };

export class TaskServer {
  readonly requests: { readonly method: string; readonly params: Fields; readonly name: string | undefined }[] = [];
  readonly #tasks = new Map<string, Task>();
  readonly #server: Server = createServer((request, response) => {
    void readJson(request).then(({ id, method, params }) => {
      const name = request.headers['mcp-name'];
      this.requests.push({ method, params, name: typeof name === 'string' ? name : undefined });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...this.#answer(method, params) }));
    });
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** The methods that clients called, in order. */
  get methods(): string[] {
    return this.requests.map(({ method }) => method);
  }

  task(id: string): Task {
    return this.#tasks.get(id) as Task;
  }

  /** Ends a task with a text. */
  complete(id: string, words: string): void {
    Object.assign(this.task(id), { status: 'completed', result: { resultType: 'complete', ...text(words) } });
  }

  #answer(method: string, params: Fields): Fields {
    const task = this.#tasks.get(params['taskId'] as string);
    if (method.startsWith('tasks/') && task === undefined) return error(-32602, 'Task not found');
    switch (method) {
      case 'server/discover':
        return complete({
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
          ttlMs: 0,
          cacheScope: 'private',
        });
      case 'tools/list':
        return complete({
          tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })),
          ttlMs: 0,
          cacheScope: 'private',
        });
      case 'tools/call':
        return params['name'] === 'quick' ? complete(text('at once')) : this.#create(params['name'] as string);
      case 'tasks/get':
        return complete(state(task as Task));
      case 'tasks/update':
        return this.#update(task as Task, params['inputResponses'] as Fields);
      case 'tasks/cancel':
        Object.assign(task as Task, { status: 'cancelled' });
        return complete({});
      default:
        return error(-32601, `Method not found: ${method}`);
    }
  }

  #create(name: string): Fields {
    const task: Task = { taskId: `task-${this.#tasks.size + 1}`, status: 'working' };
    this.#tasks.set(task.taskId, task);
    const created = { result: { ...state(task), resultType: 'task' } };
    if (name === 'ask') Object.assign(task, { status: 'input_required', inputRequests: { harbour: question } });
    if (name === 'model') Object.assign(task, { status: 'input_required', inputRequests: { model: sampling } });
    if (name === 'fail') Object.assign(task, { status: 'failed', error: { code: -32050, message: 'No wind' } });
    return created;
  }

  #update(task: Task, { harbour }: Fields): Fields {
    const { content } = harbour as { content: Fields };
    Object.assign(task, { status: 'working', statusMessage: '1/2' });
    delete task.inputRequests;
    setTimeout(() => this.complete(task.taskId, `to ${content['harbour']}`), 50);
    return complete({});
  }
}

const state = (task: Task): Fields => ({
  ...task,
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttlMs: 3_600_000,
  pollIntervalMs: 100,
});
const complete = (fields: Fields): Fields => ({ result: { resultType: 'complete', ...fields } });
const error = (code: number, message: string): Fields => ({ error: { code, message } });

async function readJson(request: IncomingMessage): Promise<{ id: number; method: string; params: Fields }> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return JSON.parse(body);
}
