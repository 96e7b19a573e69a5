// The description of an object: interfaces with methods, signals and properties, and the names of its children.

import { tokenize } from '../remote/markup.ts';

export interface InterfaceDescription {
  readonly name: string;
  /** As `Name(in) -> out`, with D-Bus type signatures. */
  readonly methods: readonly string[];
  readonly signals: readonly string[];
  readonly properties: readonly string[];
}

export interface ObjectDescription {
  readonly interfaces: readonly InterfaceDescription[];
  readonly children: readonly string[];
}

interface InterfaceDraft {
  readonly name: string;
  readonly methods: string[];
  readonly signals: string[];
  readonly properties: string[];
}

/** Parses the XML that `Introspect` returns. Unknown elements are skipped. */
export function parseIntrospection(xml: string): ObjectDescription {
  const interfaces: InterfaceDraft[] = [];
  const children: string[] = [];
  let depth = 0;
  let member: { readonly kind: 'method' | 'signal'; readonly name: string; in: string; out: string } | undefined;

  const finish = (): void => {
    const draft = interfaces.at(-1);
    if (member === undefined || draft === undefined) return;
    const { kind, name } = member;
    if (kind === 'method') draft.methods.push(`${name}(${member.in})${member.out === '' ? '' : ` -> ${member.out}`}`);
    else draft.signals.push(`${name}(${member.out})`);
    member = undefined;
  };

  for (const token of tokenize(xml, 'xml')) {
    if (token.kind === 'text') continue;
    if (token.kind === 'close') {
      if (token.name === 'node') depth--;
      if (token.name === 'method' || token.name === 'signal') finish();
      continue;
    }
    const { name, attributes, empty } = token;
    const label = attributes.get('name') ?? '';
    if (name === 'node') {
      if (depth === 1 && label !== '') children.push(label);
      if (!empty) depth++;
    } else if (depth !== 1) {
      // Objects may describe their children in full; those are queried separately.
    } else if (name === 'interface') interfaces.push({ name: label, methods: [], signals: [], properties: [] });
    else if (name === 'property') interfaces.at(-1)?.properties.push(label);
    else if (name === 'method' || name === 'signal') {
      member = { kind: name, name: label, in: '', out: '' };
      if (empty) finish();
    } else if (name === 'arg' && member !== undefined) {
      const direction = attributes.get('direction') ?? (member.kind === 'method' ? 'in' : 'out');
      member[direction === 'in' ? 'in' : 'out'] += attributes.get('type') ?? '';
    }
  }
  return { interfaces, children };
}
