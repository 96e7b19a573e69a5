// The console of a relay or of a recording: it shows messages, and has no server to call.

import { parseJson } from '../../common/parse-json.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { About, ConnectionState, ConsoleState } from '../api.ts';
import type { ConsoleSource } from '../contract.ts';
import { Capture } from '../feed/capture.ts';
import { Feed } from '../feed/feed.ts';

export class RelaySource implements ConsoleSource {
  readonly mode: 'relay' | 'recording';
  readonly feed: Feed;
  readonly revisions: readonly string[] = [];
  readonly snippets: ConsoleState['snippets'] = [];
  server: ConsoleState['server'];
  connection: ConnectionState | undefined;
  readonly #ticker: NodeJS.Timeout | undefined;

  constructor(mode: 'relay' | 'recording', target: string, raw: boolean) {
    this.mode = mode;
    this.feed = new Feed(new Capture({ raw }));
    this.server = { name: target, version: '' };
    if (mode === 'recording') return;
    this.connection = { status: 'connected', target };
    this.feed.listen((entry) => {
      if (entry.method === 'initialize' && entry.kind === 'response' && entry.text !== undefined)
        this.#learn(entry.text);
    });
    this.#ticker = setInterval(() => this.feed.rates.tick(this.feed.peers.size, 0), 1_000);
    this.#ticker.unref();
  }

  async about(): Promise<About> {
    return { settings: [], descriptions: [] };
  }

  async close(): Promise<void> {
    clearInterval(this.#ticker);
  }

  /** The server is known by name once it has answered `initialize`. */
  #learn(text: string): void {
    // Undefined if the text was cut.
    const message = parseJson(text);
    const result = isObject(message) ? message['result'] : undefined;
    const info = isObject(result) ? result['serverInfo'] : undefined;
    if (!isObject(info)) return;
    this.server = { name: String(info['name']).slice(0, 200), version: String(info['version'] ?? '').slice(0, 100) };
  }
}
