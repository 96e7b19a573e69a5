// MCP Apps (extension io.modelcontextprotocol/ui, SEP-1865, 2026-01-26): pages that a server offers for its tools, as
// resources. What server and host share: identifiers, the metadata of resources and tools, and how origins are checked.

import { isObject } from './json-rpc.ts';
import type { Capabilities } from './model.ts';

export const uiExtension = 'io.modelcontextprotocol/ui';

/** The MIME type of an app, the only one that the extension has so far. */
export const appMimeType = 'text/html;profile=mcp-app';

/** What a host declares in its capabilities. */
export const appHostCapabilities = { extensions: { [uiExtension]: { mimeTypes: [appMimeType] } } } as const;

/** Whether a client shows apps. */
export function showsApps({ extensions }: Capabilities): boolean {
  const settings = isObject(extensions) ? extensions[uiExtension] : undefined;
  const types = isObject(settings) ? settings['mimeTypes'] : undefined;
  return Array.isArray(types) && types.includes(appMimeType);
}

/** Origins that an app uses. Hosts block all others. */
export interface AppCsp {
  /** For fetch, XMLHttpRequest and WebSocket. Default: none. */
  readonly connectDomains?: readonly string[];
  /** For scripts, styles, images, fonts and media. Default: none. */
  readonly resourceDomains?: readonly string[];
  /** For frames within the app. Default: none. */
  readonly frameDomains?: readonly string[];
  /** For `<base>`. Default: only the origin of the app itself. */
  readonly baseUriDomains?: readonly string[];
}

/** What an app asks the browser for. Hosts may ignore it. */
export interface AppPermissions {
  /** `{}`: it wants the camera. */
  readonly camera?: object;
  /** `{}`: it wants the microphone. */
  readonly microphone?: object;
  /** `{}`: it wants the position of the user. */
  readonly geolocation?: object;
  /** `{}`: it wants to write to the clipboard. */
  readonly clipboardWrite?: object;
}

/** `_meta.ui` of a resource and of its contents. */
export interface AppMeta {
  readonly csp?: AppCsp;
  readonly permissions?: AppPermissions;
  /** An origin of its own for the app, in the form that the host documents. */
  readonly domain?: string;
  /** Whether the host draws a border. Default: the host decides. */
  readonly prefersBorder?: boolean;
}

/** Who may call a tool: the model, or the app that is shown. */
export type ToolAudience = 'model' | 'app';

/** The lists of origins in `AppCsp`. */
export const cspLists = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'] as const;

/**
 * Whether a text is an origin such as `https://api.example.com`, `wss://*.example.com` or `http://localhost:3000`: nothing
 * else may get into a Content Security Policy, where a semicolon or a space would begin another rule.
 */
export function isAppOrigin(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length <= 300 &&
    /^(https?|wss?):\/\/(\*\.)?([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$/i.test(text)
  );
}
