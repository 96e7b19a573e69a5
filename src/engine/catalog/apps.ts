// Apps: HTML pages of a server that hosts show beside the results of tools (MCP Apps). An app is a resource with metadata
// for its host; a tool names its app in `_meta`.

import { type AppCsp, type AppMeta, appMimeType, cspLists, isAppOrigin } from '../../protocol/apps.ts';
import type { Meta } from '../../protocol/model.ts';
import type { AppDefinition, ResourceDefinition, ToolUi } from '../definitions.ts';

/** Larger pages are rejected: stops a host from loading megabytes for each result. */
const maxHtmlBytes = 1024 * 1024;

/** The resource that an app is. Throws a TypeError that says what is wrong with it. */
export function appResource(uri: string, definition: AppDefinition): ResourceDefinition {
  const { html, csp, permissions, domain, prefersBorder, listed = false, name = uri, ...described } = definition ?? {};
  const where = `App ${JSON.stringify(uri)}`;
  if (!/^ui:\/\/./.test(uri)) throw new TypeError(`${where} needs a URI that begins with ui://`);
  if (typeof html !== 'string' && typeof html !== 'function') {
    throw new TypeError(`${where} needs "html": a document, or a function that returns one`);
  }
  checkCsp(where, csp);
  if (typeof html === 'string') checkHtml(where, html);
  const ui: AppMeta = {
    ...(csp === undefined ? {} : { csp }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(domain === undefined ? {} : { domain }),
    ...(prefersBorder === undefined ? {} : { prefersBorder }),
  };
  const meta = { ...described._meta, ui };
  const contents = (text: string) => ({ uri, mimeType: appMimeType, text: checkHtml(where, text), _meta: { ui } });
  return {
    ...described,
    name,
    mimeType: appMimeType,
    listed,
    ...(Object.keys(ui).length === 0 ? {} : { _meta: meta }),
    read: (ctx) => {
      const returned = typeof html === 'string' ? html : html(ctx);
      return typeof returned === 'string' ? contents(returned) : returned.then(contents);
    },
  };
}

function checkHtml(where: string, html: string): string {
  if (typeof html !== 'string' || html.trim() === '') throw new TypeError(`${where} needs an HTML document`);
  if (html.length > maxHtmlBytes || new TextEncoder().encode(html).length > maxHtmlBytes) {
    throw new TypeError(`${where} is larger than ${maxHtmlBytes} bytes; load data with tools, not with the page`);
  }
  return html;
}

function checkCsp(where: string, csp: AppCsp | undefined): void {
  for (const list of cspLists) {
    for (const origin of csp?.[list] ?? []) {
      if (isAppOrigin(origin)) continue;
      throw new TypeError(
        `${where}: ${JSON.stringify(origin)} in csp.${list} is not an origin such as "https://api.example.com"`,
      );
    }
  }
}

/** `_meta` of a tool with an app. Throws a TypeError unless the app exists. */
export function metaWithUi(
  where: string,
  ui: string | ToolUi,
  meta: Meta | undefined,
  exists: (uri: string) => boolean,
): Meta {
  const { resource, visibility } = typeof ui === 'string' ? { resource: ui, visibility: undefined } : ui;
  if (typeof resource !== 'string' || !resource.startsWith('ui://') || !exists(resource)) {
    throw new TypeError(`${where}: there is no app ${JSON.stringify(resource)}; register it first with server.app()`);
  }
  const isKnown = visibility?.every((each) => each === 'model' || each === 'app') ?? true;
  if (!isKnown || visibility?.length === 0) {
    throw new TypeError(`${where}: ui.visibility is a list of "model" and "app"`);
  }
  return { ...meta, ui: { resourceUri: resource, ...(visibility === undefined ? {} : { visibility }) } };
}
