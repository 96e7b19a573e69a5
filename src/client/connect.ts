// connect(): finds out how to reach a server and what it speaks, and hands out a client.

import { silentLogger } from '../protocol/log.ts';
import { ClientVocabulary } from '../protocol/revisions/client-vocabulary.ts';
import { handshakeRevisions } from '../protocol/revisions/index.ts';
import { CacheView, ResponseCache } from './cache.ts';
import { Client, type ClientParts } from './client.ts';
import { Conversation } from './conversation.ts';
import { ClientError, clientErrors } from './errors.ts';
import { Inputs } from './inputs.ts';
import { Opening } from './opening.ts';
import { type ConnectOptions, type Limits, settleLimits } from './options.ts';
import { type Destination, type Target, toDestination } from './target.ts';
import { sharedVerdicts } from './verdicts.ts';
import { version } from './version.ts';

/**
 * Connects to a server of any revision.
 *
 * @example
 * const client = await connect('npx -y mooring');
 * const { content } = await client.callTool('time');
 * await client.close();
 */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Client> {
  const limits = settleLimits(options);
  const destination = toDestination(target, options, limits);
  const inputs = new Inputs(options.handlers ?? {}, options.capabilities);
  const logger = options.logger ?? silentLogger;
  const vocabulary = chooseVocabulary(options, inputs);
  let client: Client | undefined;
  const events = Client.eventsFor(options, () => client);

  const open = async (signal: AbortSignal): Promise<Conversation> => {
    const dial = async (kind: 'usual' | 'sse'): Promise<Conversation> => {
      const transport = await destination.dial(kind);
      const conversation = new Conversation(transport, inputs, limits, events, logger);
      try {
        await unlessAborted(transport.open(conversation), signal);
      } catch (error) {
        await transport.close();
        throw error;
      }
      return conversation;
    };
    const { address, hasSse, verdictKey } = destination;
    const verdicts =
      options.verdicts === false || verdictKey === undefined ? undefined : (options.verdicts ?? sharedVerdicts);
    return new Opening({ address, hasSse, verdictKey, vocabulary, limits, verdicts, dial, signal }).run();
  };

  const conversation = await inTime(options.signal, limits, destination, open);
  client = new Client(conversation, {
    address: destination.address,
    options,
    limits,
    logger,
    inputs,
    cache: cacheFor(options, destination),
    reopen: destination.redial ? (signal) => inTime(signal, limits, destination, open) : undefined,
  } satisfies ClientParts);
  await followLists(client, options);
  return client;
}

/** The time limit of connecting, and the caller's own wish to stop. */
async function inTime(
  given: AbortSignal | undefined,
  { connectTimeoutMs }: Limits,
  { address }: Destination,
  open: (signal: AbortSignal) => Promise<Conversation>,
): Promise<Conversation> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(clientErrors.connectTimeout(address, [])), connectTimeoutMs);
  const stop = (): void => {
    const reason: unknown = given?.reason;
    controller.abort(reason instanceof ClientError ? reason : clientErrors.cancelled('connect', reason));
  };
  if (given?.aborted) stop();
  given?.addEventListener('abort', stop, { once: true });
  try {
    return await open(controller.signal);
  } finally {
    clearTimeout(timer);
    given?.removeEventListener('abort', stop);
  }
}

/** Does not wait for what can not be waited for any longer. */
function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function chooseVocabulary({ client, revision = 'auto', revisions }: ConnectOptions, inputs: Inputs): ClientVocabulary {
  const chosen = revision === 'auto' ? undefined : revision === 'handshake' ? handshakeRevisions : [revision];
  const enabled = revisions === undefined ? chosen : (chosen ?? revisions).filter((each) => revisions.includes(each));
  if (enabled?.length === 0)
    throw clientErrors.configuration('No revision is left: "revision" and "revisions" disagree');
  try {
    return new ClientVocabulary(client ?? { name: 'mooring', version }, inputs.capabilities, enabled);
  } catch (cause) {
    throw clientErrors.configuration((cause as Error).message, cause);
  }
}

function cacheFor({ cache }: ConnectOptions, { address }: Destination): CacheView | undefined {
  return cache === false ? undefined : new CacheView(cache ?? new ResponseCache(), address);
}

/** Who wants to hear of changed lists hears of them on every revision, also where they must be asked for. */
async function followLists(client: Client, { onListChanged, logger }: ConnectOptions): Promise<void> {
  if (onListChanged === undefined || !client.mustListen) return;
  const wanted = (['tools', 'prompts', 'resources'] as const).filter((kind) => client.announces(kind));
  if (wanted.length === 0) return;
  try {
    await client.watch(Object.fromEntries(wanted.map((kind) => [kind, true])));
  } catch (error) {
    logger?.warn('changes of lists can not be followed', { error });
  }
}
