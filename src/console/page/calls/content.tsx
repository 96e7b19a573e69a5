// The parts of a result by their kind. Text is always a text node; images are only `data:` of a known type and a limited size.

import type { JSX } from 'preact';
import type { JsonObject } from '../../api.ts';
import { Badge, CopyButton, Text } from '../components/basics.tsx';
import { JsonText, LongText } from '../components/json-view.tsx';
import { bytes } from '../format.ts';

/** Larger images are not decoded. */
const maxImageCharacters = 1_400_000;
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);
/** Bytes that the hexadecimal view shows. */
const shownBytes = 512;

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export function Content({ item }: { item: JsonObject }): JSX.Element {
  const type = text(item['type']) ?? 'unknown';
  return (
    <article class="content" aria-label={type}>
      <header>
        <Badge>{type}</Badge>
        {text(item['mimeType']) !== undefined && (
          <span class="muted">
            <Text text={item['mimeType'] as string} />
          </span>
        )}
      </header>
      <Body type={type} item={item} />
    </article>
  );
}

function Body({ type, item }: { type: string; item: JsonObject }): JSX.Element {
  switch (type) {
    case 'text':
      return <TextBody text={text(item['text']) ?? ''} />;
    case 'image':
    case 'audio':
      return <Blob data={text(item['data']) ?? ''} mimeType={text(item['mimeType'])} />;
    case 'resource_link':
      return (
        <dl class="facts">
          <dt>URI</dt>
          <dd>
            <code>
              <Text text={text(item['uri']) ?? ''} />
            </code>
          </dd>
          <dt>Name</dt>
          <dd>
            <Text text={text(item['title']) ?? text(item['name']) ?? ''} />
          </dd>
        </dl>
      );
    case 'resource':
      return <ResourceContent item={(item['resource'] ?? {}) as JsonObject} />;
    default:
      return <JsonText text={JSON.stringify(item)} />;
  }
}

/** What `resources/read` and embedded resources contain. */
export function ResourceContent({ item }: { item: JsonObject }): JSX.Element {
  const blob = text(item['blob']);
  return (
    <div class="resource-content">
      <p class="muted">
        <code>
          <Text text={text(item['uri']) ?? ''} />
        </code>{' '}
        <Text text={text(item['mimeType']) ?? ''} />
      </p>
      {blob === undefined ? (
        <TextBody text={text(item['text']) ?? ''} mimeType={text(item['mimeType'])} />
      ) : (
        <Blob data={blob} mimeType={text(item['mimeType'])} />
      )}
    </div>
  );
}

function TextBody({ text: body, mimeType = '' }: { text: string; mimeType?: string }): JSX.Element {
  const isJson = /[/+]json/.test(mimeType) || /^\s*[[{]/.test(body);
  return (
    <div class="text-body">
      {isJson ? <JsonText text={body} /> : <LongText text={body} />}
      <CopyButton text={body} />
    </div>
  );
}

function Blob({ data, mimeType }: { data: string; mimeType: string | undefined }): JSX.Element {
  const isImage =
    imageTypes.has(mimeType ?? '') && data.length <= maxImageCharacters && /^[A-Za-z0-9+/=\s]*$/.test(data);
  if (isImage) return <img class="image" alt="What the server returned" src={`data:${mimeType};base64,${data}`} />;
  let binary: string;
  try {
    binary = atob(data);
  } catch {
    return <LongText text={`Not base64: ${data.slice(0, 200)}`} />;
  }
  return (
    <div>
      <p class="muted">{bytes(binary.length)}</p>
      <pre class="text">{hexadecimal(binary.slice(0, shownBytes))}</pre>
      {binary.length > shownBytes && <p class="muted">The first {shownBytes} bytes are shown.</p>}
      <CopyButton label="Copy as base64" text={data} />
    </div>
  );
}

function hexadecimal(binary: string): string {
  const lines: string[] = [];
  for (let at = 0; at < binary.length; at += 16) {
    const part = [...binary.slice(at, at + 16)];
    const codes = part.map((each) => each.charCodeAt(0).toString(16).padStart(2, '0')).join(' ');
    const shown = part.map((each) => (each >= ' ' && each <= '~' ? each : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${codes.padEnd(47)}  ${shown}`);
  }
  return lines.join('\n');
}
