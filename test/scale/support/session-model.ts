// One client with one session, and what it must see whatever happens to the processes that serve it. It sends each request to
// another process, loses connections, and resumes.
import { once } from 'node:events';
import { both, EventReader, type Message } from '../../support/http-client.ts';
import type { Node, Topology } from './topology.ts';

/** How long a client waits for something that must come. Long: the machine may be busy. */
const patienceMs = 30_000;

/** Something that must not happen. */
export class Violation extends Error {}

export function check(holds: boolean, what: () => string): asserts holds {
  if (!holds) throw new Violation(what());
}

export async function eventually(holds: () => boolean, what: () => string): Promise<void> {
  const until = performance.now() + patienceMs;
  for (let turn = 0; !holds(); turn++) {
    check(performance.now() < until, what);
    await (turn < 50
      ? new Promise((resolve) => setImmediate(resolve))
      : new Promise((resolve) => setTimeout(resolve, 5)));
  }
}

/** A call that asks its client several times, on one or more connections one after the other. */
export class DialogueModel {
  readonly id: number;
  readonly rounds: number;
  readonly answers: string[] = [];
  readonly readers: { readonly reader: EventReader; readonly node: Node }[] = [];
  /** The process that runs the call was killed, or may have been. */
  mayBeLost = false;

  constructor(id: number, rounds: number) {
    this.id = id;
    this.rounds = rounds;
  }

  /** Without the notifications that a question need not be answered any more. */
  get messages(): Message[] {
    return this.readers
      .flatMap(({ reader }) => reader.messages)
      .filter(({ method }) => method !== 'notifications/cancelled');
  }

  get last(): { readonly reader: EventReader; readonly node: Node } {
    return this.readers.at(-1) as { readonly reader: EventReader; readonly node: Node };
  }

  get isConnected(): boolean {
    return !this.last.reader.ended;
  }

  get questions(): Message[] {
    return this.messages.filter(({ method }) => method === 'elicitation/create');
  }

  get responses(): Message[] {
    return this.messages.filter(({ id, method }) => id === this.id && method === undefined);
  }

  get isOver(): boolean {
    return this.responses.length > 0;
  }

  /** The question that waits for an answer, if the client has received it. */
  get openQuestion(): Message | undefined {
    return this.questions[this.answers.length];
  }

  /** The client has seen that its last answer has arrived. */
  get isAnswerSeen(): boolean {
    return this.answers.length === 0 || this.isOver || this.openQuestion !== undefined;
  }

  get lastEventId(): string {
    const ids = this.readers
      .flatMap(({ reader }) => reader.events.map(({ id }) => id))
      .filter((id) => id !== undefined);
    return ids.at(-1) ?? '';
  }

  /** The name of the process that runs it: it is part of the ids of its events. */
  get process(): string {
    return this.lastEventId.slice(1, 9);
  }
}

export class SessionModel {
  readonly topology: Topology;
  readonly secret: string;
  /** Chooses the process for each request. */
  readonly #pickNode: (nodes: readonly Node[]) => Node;
  id = '';
  isDeleted = false;
  readonly dialogues: DialogueModel[] = [];
  readonly subscriptions = new Set<string>();
  readonly everSubscribed = new Set<string>();
  /** Its standalone streams, the last one may be open. */
  readonly streams: { readonly reader: EventReader; readonly node: Node }[] = [];
  /** A change that it must be told of, and how often it had been told of that resource before. */
  readonly #owed = new Map<string, { readonly before: number; readonly via: Node }>();
  #mayMiss = false;
  /** Where the standalone stream was when its connection was lost. */
  #cutFrom: Node | undefined;
  #ids = 0;

  constructor(topology: Topology, secret: string, pickNode: (nodes: readonly Node[]) => Node) {
    this.topology = topology;
    this.secret = secret;
    this.#pickNode = pickNode;
  }

  node(): Node {
    return this.#pickNode(this.topology.nodes);
  }

  async open(): Promise<void> {
    this.id = await this.node().client.initialize({ capabilities: { elicitation: {} } });
  }

  get headers(): Record<string, string> {
    return { Accept: both, 'Mcp-Session-Id': this.id };
  }

  async request(method: string, params: Record<string, unknown>, node = this.node()): Promise<Message> {
    const answer = await node.client.session(this.id, method, params, { id: ++this.#ids });
    check(answer.status === 200, () => `${this.secret}: ${method} got ${answer.status} ${answer.text}`);
    const message = answer.json ?? JSON.parse(answer.events.at(-1)?.data ?? 'null');
    check(message?.id === this.#ids, () => `${this.secret}: ${method} got the response ${answer.text}`);
    check(message.error === undefined, () => `${this.secret}: ${method} failed: ${answer.text}`);
    return message;
  }

  async echo(): Promise<void> {
    const text = `${this.secret} says ${this.#ids}`;
    const { result } = await this.request('tools/call', { name: 'echo', arguments: { text } });
    const [content] = (result?.['content'] ?? []) as { text?: string }[];
    check(content?.text === text, () => `${this.secret}: echo returned ${JSON.stringify(result)}`);
  }

  async notify(body: object, node = this.node()): Promise<number> {
    return (await node.client.send({ body: { jsonrpc: '2.0', ...body }, headers: this.headers })).status;
  }

  async ask(rounds: number): Promise<void> {
    const dialogue = new DialogueModel(++this.#ids, rounds);
    const node = this.node();
    const params = {
      name: 'dialogue',
      arguments: { secret: this.secret, rounds },
      _meta: { progressToken: dialogue.id },
    };
    const body = { jsonrpc: '2.0', id: dialogue.id, method: 'tools/call', params };
    const reader = new EventReader(await node.client.open({ body, headers: this.headers }));
    dialogue.readers.push({ reader, node });
    this.dialogues.push(dialogue);
    await this.expectProgress(dialogue);
  }

  /** A connected client has everything that the call sends before it waits again. */
  async expectProgress(dialogue: DialogueModel): Promise<void> {
    const expected = (): boolean =>
      dialogue.answers.length === dialogue.rounds ? dialogue.isOver : dialogue.openQuestion !== undefined;
    await eventually(
      () => expected() || !dialogue.isConnected,
      () => `${this.secret}: call ${dialogue.id} waits after ${JSON.stringify(dialogue.messages)}`,
    );
  }

  /** Answers the question of a call through another process. */
  async answer(dialogue: DialogueModel): Promise<void> {
    const question = dialogue.openQuestion;
    if (question === undefined) return;
    const text = `${this.secret} answers ${dialogue.answers.length}`;
    const answer = { id: question.id, result: { action: 'accept', content: { text } } };
    const status = await this.notify(answer, this.node());
    check(status === 202, () => `${this.secret}: the answer got ${status}`);
    dialogue.answers.push(text);
    if (dialogue.isConnected) await this.expectProgress(dialogue);
  }

  /** Resumes a call that has lost its connection. */
  async resume(dialogue: DialogueModel): Promise<void> {
    const node = this.node();
    const headers = { ...this.headers, Accept: 'text/event-stream', 'Last-Event-ID': dialogue.lastEventId };
    const reader = new EventReader(await node.client.open({ method: 'GET', headers }));
    if (reader.response.statusCode !== 200) {
      const { statusCode } = reader.response;
      check(statusCode === 400, () => `${this.secret}: resuming got ${statusCode}`);
      check(dialogue.mayBeLost, () => `${this.secret}: call ${dialogue.id} of a running process is not known any more`);
      this.forget(dialogue);
      return;
    }
    dialogue.readers.push({ reader, node });
    await this.expectProgress(dialogue);
  }

  /** The call was lost with its process. */
  forget(dialogue: DialogueModel): void {
    this.dialogues.splice(this.dialogues.indexOf(dialogue), 1);
  }

  async cancel(dialogue: DialogueModel): Promise<void> {
    const status = await this.notify({ method: 'notifications/cancelled', params: { requestId: dialogue.id } });
    check(status === 202, () => `${this.secret}: cancelling got ${status}`);
    await eventually(
      () => dialogue.isOver || !dialogue.isConnected,
      () => `${this.secret}: the cancelled call ${dialogue.id} does not end`,
    );
    this.checkOrder(dialogue);
    this.forget(dialogue);
  }

  async subscribe(uri: string): Promise<void> {
    this.everSubscribed.add(uri);
    await this.request('resources/subscribe', { uri });
    this.subscriptions.add(uri);
  }

  async unsubscribe(uri: string): Promise<void> {
    this.subscriptions.delete(uri);
    this.#owed.delete(uri);
    await this.request('resources/unsubscribe', { uri });
  }

  /** Opens the standalone stream, or reconnects it. */
  async listen(): Promise<void> {
    const node = this.node();
    const before = this.streams.at(-1);
    const last = this.streams
      .flatMap(({ reader }) => reader.events.map(({ id }) => id))
      .findLast((id) => id !== undefined);
    const open = async (id: string | undefined): Promise<EventReader> => {
      const resume = id === undefined ? {} : { 'Last-Event-ID': id };
      const headers = { ...this.headers, Accept: 'text/event-stream', ...resume };
      return new EventReader(await node.client.open({ method: 'GET', headers }));
    };
    let reader = await open(last);
    // The events of a process that was killed are gone: a client then opens a new stream.
    if (reader.response.statusCode === 400 && last !== undefined) reader = await open(undefined);
    check(reader.response.statusCode === 200, () => `${this.secret}: GET got ${reader.response.statusCode}`);
    this.streams.push({ reader, node });
    this.#mayMiss = false;
    this.#cutFrom = undefined;
    if (before !== undefined) {
      await eventually(
        // If both are still being opened, either of them may be the last one.
        () => before.reader.ended || reader.ended,
        () => `${this.secret}: the standalone stream is open twice`,
      );
    }
  }

  /**
   * Loses the connection of the standalone stream. If it had received no event id on it yet, it cannot say from where to continue: what
   * is sent until the server notices the loss is lost too.
   */
  unlisten(): void {
    const stream = this.streams.find(({ reader }) => !reader.ended);
    if (stream === undefined) return;
    this.#mayMiss = stream.reader.events.every(({ id }) => id === undefined);
    this.#cutFrom = stream.node;
    stream.reader.cut();
  }

  get isListening(): boolean {
    return this.streams.some(({ reader }) => !reader.ended);
  }

  told(uri: string): number {
    return this.streams.flatMap(({ reader }) => reader.messages).filter(({ params }) => params?.['uri'] === uri).length;
  }

  /** Something is about to change that it has subscribed to, through that process. */
  owe(uri: string, via: Node): void {
    if (this.subscriptions.has(uri) && !this.isDeleted && !this.#mayMiss)
      this.#owed.set(uri, { before: this.told(uri), via });
  }

  /** With a stream, it has been told of everything. */
  async expectChanges(): Promise<void> {
    if (!this.isListening) return;
    for (const [uri, { before }] of this.#owed) {
      await eventually(
        () => this.told(uri) > before || !this.isListening,
        () => `${this.secret}: it was not told that ${uri} has changed`,
      );
      if (this.told(uri) > before) this.#owed.delete(uri);
    }
  }

  async delete(): Promise<void> {
    const { status } = await this.node().client.send({ method: 'DELETE', headers: this.headers });
    check(status === 200, () => `${this.secret}: DELETE got ${status}`);
    this.isDeleted = true;
    for (const { client } of this.topology.nodes) {
      const answer = await client.session(this.id, 'ping');
      check(answer.status === 404, () => `${this.secret}: the deleted session got ${answer.status} ${answer.text}`);
    }
    const open = [...this.dialogues.map(({ last }) => last), ...this.streams];
    await eventually(
      () => open.every(({ reader }) => reader.ended),
      () => `${this.secret}: a stream of the deleted session is still open`,
    );
  }

  /** A process was killed: what was connected to it breaks, and what ran in it is lost. */
  async afterKill(killed: Node): Promise<void> {
    const { process } = killed;
    // A process announces a change after it has responded; one that is killed at once may not have announced it.
    for (const [uri, { via }] of this.#owed) if (via === killed) this.#owed.delete(uri);
    // What that process sent before it noticed the loss was in its memory only.
    if (this.#cutFrom !== undefined && (process === undefined || this.#cutFrom === killed)) this.#owed.clear();
    const broken = [...this.dialogues.map(({ last }) => last), ...this.streams].filter(({ node }) => node === killed);
    for (const { reader } of broken) {
      if (process !== undefined) reader.cut();
      if (process !== undefined && !reader.ended) await once(reader.response, 'close');
    }
    for (const dialogue of [...this.dialogues]) {
      // Which process waits for the answer is not known.
      if (!dialogue.isAnswerSeen && process === undefined) {
        dialogue.last.reader.cut();
        this.forget(dialogue);
        continue;
      }
      if (process !== undefined && dialogue.process !== process) continue;
      dialogue.mayBeLost = true;
      if (process === undefined) continue;
      // A connection to another process ends with an error instead of silence.
      await eventually(
        () => !dialogue.isConnected,
        () => `${this.secret}: call ${dialogue.id} hangs after its process was killed`,
      );
    }
  }

  /** No message twice, none left out, none of others. */
  checkOrder(dialogue: DialogueModel): void {
    const seen = dialogue.messages.map(({ id, method, params, error }) => {
      if (method === 'notifications/progress') return `progress ${params?.['progress']}`;
      if (method === 'elicitation/create') return `question ${params?.['message']}`;
      return `response ${id}${error === undefined ? '' : ` error ${error.code}`}`;
    });
    const complete: string[] = [];
    for (let round = 1; round <= dialogue.rounds; round++) {
      complete.push(`progress ${round}`, `question ${this.secret} ${round}`);
    }
    complete.push(`response ${dialogue.id}`);
    const lost = `response ${dialogue.id} error -32603`;
    const isLost = dialogue.mayBeLost && seen.at(-1) === lost;
    const order = isLost ? seen.slice(0, -1) : seen;
    check(
      order.every((each, i) => each === complete[i]),
      () => `${this.secret}: call ${dialogue.id} received ${seen.join(', ')}`,
    );
    const [response] = dialogue.responses;
    if (response === undefined || isLost) return;
    const [content] = (response.result?.['content'] ?? []) as { text?: string }[];
    check(
      content?.text === JSON.stringify(dialogue.answers),
      () => `${this.secret}: call ${dialogue.id} returned ${JSON.stringify(response)}`,
    );
  }

  /**
   * Nothing on its streams belongs to another session, and it was told only of what it subscribed to. `mayHaveGap`: a process that
   * does not know what was changed before it was started also announces that the lists may have changed.
   */
  checkStreams(secrets: readonly string[], mayHaveGap: boolean): void {
    const readers = [...this.streams, ...this.dialogues.flatMap((dialogue) => dialogue.readers)];
    const text = JSON.stringify(readers.flatMap(({ reader }) => reader.events));
    const foreign = secrets.find((secret) => secret !== this.secret && text.includes(secret));
    check(foreign === undefined, () => `${this.secret}: received something of ${foreign}: ${text}`);
    for (const { reader } of this.streams) {
      for (const { method, params } of reader.messages) {
        if (mayHaveGap && method?.endsWith('/list_changed')) continue;
        const uri = params?.['uri'] as string | undefined;
        check(
          uri !== undefined && this.everSubscribed.has(uri),
          () => `${this.secret}: was told of ${JSON.stringify(reader.messages)}`,
        );
      }
    }
  }
}
