// The page of the sandbox, on an origin of its own: shows the HTML of an app in a frame and passes messages between the app
// and the console. It has no access to the console, and the app has none beyond its messages. A script of its own: it shares
// nothing with the page of the console.

/** The origin of the console, by the server that knows it. */
const host = document.querySelector<HTMLMetaElement>('meta[name="host"]')?.content ?? '';

/** The frame around this one has no other permissions either: no popups, no downloads, no navigation of the console. */
const sandbox = 'allow-scripts allow-same-origin allow-forms';

const features: Readonly<Record<string, string>> = {
  camera: 'camera',
  microphone: 'microphone',
  geolocation: 'geolocation',
  clipboardWrite: 'clipboard-write',
};

interface ResourceReady {
  readonly html?: unknown;
  readonly permissions?: unknown;
}

let frame: HTMLIFrameElement | undefined;

const methodOf = (message: unknown): unknown => (message as { method?: unknown } | null)?.method;
const isForSandbox = (message: unknown): boolean => String(methodOf(message)).startsWith('ui/notifications/sandbox-');
const toHost = (message: unknown): void => parent.postMessage(message, host);

addEventListener('message', (event) => {
  if (event.source === parent && event.origin === host) {
    if (methodOf(event.data) === 'ui/notifications/sandbox-resource-ready') show(event.data.params);
    else if (!isForSandbox(event.data)) frame?.contentWindow?.postMessage(event.data, location.origin);
  } else if (frame !== undefined && event.source === frame.contentWindow) {
    if (!isForSandbox(event.data)) toHost(event.data);
  }
});

function show({ html, permissions }: ResourceReady): void {
  if (frame !== undefined || typeof html !== 'string') return;
  const asked = typeof permissions === 'object' && permissions !== null ? Object.keys(permissions) : [];
  frame = document.createElement('iframe');
  frame.title = 'App';
  frame.setAttribute('sandbox', sandbox);
  frame.allow = asked.flatMap((name) => features[name] ?? []).join('; ');
  document.body.append(frame);
  const view = frame.contentDocument as Document;
  view.open();
  // What the policy blocks, for the author of the app. Before the first script of the app runs.
  frame.contentWindow?.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
    const params = { directive: effectiveDirective, blocked: blockedURI.slice(0, 300) };
    toHost({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-policy-violation', params });
  });
  view.write(html);
  view.close();
}

toHost({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} });
