// Pins: the definitions of tools as they were accepted. A tool that changes afterwards, when a user has already decided to
// trust it, is reported or withheld until the change is accepted.

import { assertKnownOptions } from '../../common/known-options.ts';
import type { Logger } from '../../common/logger.ts';
import type { Tool } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { PinChange, PinChecker, PinReport } from '../contract.ts';
import { contentFingerprintOf, definitionOf, fingerprintOf, type PinnedDefinition } from './fingerprint.ts';
import { LatestUses } from './latest-use.ts';
import {
  type Acceptance,
  noPins,
  type PinContent,
  pinFileVersion,
  readPinFile,
  withPinLock,
  writePinFile,
} from './pin-file.ts';

/** Where accepted tools are stored. */
export interface PinOptions {
  /** The file of accepted definitions. */
  readonly file: string;
  /** The configuration files of the gateway; none for commands about pins. */
  readonly configFiles?: readonly string[];
  /** Where changes are reported. Default: nowhere. */
  readonly logger?: Logger | undefined;
  /** Called once for each change that is found: for the audit log. */
  readonly onChange?: ((server: UpstreamConfig, change: PinChange) => void) | undefined;
}

const known: Record<keyof PinOptions, true> = { file: true, configFiles: true, logger: true, onChange: true };

/** A tool that is different from what was accepted. */
export interface PinDifference {
  readonly slug: string;
  readonly identity: string;
  readonly tool: string;
  readonly kind: 'new' | 'changed' | 'renamed';
  /** See `PinnedTool`. */
  readonly isEarlier: boolean;
  readonly accepted?: PinnedDefinition | undefined;
  readonly seen: PinnedDefinition;
}

/** An accepted tool. */
export interface PinnedTool {
  readonly slug: string;
  readonly identity: string;
  readonly tool: string;
  readonly fingerprint: string;
  readonly acceptedAt: string;
  readonly by: Acceptance['by'];
  /** It belongs to a command or URL that the server had before, and has in no configuration any more. */
  readonly isEarlier: boolean;
}

/** Tools of one server that are compared; stops a server with an endless list from filling the file. */
const maxTools = 5_000;
/** Longer definitions are compared but not stored, so their differences cannot be shown. */
const maxDefinitionChars = 64 * 1024;
const tooMany = `This server has more than ${maxTools} tools, and this one was not accepted.`;

interface SeenServer {
  readonly slug: string;
  readonly tools: ReadonlyMap<string, PinnedDefinition>;
}

/** Compares tools with a file of those that were accepted; for `createGateway(config, { pins })`. */
export class Pins implements PinChecker {
  readonly #file: string;
  readonly #logger: Logger | undefined;
  readonly #onChange: PinOptions['onChange'];
  /** The content of the file when it was last read. */
  #content: PinContent = noPins;
  #readAt = '';
  /** What is not in the file yet. */
  #unsaved: Acceptance[] = [];
  #definitions = new Map<string, PinnedDefinition>();
  #seen = new Map<string, SeenServer>();
  /** Servers whose entry in `#seen` is newer than the file. */
  readonly #remembered = new Set<string>();
  readonly #uses: LatestUses;
  /** Identities of servers that the next write leaves out. */
  readonly #removed = new Set<string>();
  #saving: Promise<void> = Promise.resolve();
  /** A write is scheduled, and will contain everything that is added before it starts. */
  #willSave = false;
  readonly #reported = new Set<string>();

  /** Throws a `PinFileError` if the file is damaged. */
  constructor(options: PinOptions) {
    assertKnownOptions('Pins', options, known);
    const { file, configFiles = [], logger, onChange } = options;
    this.#file = file;
    this.#uses = new LatestUses(configFiles);
    this.#logger = logger;
    this.#onChange = onChange;
    this.#refresh();
  }

  check(
    server: UpstreamConfig,
    tools: readonly Tool[],
    fingerprints?: readonly string[],
    isPrivate = false,
  ): PinReport {
    if (server.pin === 'off' && server.newTools === 'allow') return { shown: tools, withheld: new Map(), changes: [] };
    this.#refreshIfPossible();
    if (this.#uses.note(server, this.#all())) this.#save();
    const accepted = this.#acceptedOf(server.identity);
    const everyAccepted = isPrivate ? this.#everyAcceptedOf(server.identity) : undefined;
    const present = new Set(tools.map(({ name }) => name));
    const withheld = new Map<string, string>();
    const changes: PinChange[] = [];
    const compared: string[] = [];
    const seen = new Map<string, PinnedDefinition>();
    for (const [index, tool] of tools.entries()) {
      const { name } = tool;
      if (index >= maxTools) {
        if (server.pin === 'block' || server.newTools === 'hold') withheld.set(name, tooMany);
        continue;
      }
      const fingerprint = fingerprints?.[index] ?? fingerprintOf(definitionOf(tool));
      compared.push(fingerprint);
      if (accepted.get(name)?.fingerprint === fingerprint || everyAccepted?.has(fingerprint) === true) continue;
      const definition = definitionOf(tool);
      const change = this.#compare(server, definition, accepted, isPrivate ? undefined : present);
      if (change === undefined) continue;
      changes.push(change);
      if (change.kind !== 'new' || change.withheld) seen.set(name, definition);
      else this.#accept(server, definition, 'first-sight');
      if (change.withheld) withheld.set(name, withheldMessage(server, change));
    }
    for (const name of isPrivate ? [] : accepted.keys()) {
      if (!present.has(name)) changes.push({ tool: name, kind: 'removed', withheld: false });
    }
    this.#remember(server.identity, { slug: server.slug, tools: isPrivate ? this.#withEarlier(server, seen) : seen });
    // The first tools of a server are not a change.
    const news = accepted.size === 0 && server.newTools === 'allow' ? [] : changes;
    for (const change of news) this.#report(server, change);
    const shown = tools.filter(({ name }) => !withheld.has(name));
    return { shown, withheld, changes: news, fingerprints: compared };
  }

  /** The accepted tools, and what is different from them now. */
  list(): { readonly accepted: readonly PinnedTool[]; readonly differences: readonly PinDifference[] } {
    this.#refreshIfPossible();
    const identities = new Set([...this.#all().map(({ server }) => server), ...this.#seen.keys()]);
    const accepted: PinnedTool[] = [];
    const differences: PinDifference[] = [];
    const current = new Map<string, ReadonlySet<string>>();
    const isEarlier = (slug: string, identity: string): boolean => {
      const known = current.get(slug) ?? this.#uses.current(slug, this.#all());
      current.set(slug, known);
      return known.size > 0 && !known.has(identity);
    };
    for (const identity of identities) {
      const tools = this.#acceptedOf(identity);
      for (const { tool, slug, fingerprint, at, by } of tools.values()) {
        accepted.push({ slug, identity, tool, fingerprint, acceptedAt: at, by, isEarlier: isEarlier(slug, identity) });
      }
      const { slug, tools: seen } = this.#seen.get(identity) ?? nothingSeen;
      const server = { identity, slug, isEarlier: isEarlier(slug, identity) };
      for (const each of seen.values()) differences.push(this.#differenceOf(server, each, tools));
    }
    return { accepted, differences };
  }

  /** Accepts what was seen of a server, or of one of its tools. Returns the names of the tools. */
  accept(identity: string, slug: string, tool?: string): readonly string[] {
    this.#refreshIfPossible();
    const seen = this.#seen.get(identity)?.tools ?? new Map<string, PinnedDefinition>();
    const chosen = [...seen.values()].filter(({ name }) => tool === undefined || name === tool);
    for (const definition of chosen) this.#accept({ identity, slug }, definition, 'user');
    const left = new Map([...seen].filter(([name]) => !chosen.some((each) => each.name === name)));
    this.#remember(identity, { slug, tools: left });
    return chosen.map(({ name }) => name);
  }

  /** Removes everything that is known of servers with these identities: their tools are accepted again when they are first seen. */
  remove(identities: Iterable<string>): void {
    for (const identity of identities) {
      this.#removed.add(identity);
      this.#seen.delete(identity);
    }
    this.#save();
  }

  /** Waits until everything is in the file. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  /** What a definition is that is not as it was accepted. */
  #compare(
    server: UpstreamConfig,
    definition: PinnedDefinition,
    accepted: ReadonlyMap<string, Acceptance>,
    /** Undefined: other tools may be in the lists of other callers, so that none was renamed. */
    present: ReadonlySet<string> | undefined,
  ): PinChange | undefined {
    const { name } = definition;
    const known = accepted.get(name);
    if (known !== undefined) {
      if (server.pin === 'off') return undefined;
      return { tool: name, kind: 'changed', withheld: server.pin === 'block' };
    }
    const content = contentFingerprintOf(definition);
    const former = [...accepted.values()].find((each) => each.content === content && present?.has(each.tool) === false);
    if (former !== undefined && server.pin !== 'off') {
      return { tool: name, kind: 'renamed', formerName: former.tool, withheld: server.pin === 'block' };
    }
    return { tool: name, kind: 'new', withheld: server.newTools === 'hold' };
  }

  #differenceOf(
    { identity, slug, isEarlier }: Pick<PinDifference, 'identity' | 'slug' | 'isEarlier'>,
    seen: PinnedDefinition,
    tools: ReadonlyMap<string, Acceptance>,
  ): PinDifference {
    const known = tools.get(seen.name);
    const content = contentFingerprintOf(seen);
    const former = known ?? [...tools.values()].find((each) => each.content === content);
    const kind = known !== undefined ? 'changed' : former !== undefined ? 'renamed' : 'new';
    const accepted = former === undefined ? undefined : this.#definitions.get(former.fingerprint);
    return { slug, identity, tool: seen.name, kind, isEarlier, accepted, seen };
  }

  #all(): readonly Acceptance[] {
    const { acceptances } = this.#content;
    const all = this.#unsaved.length === 0 ? acceptances : [...acceptances, ...this.#unsaved];
    return this.#removed.size === 0 ? all : all.filter(({ server }) => !this.#removed.has(server));
  }

  /** The last acceptance of each tool of a server. */
  #acceptedOf(identity: string): ReadonlyMap<string, Acceptance> {
    const found = new Map<string, Acceptance>();
    for (const each of this.#all()) if (each.server === identity) found.set(each.tool, each);
    return found;
  }

  /** The fingerprints of all definitions that were ever accepted; each contains the name of its tool. */
  #everyAcceptedOf(identity: string): ReadonlySet<string> {
    return new Set(this.#all().flatMap(({ server, fingerprint }) => (server === identity ? [fingerprint] : [])));
  }

  /**
   * What was seen in the lists of several callers. Of a tool with several definitions the first stays until it is accepted, so
   * that what is accepted is what was shown.
   */
  #withEarlier({ identity }: UpstreamConfig, seen: SeenServer['tools']): SeenServer['tools'] {
    const earlier = this.#seen.get(identity)?.tools ?? nothingSeen.tools;
    return new Map([...earlier, ...[...seen].filter(([name]) => !earlier.has(name))].slice(0, maxTools));
  }

  #accept(
    { identity, slug }: Pick<UpstreamConfig, 'identity' | 'slug'>,
    definition: PinnedDefinition,
    by: Acceptance['by'],
  ): void {
    const fingerprint = fingerprintOf(definition);
    const content = contentFingerprintOf(definition);
    this.#unsaved.push({
      server: identity,
      slug,
      tool: definition.name,
      fingerprint,
      content,
      at: new Date().toISOString(),
      by,
    });
    // The fingerprint is enough to compare; a definition of any size would fill the file.
    if (sizeOf(definition) <= maxDefinitionChars) this.#definitions.set(fingerprint, definition);
    this.#save();
  }

  #remember(identity: string, seen: SeenServer): void {
    const before = this.#seen.get(identity) ?? nothingSeen;
    if (sameDefinitions(before.tools, seen.tools)) return;
    this.#seen.set(identity, seen);
    this.#remembered.add(identity);
    this.#save();
  }

  #report(server: UpstreamConfig, change: PinChange): void {
    const key = JSON.stringify([server.identity, change]);
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    const { tool, kind, formerName } = change;
    const what = kind === 'renamed' ? `renamed from ${formerName}` : kind === 'new' ? 'new' : kind;
    const fields = { server: server.slug, tool, withheld: change.withheld };
    if (kind === 'removed' || (kind === 'new' && !change.withheld)) this.#logger?.info(`a tool is ${what}`, fields);
    else this.#logger?.warn(`a tool differs from what was accepted: it is ${what}`, fields);
    this.#onChange?.(server, change);
  }

  /** Another process may have accepted something meanwhile. */
  #refresh(): void {
    const version = pinFileVersion(this.#file);
    if (version === this.#readAt) return;
    this.#content = readPinFile(this.#file);
    this.#readAt = version;
    for (const [fingerprint, each] of Object.entries(this.#content.definitions))
      this.#definitions.set(fingerprint, each);
    // Another process may have removed what was only in the file.
    for (const identity of [...this.#seen.keys()]) if (!this.#remembered.has(identity)) this.#seen.delete(identity);
    for (const [identity, { slug, tools }] of Object.entries(this.#content.seen)) {
      this.#seen.set(identity, { slug, tools: new Map(Object.entries(tools)) });
    }
    this.#uses.merge(this.#content.used);
  }

  /** If the file is damaged while the gateway runs, the content that was read before stays in use. */
  #refreshIfPossible(): void {
    try {
      this.#refresh();
    } catch (error) {
      this.#logger?.error((error as Error).message);
    }
  }

  /** One write at a time; changes during a write are part of the next one. */
  #save(): void {
    if (this.#willSave) return;
    this.#willSave = true;
    this.#saving = this.#saving
      .then(() =>
        withPinLock(this.#file, () => {
          this.#willSave = false;
          this.#write();
        }),
      )
      .catch((error: unknown) => {
        this.#willSave = false;
        this.#logger?.error(`pins cannot be stored: ${(error as Error).message}`, { file: this.#file });
      });
  }

  #write(): void {
    const mine = new Map([...this.#seen].filter(([identity]) => this.#remembered.has(identity)));
    this.#readAt = '';
    this.#refresh();
    for (const [identity, seen] of mine) this.#seen.set(identity, seen);
    for (const identity of this.#removed) this.#seen.delete(identity);
    const acceptances = this.#all();
    const last = new Map(acceptances.map((each) => [`${each.server} ${each.tool}`, each.fingerprint]));
    const current = new Set(last.values());
    const content: PinContent = {
      acceptances,
      definitions: Object.fromEntries([...this.#definitions].filter(([fingerprint]) => current.has(fingerprint))),
      seen: Object.fromEntries(
        [...this.#seen].flatMap(([identity, { slug, tools }]) => {
          const stored = [...tools].filter(([, definition]) => sizeOf(definition) <= maxDefinitionChars);
          return stored.length === 0 ? [] : [[identity, { slug, tools: Object.fromEntries(stored) }]];
        }),
      ),
      used: this.#uses.stored,
    };
    writePinFile(this.#file, content);
    this.#content = content;
    this.#unsaved = [];
    this.#remembered.clear();
    this.#removed.clear();
    this.#readAt = pinFileVersion(this.#file);
  }
}

const sizeOf = (definition: PinnedDefinition): number => JSON.stringify(definition).length;

const nothingSeen: SeenServer = { slug: '', tools: new Map() };

function sameDefinitions(a: ReadonlyMap<string, PinnedDefinition>, b: ReadonlyMap<string, PinnedDefinition>): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, each]) => {
    const other = b.get(name);
    return other !== undefined && fingerprintOf(other) === fingerprintOf(each);
  });
}

/** The error message for a call of a withheld tool. */
function withheldMessage({ slug }: UpstreamConfig, { tool, kind }: PinChange): string {
  const accept = `"mooring gateway pins accept ${slug}/${tool}"`;
  if (kind === 'new')
    return `This tool is new and was not accepted yet. The operator of the gateway can accept it with ${accept}.`;
  return (
    'The definition of this tool has changed since it was accepted. The operator of the gateway can see the change with ' +
    `"mooring gateway pins diff" and accept it with ${accept}.`
  );
}
