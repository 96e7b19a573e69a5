// Makes what handlers attach readable: a template that is in no list, since its URIs only come with results.

import { callOf } from '../calls/call-context.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { templateEntry } from '../catalog/new-entries.ts';
import { attachmentTemplate } from './template.ts';

export function offerAttachments(catalog: Catalog): void {
  if (catalog.resourceTemplates.has(attachmentTemplate)) return;
  const entry = templateEntry(attachmentTemplate, {
    name: 'attachment',
    async read(variables, ctx, uri) {
      const { readAttachment } = await import('./attachments.ts');
      return readAttachment(callOf(ctx), uri, (variables as { readonly id: string }).id);
    },
  });
  catalog.add('resourceTemplates', { ...entry, listed: false });
}
