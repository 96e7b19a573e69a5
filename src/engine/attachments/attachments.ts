// What handlers attach to their results: stored encrypted for a while, and sent as a link that the caller reads like any
// other resource.

import { toBase64 } from '../../common/base64url.ts';
import { assertKnownOptions } from '../../common/known-options.ts';
import { UserError } from '../../common/user-error.ts';
import { maxTimerMs } from '../../common/wait.ts';
import { CallerBudget, callerKey } from '../../protocol/callers/caller-budget.ts';
import type { ResourceContents, ResourceLink } from '../../protocol/model.ts';
import type { AttachmentOptions } from '../context.ts';
import type { Call, CallServer } from '../contract.ts';
import { ownerOf } from '../tasks/clients/declared-tasks.ts';
import { attachmentTemplate } from './template.ts';

const purpose = 'attachment';
const idBytes = 16;
const maxNameLength = 255;

/** What the callers of a server have attached and has not expired. */
const budgets = new WeakMap<CallServer, CallerBudget>();

const known: Record<keyof AttachmentOptions, true> = {
  name: true,
  mimeType: true,
  title: true,
  description: true,
  annotations: true,
};

export async function attach(
  call: Call,
  content: string | Uint8Array,
  options: AttachmentOptions,
): Promise<ResourceLink> {
  assertKnownOptions('ctx.attach', options, known);
  const { name, mimeType, ...described } = options;
  const { catalog, server, peer } = call;
  if (!catalog.resourceTemplates.has(attachmentTemplate)) {
    throw new TypeError('ctx.attach needs createServer({ …, attachments: true })');
  }
  const isText = typeof content === 'string';
  if (!isText && !(content instanceof Uint8Array)) {
    throw new TypeError('ctx.attach(content, { name }): the content must be a string or a Uint8Array');
  }
  const size = isText ? new TextEncoder().encode(content).length : content.length;
  const { maxAttachmentBytes, attachmentTtlMs } = server.limits;
  if (size > maxAttachmentBytes) {
    throw new UserError(`The attachment has ${size} bytes, and at most ${maxAttachmentBytes} can be attached`);
  }
  const type = mimeType ?? (isText ? 'text/plain' : 'application/octet-stream');
  const id = newId();
  const uri = `attachment://${id}/${encodedName(name)}`;
  const contents = { mimeType: type, ...(isText ? { text: content } : { blob: toBase64(content) }) };
  const sealed = await server.sealer.seal(purpose, contents, contextOf(call, id));
  const caller = callerKey(peer);
  const release = charge(server, caller, sealed.length);
  try {
    await server.store.set(keyOf(id), sealed, attachmentTtlMs, `attachments of ${caller}`);
  } catch (error) {
    release();
    throw error;
  }
  const timer = setTimeout(release, Math.min(attachmentTtlMs, maxTimerMs));
  (timer as { unref?: () => void }).unref?.();
  return { type: 'resource_link', uri, name, mimeType: type, size, ...described };
}

/** Undefined: there is none, it has expired, or it belongs to another caller. */
export async function readAttachment(call: Call, uri: string, id: string): Promise<ResourceContents | undefined> {
  const { store, sealer } = call.server;
  const sealed = await store.get(keyOf(id));
  const opened = typeof sealed === 'string' ? await sealer.open(purpose, sealed, contextOf(call, id)) : undefined;
  return opened === undefined ? undefined : { uri, ...(opened as object) };
}

const keyOf = (id: string): string => `attachment ${id}`;

/** Part of the encryption: another caller cannot open it. Without a principal, the URI is the only credential. */
const contextOf = ({ peer }: Call, id: string): string => `${id} ${ownerOf(peer)}`;

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(idBytes));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function encodedName(name: unknown): string {
  const expected = 'ctx.attach(content, { name }): the name must be a string, such as "report.csv"';
  if (typeof name !== 'string' || name === '') throw new TypeError(expected);
  if (name.length > maxNameLength) {
    throw new TypeError(`ctx.attach: the name has ${name.length} characters, more than ${maxNameLength}`);
  }
  try {
    return encodeURIComponent(name);
  } catch {
    throw new TypeError('ctx.attach: the name has half of a surrogate pair');
  }
}

/** Counts what is stored for a caller. Returns a function that takes it back. */
function charge(server: CallServer, caller: string, amount: number): () => void {
  const { maxAttachedBytes, maxAttachedBytesPerCaller } = server.limits;
  let budget = budgets.get(server);
  if (budget === undefined) {
    budget = new CallerBudget(maxAttachedBytes, maxAttachedBytesPerCaller);
    budgets.set(server, budget);
  }
  const isTooMuch =
    budget.heldBy(caller) + amount > maxAttachedBytesPerCaller || budget.held + amount > maxAttachedBytes;
  if (isTooMuch) {
    throw new UserError('Too much is attached at the moment: try again when earlier attachments have expired');
  }
  budget.charge(caller, amount);
  return () => budget.release(caller, amount);
}
