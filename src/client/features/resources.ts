// Resources: listing, templates, reading.

import { isObject } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { JsonObject, ReadResult, Resource, ResourceTemplate } from '../../protocol/model.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import { ClientError, clientErrors } from '../errors.ts';
import { assertCallOptions } from '../known-call-options.ts';
import type { ReadOptions } from '../options.ts';
import { type FeatureContext, requireOffered } from './feature-context.ts';
import { ListReader } from './lists.ts';
import { requireArguments } from './method-arguments.ts';

/** The resources of one server. */
export class Resources {
  readonly #context: FeatureContext;
  readonly lists: ListReader<Resource>;
  readonly templates: ListReader<ResourceTemplate>;

  constructor(context: FeatureContext) {
    this.#context = context;
    this.lists = new ListReader<Resource>(context, {
      row: methods.listResources,
      key: 'resources',
      strings: ['uri', 'name'],
      readBy: ['listResources', 'pageResources'],
    });
    this.templates = new ListReader<ResourceTemplate>(context, {
      row: methods.listResourceTemplates,
      key: 'resourceTemplates',
      strings: ['uriTemplate', 'name'],
      readBy: ['listResourceTemplates', 'pageResourceTemplates'],
    });
  }

  async read(uri: string, options: ReadOptions = {}): Promise<ReadResult> {
    requireArguments('readResource', uri);
    assertCallOptions('readResource', options, 'read');
    const row = methods.readResource;
    requireOffered(this.#context, row);
    const { cache, caller } = this.#context;
    const { cache: use = 'use' } = options;
    if (use === 'use') {
      const known = cache?.get(row.name, uri);
      if (known !== undefined) return known as ReadResult;
    }
    const call = new OutgoingCall(
      row,
      `"uri":${JSON.stringify(uri)}`,
      (result) => {
        const read = toReadResult(result);
        // What depended on input responses is for this call only.
        if (use !== 'bypass' && call.rounds === 0) cache?.set(row.name, uri, read, result);
        return read;
      },
      options,
    );
    call.addressed = { name: uri };
    call.idempotent = true;
    return caller.start<ReadResult>(call).catch((error: unknown) => {
      throw isNotFound(error) ? clientErrors.resourceNotFound(uri, error.serverError) : error;
    });
  }
}

function toReadResult(result: JsonObject): ReadResult {
  if (Array.isArray(result['contents'])) return result as unknown as ReadResult;
  throw clientErrors.invalidResult(methods.readResource.name, '"contents" is not an array');
}

type ErrorReply = ClientError & { readonly serverError: { readonly code: number; readonly message: string } };

/** Older revisions have a separate code for it, the newest has the URI in the data of a general error. */
function isNotFound(error: unknown): error is ErrorReply {
  if (!(error instanceof ClientError) || error.code !== 'server-error') return false;
  const { code, data } = error.serverError ?? {};
  return code === -32002 || (code === -32602 && isObject(data) && typeof data['uri'] === 'string');
}
